//! Pools whose circuits are opened by probes: `CANARY_RATE_THRESHOLD` behind a worker.

use breaker_core::Circuit;
use replica_pool::{CallError, config::Config};
use tokio::time::sleep;

use crate::kit::{Addr, Bench, Registry, Remote, judge, millis, secs, settle, stopwatch};

fn canary(circuit: &str, pool: &str) -> String {
    let order = if pool.contains("order") { "" } else { r#""order": "listed""# };
    format!(
        r#"{{ "circuitBreaker": {{ "strategy": "CANARY_RATE_THRESHOLD" {circuit} }},
        "replicaPool": {{ {order} {pool} }} }}"#
    )
}

/// A pool whose remotes are as given from the start.
async fn starting(remotes: &[(Addr, Remote)], circuit: &str, pool: &str) -> Bench {
    let names: Vec<_> = remotes.iter().map(|(name, _)| *name).collect();
    let bench = Bench::build(Registry::naming(&names), &canary(circuit, pool), |builder| builder);
    for (name, remote) in remotes {
        bench.world.set(name, *remote);
    }
    bench
}

/// Has the half-open circuit of `address` fail its ten calls.
fn fail_the_trial(bench: &Bench, address: Addr) {
    for _ in 0..10 {
        bench.fail(address);
    }
    assert_eq!(bench.circuit(address), Circuit::Open);
}

#[tokio::test(start_paused = true)]
async fn the_first_call_is_served_although_all_circuits_start_open() {
    let bench = starting(&[("A", Remote::Well), ("B", Remote::Well)], "", "").await;
    let elapsed = stopwatch();
    assert!(["A", "B"].contains(&bench.call().await.unwrap()));
    assert_eq!(elapsed(), secs(0), "the worker knocks at once");
    settle().await;
    assert_eq!([bench.circuit("A"), bench.circuit("B")], [Circuit::HalfOpen; 2]);
}

