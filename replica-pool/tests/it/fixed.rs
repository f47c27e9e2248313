//! Section 8 of the rules: a fixed list has nothing to ask.

use std::sync::Arc;

use async_trait::async_trait;
use breaker_core::Circuit;
use replica_pool::{
    CallError, Diagnostics, FixedList, Gateway, GatewayError, HealthStatus, ReplicaPool, config::Config,
};
use tokio::time::advance;

use crate::kit::{Addr, Bench, Registry, Remote, Transport, World, judge, secs, settle};

/// A list that must not be asked.
struct Mute(FixedList<Addr>);

#[async_trait]
impl Gateway<Addr> for Mute {
    async fn addresses(&self, (): &()) -> Result<Vec<Addr>, GatewayError> {
        panic!("asked")
    }

    fn fixed(&self, partition: &()) -> Option<Vec<Addr>> {
        self.0.fixed(partition)
    }
}

fn fixed(addresses: &[Addr], keys: &str) -> Bench {
    let settings = format!(
        r#"{{ "circuitBreaker": {{ "failureThreshold": 3, "successThreshold": 1 }},
        "replicaPool": {{ "order": "listed", "targetReplicas": 9, "refreshInterval": "PT1S" {keys} }} }}"#
    );
    let world = Arc::new(World::default());
    let transport = Transport(Arc::clone(&world));
    let pool = ReplicaPool::builder(Mute(FixedList::new(addresses.to_vec())))
        .config(Config::from_text("test.json", &settings).unwrap())
        .connector(transport)
        .build()
        .unwrap();
    Bench { world, gateway: Registry::default(), pool }
}

#[tokio::test(start_paused = true)]
async fn a_fixed_list_is_there_at_once_and_never_asked_for() {
    let bench = fixed(&["A", "B", "A"], "");
    assert_eq!(bench.addresses(), ["A", "B"]);
    bench.pool.ready().await.unwrap();
    bench.pool.refresh().await.unwrap();
    let mut seen = Diagnostics::default();
    bench.world.set("A", Remote::Refuses);
    bench.world.set("B", Remote::SaysGone);
    let request = bench.pool.request().idempotent(true).judge(judge).diagnostics(&mut seen);
    request.call(bench.body()).await.unwrap_err();
    assert_eq!(seen.refreshes, []);
    advance(secs(3_600)).await;
    bench.order();
    settle().await;
    assert_eq!(bench.pool.snapshot().background_tasks, 0, "neither a question nor a timer");
}

#[tokio::test(start_paused = true)]
async fn one_stray_time_out_does_not_ban_the_first_server() {
    let bench = fixed(&["A", "B"], "");
    for remote in [Remote::Hangs, Remote::Refuses] {
        bench.world.set("A", remote);
        assert_eq!(bench.call().await.unwrap(), "B");
        assert_eq!(bench.health("A"), HealthStatus::Unknown);
        assert_eq!(bench.order(), ["A", "B"]);
    }
    bench.world.set("A", Remote::Well);
    assert_eq!(bench.call().await.unwrap(), "A");
    assert_eq!(bench.health("A"), HealthStatus::Unknown, "nor is there anything good to know");
}

#[tokio::test(start_paused = true)]
async fn the_circuits_alone_order_a_fixed_list() {
    let bench = fixed(&["A", "B"], "");
    bench.world.set("A", Remote::Refuses);
    assert_eq!(bench.calls(5).await, ["B"; 5]);
    assert_eq!(bench.world.visits_to("A"), 3, "until its circuit opened");
    assert_eq!((bench.circuit("A"), bench.order()), (Circuit::Open, vec!["B", "A"]));
    bench.world.set("A", Remote::Well);
    advance(secs(20)).await;
    assert_eq!(bench.call().await.unwrap(), "A", "half-open, in its place");
}

#[tokio::test(start_paused = true)]
async fn a_call_makes_one_pass_over_a_fixed_list() {
    let bench = fixed(&["A", "B"], "");
    bench.world.set("A", Remote::Fails);
    bench.world.set("B", Remote::Fails);
    let failed = bench.call().await.unwrap_err();
    assert!(matches!(failed, CallError::Exhausted { attempts: 2, .. }), "{failed:?}");
}

#[tokio::test(start_paused = true)]
async fn an_empty_fixed_list_has_no_replicas() {
    let bench = fixed(&[], "");
    bench.pool.ready().await.unwrap();
    let failed = bench.call().await.unwrap_err();
    assert!(matches!(failed, CallError::NoReplicas { source: None, .. }), "{failed:?}");
    assert_eq!(failed.to_string(), "there are no replicas to call");
    assert!(bench.pool.select(9).is_empty());
}

#[tokio::test(start_paused = true)]
async fn warming_up_a_fixed_list_opens_it_once_and_marks_nobody() {
    let bench = fixed(&["A", "B"], "");
    bench.world.set("B", Remote::Refuses);
    assert_eq!(bench.pool.warm_up().await, 1);
    assert_eq!([bench.health("A"), bench.health("B")], [HealthStatus::Unknown; 2]);
    assert_eq!([bench.replica("A").handle().is_some(), bench.replica("B").handle().is_some()], [true, false]);
    assert_eq!(bench.pool.warm_up().await, 0);
    assert_eq!(bench.world.opened(), ["A", "B", "B"], "A has its connection");
}

#[tokio::test(start_paused = true)]
async fn the_least_bad_of_a_fixed_list_is_tried_too() {
    let bench = fixed(&["A"], r#", "whenAllOpen": "tryLeastBad" "#);
    for _ in 0..3 {
        bench.fail("A");
    }
    assert_eq!(bench.circuit("A"), Circuit::Open);
    assert_eq!(bench.call().await.unwrap(), "A");
    assert_eq!(bench.health("A"), HealthStatus::Unknown);
}

/// Nobody asks it, but who does is told.
#[tokio::test]
async fn a_fixed_list_says_what_it_holds() {
    let list = FixedList::new(["A", "B"]);
    let asked = Gateway::<Addr>::addresses(&list, &()).await.unwrap();
    assert_eq!((asked, Gateway::<Addr>::fixed(&list, &())), (vec!["A", "B"], Some(vec!["A", "B"])));
}
