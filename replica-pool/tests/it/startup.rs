//! Before the first answer of the gateway.

use replica_pool::{CallError, Gateway, GatewayError, ReplicaPool};
use tokio::time::sleep;

use crate::kit::{Addr, Answer, Bench, Registry, judge, secs, stopwatch};

fn starting(answer: Answer) -> Bench {
    let gateway = Registry::default();
    gateway.answer(answer);
    Bench::build(gateway, r#"{ "replicaPool": { "order": "listed" } }"#, |builder| builder)
}

#[tokio::test(start_paused = true)]
async fn calls_wait_for_the_first_answer() {
    let bench = starting(Answer::Names(vec!["A"]));
    bench.gateway.takes(secs(3));
    assert_eq!(bench.pool.replicas().version(), 0);
    assert!(bench.pool.select(1).is_empty(), "look-ups do not wait");
    let elapsed = stopwatch();
    let answers = futures::future::join_all((0..100).map(|_| bench.call())).await;
    assert!(answers.into_iter().all(|answer| answer.unwrap() == "A"));
    assert_eq!((elapsed().as_secs(), bench.gateway.asked()), (3, 1));
    assert_eq!(bench.pool.replicas().version(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_first_answer_that_fails_ends_the_calls_that_waited_and_later_ones_ask_again() {
    let bench = starting(Answer::Fails);
    for asked in 1..=3 {
        let failed = bench.call().await.unwrap_err();
        assert!(
            matches!(failed, CallError::NoReplicas { source: Some(GatewayError::Failed(_)), .. }),
            "{failed:?}"
        );
        assert_eq!(bench.gateway.asked(), asked);
    }
    let gaps = bench.gateway.gaps(2);
    assert!((0.8..=1.21).contains(&gaps[0]) && (1.6..=2.41).contains(&gaps[1]), "{gaps:?}");
    bench.gateway.names(&["A"]);
    assert_eq!(bench.call().await.unwrap(), "A");
}

#[tokio::test(start_paused = true)]
async fn every_way_of_giving_no_address_is_told() {
    for (answer, says) in [
        (Answer::Names(vec![]), "the gateway answered with an empty set of addresses"),
        (Answer::NoSuchPartition, "the gateway knows no such partition"),
        (Answer::Panics, "the gateway panicked"),
        (Answer::Hangs, "the gateway did not answer within 30 s"),
    ] {
        let bench = starting(answer.clone());
        assert_eq!(bench.pool.ready().await.unwrap_err().to_string(), says);
        let request = bench.pool.request().deadline(secs(60)).judge(judge);
        let failed = request.call(bench.body()).await.unwrap_err();
        let CallError::NoReplicas { source: Some(source), .. } = failed else { panic!("{failed:?}") };
        assert_eq!(source.to_string(), says, "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_wait_no_longer_than_their_deadline() {
    let bench = starting(Answer::Hangs);
    let elapsed = stopwatch();
    let request = bench.pool.request().deadline(secs(4)).judge(judge);
    let failed = request.call(bench.body()).await.unwrap_err();
    assert!(matches!(failed, CallError::DeadlineExceeded { attempts: 0, source: None, .. }), "{failed:?}");
    assert_eq!(elapsed().as_secs(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_gateway_that_hangs_is_given_up_after_30_seconds_and_asked_again() {
    let bench = starting(Answer::Hangs);
    let elapsed = stopwatch();
    assert!(matches!(bench.pool.ready().await, Err(GatewayError::TimedOut)));
    assert_eq!(elapsed().as_secs(), 30);
    bench.gateway.names(&["A"]);
    bench.pool.ready().await.unwrap();
    assert_eq!((bench.gateway.asked(), bench.addresses()), (2, vec!["A"]));
}

#[tokio::test(start_paused = true)]
async fn a_pool_recovers_by_itself_where_there_is_a_refresh_interval() {
    let gateway = Registry::default();
    gateway.answer(Answer::Fails);
    let bench =
        Bench::build(gateway, r#"{ "replicaPool": { "refreshInterval": "PT10S" } }"#, |builder| builder);
    sleep(secs(5)).await;
    bench.gateway.names(&["A"]);
    sleep(secs(6)).await;
    assert_eq!(bench.addresses(), ["A"]);
}

/// An address that can't be looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unspeakable;

impl std::hash::Hash for Unspeakable {
    fn hash<S: std::hash::Hasher>(&self, _: &mut S) {
        panic!("unspeakable")
    }
}

impl std::fmt::Display for Unspeakable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("unspeakable")
    }
}

struct NamesIt;

#[async_trait::async_trait]
impl Gateway<Unspeakable> for NamesIt {
    async fn addresses(&self, (): &()) -> Result<Vec<Unspeakable>, GatewayError> {
        Ok(vec![Unspeakable])
    }
}

#[tokio::test(start_paused = true)]
async fn code_that_panics_while_an_answer_is_put_in_place_holds_nobody_up() {
    let pool: ReplicaPool<Unspeakable> = ReplicaPool::builder(NamesIt).build().unwrap();
    for _ in 0..2 {
        tokio::time::timeout(secs(60), pool.ready()).await.expect("the question has ended").unwrap_err();
    }
}

#[test]
fn a_pool_whose_runtime_has_ended_says_so_instead_of_waiting() {
    let runtime =
        || tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let first = runtime();
    let bench = first.block_on(async { starting(Answer::Hangs) });
    drop(first);
    runtime().block_on(async {
        let ready = tokio::time::timeout(secs(60), bench.pool.ready()).await.expect("it does not wait");
        ready.unwrap_err();
        let failed = bench.call().await.unwrap_err();
        assert!(matches!(failed, CallError::NoReplicas { source: Some(_), .. }), "{failed:?}");
    });
    let _: Vec<Addr> = bench.addresses();
}

/// The first look at an empty set is no reason for the second to be another.
#[tokio::test(start_paused = true)]
async fn nobody_is_picked_from_an_empty_set_however_often() {
    let bench = starting(Answer::Names(vec!["A"]));
    bench.gateway.takes(secs(3));
    for order in ["listed", "shuffled"] {
        let gateway = Registry::default();
        gateway.answer(Answer::Hangs);
        let settings = format!(r#"{{ "replicaPool": {{ "order": "{order}" }} }}"#);
        let bench = Bench::build(gateway, &settings, |builder| builder);
        for _ in 0..3 {
            assert!(bench.pool.acquire().is_err(), "{order}");
            assert!(bench.pool.select(2).is_empty(), "{order}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_is_ready_asks_nobody() {
    let bench = starting(Answer::Names(vec!["A"]));
    for _ in 0..3 {
        bench.pool.ready().await.unwrap();
    }
    assert_eq!(bench.gateway.asked(), 1);
}