#[tokio::test(start_paused = true)]
async fn the_first_call_waits_for_whoever_answers_and_not_for_those_who_do_not() {
    let bench = starting(&[("A", Remote::Hangs), ("B", Remote::Slow(millis(300)))], "", "").await;
    let elapsed = stopwatch();
    bench.pool.ready().await.unwrap();
    let calls = futures::future::join_all((0..10).map(|_| bench.call())).await;
    // B's own answer takes as long again.
    assert!(calls.into_iter().all(|answer| answer.unwrap() == "B"));
    assert_eq!(elapsed().as_millis() / 10, 60);
    assert_eq!(bench.world.visits_to("A"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_fails_at_once_when_all_first_rounds_have_failed() {
    let bench = starting(&[("A", Remote::Refuses), ("B", Remote::Fails)], "", "").await;
    let elapsed = stopwatch();
    let failed = bench.call().await.unwrap_err();
    assert_eq!(
        failed.to_string(),
        "no circuit admits a call until a probe finds a replica healthy: A: the circuit is open, \
         B: the circuit is open"
    );
    let CallError::AllOpen(all_open) = failed else { panic!("{failed:?}") };
    assert_eq!((all_open.retry_at, all_open.retry_after), (None, None));
    assert_eq!(elapsed(), secs(0));
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_first_rounds_no_longer_than_it_is_told_to() {
    // The setting, and how long a call waits for probes that hang: three of them, a second each.
    for (wait, waited) in [("PT0S", 0), ("PT1S", 1_000), ("PT2.5S", 2_500), ("PT1H", 3_000)] {
        let wait = format!(r#", "startupWait": "{wait}" "#);
        let bench = starting(&[("A", Remote::Hangs)], "", &wait).await;
        bench.pool.ready().await.unwrap();
        let elapsed = stopwatch();
        assert!(matches!(bench.call().await, Err(CallError::AllOpen(_))));
        let millis = elapsed().as_millis();
        assert!((waited..=waited + 5).contains(&millis), "{wait}: {millis}");
        let elapsed = stopwatch();
        if waited == 3_000 {
            assert!(matches!(bench.call().await, Err(CallError::AllOpen(_))));
            assert_eq!(elapsed(), secs(0), "the first rounds are over");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_bounds_the_wait_for_first_rounds_as_well() {
    let bench = starting(&[("A", Remote::Hangs)], "", "").await;
    bench.pool.ready().await.unwrap();
    let elapsed = stopwatch();
    let request = bench.pool.request().deadline(millis(200)).judge(judge);
    assert!(request.call(bench.body()).await.is_err());
    assert!((200..=202).contains(&elapsed().as_millis()), "{:?}", elapsed());
}

#[tokio::test(start_paused = true)]
async fn calls_wait_for_the_first_rounds_of_a_set_that_a_refresh_brought() {
    let bench = starting(&[("A", Remote::Refuses)], "", "").await;
    bench.call().await.unwrap_err();
    bench.world.set("B", Remote::Slow(millis(400)));
    bench.gateway.names(&["B"]);
    sleep(secs(3)).await;
    bench.gateway.names(&["C"]);
    bench.world.set("C", Remote::Slow(millis(400)));
    bench.pool.refresh().await.unwrap();
    let elapsed = stopwatch();
    assert_eq!(bench.call().await.unwrap(), "C");
    assert_eq!(elapsed().as_millis() / 10, 80, "400 ms for the probe, 400 ms for the call");
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_opens_later_is_no_reason_to_wait() {
    let bench = starting(&[("A", Remote::Well)], "", "").await;
    bench.call().await.unwrap();
    bench.world.set("A", Remote::Hangs);
    fail_the_trial_after_a_success(&bench, "A");
    bench.gateway.hold();
    let elapsed = stopwatch();
    assert!(matches!(bench.call().await, Err(CallError::AllOpen(_))));
    assert_eq!(elapsed(), secs(0));
}

/// Nine of ten are enough.
fn fail_the_trial_after_a_success(bench: &Bench, address: Addr) {
    for _ in 0..9 {
        bench.fail(address);
    }
    assert_eq!(bench.circuit(address), Circuit::Open);
}

#[tokio::test(start_paused = true)]
async fn an_open_circuit_may_be_tried_at_the_start_where_the_settings_say_so() {
    let settings = r#", "startupWait": "PT0S", "whenAllOpen": "tryLeastBad" "#;
    let bench = starting(&[("A", Remote::Slow(millis(10)))], "", settings).await;
    bench.pool.ready().await.unwrap();
    assert_eq!(bench.circuit("A"), Circuit::Open);
    assert_eq!(bench.call().await.unwrap(), "A");
}

#[tokio::test(start_paused = true)]
async fn a_pool_of_one_that_was_dead_from_the_start_comes_back() {
    let bench = starting(&[("A", Remote::Refuses)], "", "").await;
    for _ in 0..60 {
        assert!(bench.call().await.is_err());
        sleep(secs(1)).await;
    }
    bench.world.set("A", Remote::Well);
    sleep(millis(1_210)).await;
    assert_eq!(bench.circuit("A"), Circuit::HalfOpen, "an interval and its jitter later");
    assert_eq!(bench.calls(10).await, ["A"; 10]);
    assert_eq!(bench.circuit("A"), Circuit::Closed);
}

#[tokio::test(start_paused = true)]
async fn thirteen_replicas_come_back_within_an_interval_and_calls_close_them_all() {
    fastrand::seed(3);
    let names = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13"];
    let remotes = names.map(|name| (name, Remote::Refuses));
    let bench = starting(&remotes, "", r#""order": "shuffled""#).await;
    sleep(secs(600)).await;
    for name in names {
        bench.world.set(name, Remote::Well);
    }
    sleep(millis(1_210)).await;
    assert!(names.iter().all(|name| bench.circuit(name) == Circuit::HalfOpen));
    assert!(bench.world.visits().is_empty(), "no call was needed for that");
    // Ten trials each; one call in ten is one, as soon as somebody is closed.
    bench.calls(2_000).await;
    assert!(names.iter().all(|name| bench.circuit(name) == Circuit::Closed));
}

#[tokio::test(start_paused = true)]
async fn no_call_goes_to_a_replica_that_only_probes_may_find_well() {
    let circuit = r#", "canaryAttempts": 1 "#;
    let bench = starting(&[("A", Remote::Well), ("B", Remote::Well)], circuit, "").await;
    bench.pool.ready().await.unwrap();
    settle().await;
    bench.world.set("A", Remote::Refuses);
    fail_the_trial(&bench, "A");
    let (probes, hour) = (bench.world.probes_of("A"), 3_600);
    for _ in 0..hour / 60 {
        assert_eq!(bench.call().await.unwrap(), "B");
        sleep(secs(60)).await;
    }
    assert_eq!(bench.world.visits_to("A"), 0);
    let probes = bench.world.probes_of("A") - probes;
    assert!((3_400..=3_800).contains(&probes), "one each second, give or take: {probes}");
    bench.world.set("A", Remote::Well);
    sleep(millis(1_210)).await;
    assert_eq!(bench.circuit("A"), Circuit::HalfOpen);
    assert_eq!(bench.call().await.unwrap(), "A");
}

#[tokio::test(start_paused = true)]
async fn a_remote_that_refuses_at_once_is_not_hammered() {
    let circuit = r#", "canaryInterval": "PT0.5S", "canaryAttempts": 1 "#;
    let bench = starting(&[("A", Remote::Refuses)], circuit, "").await;
    bench.pool.ready().await.unwrap();
    sleep(secs(1)).await;
    assert!((2..=3).contains(&bench.world.probes_of("A")), "{}", bench.world.probes_of("A"));
}

#[test]
fn an_interval_of_nothing_is_no_setting() {
    let settings = canary(r#", "canaryInterval": "PT0S" "#, "");
    assert!(Config::from_text("test.json", &settings).unwrap_err().to_string().contains("canaryInterval"));
}

#[tokio::test(start_paused = true)]
async fn two_hundred_open_replicas_are_probed_64_at_a_time() {
    let names: Vec<Addr> = (0..200).map(|i| &*Box::leak(format!("R{i}").into_boxed_str())).collect();
    let remotes: Vec<_> = names.iter().map(|name| (*name, Remote::Slow(millis(500)))).collect();
    let bench = starting(&remotes, "", "").await;
    bench.pool.ready().await.unwrap();
    sleep(secs(4)).await;
    assert_eq!(bench.world.most_probing(), 64);
    assert!(names.iter().all(|name| bench.circuit(name) == Circuit::HalfOpen));
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_left_is_probed_no_more_and_one_that_returns_is() {
    let circuit = r#", "canaryAttempts": 1 "#;
    let bench = starting(&[("A", Remote::Refuses), ("B", Remote::Refuses)], circuit, "").await;
    bench.pool.ready().await.unwrap();
    sleep(secs(10)).await;
    bench.gateway.names(&["B"]);
    bench.pool.refresh().await.unwrap();
    let (left, stayed) = (bench.world.probes_of("A"), bench.world.probes_of("B"));
    sleep(secs(10)).await;
    assert_eq!(bench.world.probes_of("A"), left);
    assert!(bench.world.probes_of("B") >= stayed + 8);
    bench.gateway.names(&["A", "B"]);
    bench.pool.refresh().await.unwrap();
    sleep(secs(10)).await;
    assert!(bench.world.probes_of("A") >= left + 8);
}

#[tokio::test(start_paused = true)]
async fn circuits_that_are_not_open_are_not_probed() {
    let bench = starting(&[("A", Remote::Well)], r#", "initialState": "closed" "#, "").await;
    bench.call().await.unwrap();
    sleep(secs(60)).await;
    assert_eq!(bench.world.probes_of("A"), 0);
}

#[tokio::test(start_paused = true)]
async fn an_answer_resets_a_tripped_circuit_to_open_with_a_probe_at_once() {
    let bench = starting(&[("A", Remote::Well)], "", "").await;
    bench.call().await.unwrap();
    fail_the_trial_after_a_success(&bench, "A");
    let probes = bench.world.probes_of("A");
    sleep(millis(100)).await;
    assert_eq!(bench.world.probes_of("A"), probes, "one that was tripped is probed after an interval");
    bench.pool.refresh().await.unwrap();
    settle().await;
    sleep(millis(5)).await;
    assert_eq!((bench.world.probes_of("A"), bench.circuit("A")), (probes + 1, Circuit::HalfOpen));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_panics_is_a_failed_one() {
    let bench = starting(&[("A", Remote::Panics), ("B", Remote::Well)], "", "").await;
    assert_eq!(bench.call().await.unwrap(), "B");
    sleep(secs(5)).await;
    assert_eq!(bench.circuit("A"), Circuit::Open);
    bench.world.set("A", Remote::Well);
    sleep(millis(1_210)).await;
    assert_eq!(bench.circuit("A"), Circuit::HalfOpen);
}
