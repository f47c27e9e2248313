//! Pools come and go, and leave nothing behind.

use std::sync::Arc;

use replica_pool::{BuildError, FixedList, ReplicaPool, config::Config};
use tokio::{
    runtime::Handle,
    time::{advance, sleep},
};

use crate::kit::{Addr, Answer, Bench, Registry, Remote, Transport, World, millis, secs, settle};

const CANARY: &str = r#"{ "circuitBreaker": { "strategy": "CANARY_RATE_THRESHOLD" } }"#;
const BUSY: &str = r#"{ "replicaPool": { "validation": { "enabled": true }, "refreshInterval": "PT5S" } }"#;

fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// Drops a pool in a state that `until` brings it into, with at least one task at work.
async fn drop_while(settings: &str, until: impl AsyncFnOnce(&Bench)) {
    let bench = Bench::new(&["A", "B"], settings).await;
    until(&bench).await;
    settle().await;
    assert!(tasks() > 0, "something was at work");
    drop(bench);
    settle().await;
    assert_eq!(tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_pool_dropped_while_a_question_hangs_leaves_no_task() {
    drop_while("{}", async |bench| {
        bench.gateway.answer(Answer::Hangs);
        bench.mark("A");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_pool_dropped_while_a_question_waits_for_its_time_leaves_no_task() {
    drop_while("{}", async |bench| {
        bench.pool.refresh().await.unwrap();
        bench.mark("A");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_pool_dropped_while_it_validates_leaves_no_task() {
    drop_while(BUSY, async |bench| {
        bench.world.set("A", Remote::Hangs);
        bench.mark("A");
        sleep(millis(10)).await;
        assert_eq!(bench.world.opened(), ["A"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_pool_dropped_while_it_probes_leaves_no_task() {
    drop_while(CANARY, async |bench| {
        bench.world.set("A", Remote::Hangs);
        bench.world.set("B", Remote::Refuses);
        sleep(millis(300)).await;
        assert!(bench.world.probes_of("A") > 0);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_pool_dropped_at_once_or_in_its_sleep_leaves_no_task() {
    for settings in ["{}", BUSY, CANARY] {
        drop(Bench::build(Registry::naming(&["A"]), settings, |builder| builder));
        settle().await;
        assert_eq!(tasks(), 0);
        let bench = Bench::new(&["A", "B"], settings).await;
        sleep(secs(3)).await;
        drop(bench);
        settle().await;
        assert_eq!(tasks(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pool_whose_circuits_are_closed_and_whose_list_is_fixed_does_nothing_at_all() {
    let pool: ReplicaPool<Addr> =
        ReplicaPool::builder(FixedList::new(["A", "B"])).probe(Transport(Arc::default())).build().unwrap();
    sleep(secs(60)).await;
    assert_eq!(pool.snapshot().background_tasks, 0);
    drop(pool);
    settle().await;
    assert_eq!(tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_last_handle_ends_the_work_and_no_other() {
    let bench = Bench::new(&["A"], r#"{ "replicaPool": { "refreshInterval": "PT5S" } }"#).await;
    let (gateway, clone) = (bench.gateway.clone(), bench.pool.clone());
    drop(bench);
    sleep(millis(15_100)).await;
    assert_eq!(gateway.asked(), 1 + 3);
    drop(clone);
    sleep(secs(60)).await;
    assert_eq!((gateway.asked(), tasks()), (1 + 3, 0));
}

#[tokio::test(start_paused = true)]
async fn what_a_dropped_pool_handed_out_still_works_and_asks_nobody() {
    let bench = Bench::new(&["A"], r#"{ "circuitBreaker": { "failureThreshold": 1 } }"#).await;
    let (lease, candidate) = (bench.begin("A"), bench.pool.select(1).remove(0));
    let gateway = bench.gateway.clone();
    drop(bench);
    lease.finish(&replica_pool::Verdict::UNREACHABLE);
    assert!(candidate.begin().is_err(), "the circuit has opened");
    settle().await;
    assert_eq!((gateway.asked(), tasks()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_pools_one_after_the_other_leave_no_more_tasks_than_one() {
    let mut pool = Bench::new(&["A", "B"], CANARY).await;
    sleep(millis(10)).await;
    let one = tasks();
    for _ in 0..1_000 {
        pool = Bench::new(&["A", "B"], CANARY).await;
        sleep(millis(10)).await;
        assert_eq!(tasks(), one);
    }
    drop(pool);
    settle().await;
    assert_eq!(tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_replicas_one_after_the_other_leave_no_more_behind_than_a_minute_holds() {
    let names: Vec<Addr> = (0..1_000).map(|i| &*Box::leak(format!("R{i}").into_boxed_str())).collect();
    let bench = Bench::new(&["R"], "{}").await;
    let mut seen = Vec::new();
    for name in names {
        bench.gateway.names(&[name]);
        bench.pool.refresh().await.unwrap();
        seen.push(Arc::downgrade(&bench.replica(name)));
        advance(secs(1)).await;
        settle().await;
    }
    let alive = seen.iter().filter(|replica| replica.strong_count() > 0).count();
    assert!(alive <= 61, "{alive}");
    assert_eq!(bench.pool.snapshot().background_tasks, 0);
}

#[test]
fn a_pool_needs_a_runtime() {
    let built = ReplicaPool::<Addr>::builder(Registry::naming(&["A"])).build();
    assert_eq!(built.unwrap_err(), BuildError::NoRuntime);
    assert_eq!(
        BuildError::NoRuntime.to_string(),
        "a pool works in the background: build it inside a tokio runtime"
    );
}

#[tokio::test(start_paused = true)]
async fn a_strategy_that_waits_for_probes_needs_a_probe() {
    let build = |settings: &str| {
        let config = Config::from_text("test.json", settings).unwrap();
        ReplicaPool::<Addr>::builder(Registry::naming(&["A"])).config(config).build()
    };
    assert_eq!(
        build(CANARY).unwrap_err().to_string(),
        "a circuit of CANARY_RATE_THRESHOLD that opens stays open until it is probed, and the pool has no probe: \
         call PoolBuilder::probe(), or set a delay after which it is tried (such as \
         waitDurationInOpenState)"
    );
    build(
        r#"{ "circuitBreaker": { "strategy": "CANARY_RATE_THRESHOLD", "waitDurationInOpenState": "PT10S" } }"#,
    )
    .unwrap();
}

#[tokio::test(start_paused = true)]
async fn validation_needs_a_connector() {
    let config = Config::from_text("test.json", BUSY).unwrap();
    let pool = ReplicaPool::<Addr>::builder(Registry::naming(&["A"])).config(config.clone());
    let failed = pool.build().unwrap_err();
    assert_eq!(failed, BuildError::NoConnector);
    assert!(failed.to_string().contains(r#""validation": {"enabled": true}"#), "{failed}");
    let transport = Transport(Arc::<World>::default());
    ReplicaPool::<Addr>::builder(Registry::naming(&["A"]))
        .config(config)
        .connector(transport)
        .build()
        .unwrap();
}
