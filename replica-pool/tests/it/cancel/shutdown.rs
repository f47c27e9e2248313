//! The last handle of a pool is dropped, whatever the pool is doing: a second later no task is left, and whoever still
//! waits is told.

use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{spawn_call, tasks};
use crate::{
    kit::{Answer, Bench, Registry, Remote, millis, secs},
    partition::store,
};

const BUSY: &str = r#"{
    "replicaPool": { "order": "listed", "validation": { "enabled": true }, "suspectAfter": "PT1S",
        "hedgeAfter": "PT0.1S", "refreshInterval": "PT5S" } }"#;
const CANARY: &str = r#"{ "circuitBreaker": { "strategy": "CANARY_RATE_THRESHOLD" },
    "replicaPool": { "validation": { "enabled": true }, "startupWait": "PT10S" } }"#;

/// Drops `held`, which has more than `own` tasks at work.
async fn ends<T>(held: T, own: usize) {
    assert!(tasks() > own, "something was at work");
    drop(held);
    sleep(secs(1)).await;
    assert_eq!(tasks(), own);
}

#[tokio::test(start_paused = true)]
async fn while_it_starts_and_the_gateway_hangs() {
    for settings in [BUSY, CANARY] {
        let gateway = Registry::default();
        gateway.answer(Answer::Hangs);
        let bench = Bench::build(gateway, settings, |builder| builder);
        sleep(millis(100)).await;
        ends(bench, 0).await;
    }
}

#[tokio::test(start_paused = true)]
async fn while_it_refreshes() {
    for settings in [BUSY, CANARY] {
        let bench = Bench::new(&["A", "B"], settings).await;
        bench.gateway.answer(Answer::Hangs);
        let _ = timeout(millis(100), bench.pool.refresh()).await;
        ends(bench, 0).await;
    }
}

#[tokio::test(start_paused = true)]
async fn while_it_waits_to_ask_again() {
    let bench = Bench::new(&["A", "B"], BUSY).await;
    bench.gateway.answer(Answer::Fails);
    for _ in 0..3 {
        bench.pool.refresh().await.unwrap_err();
    }
    let _ = timeout(millis(100), bench.pool.refresh()).await;
    ends(bench, 0).await;
}

#[tokio::test(start_paused = true)]
async fn while_connections_hang() {
    let names = ["A", "B", "C", "D", "E", "F", "G", "H", "I"];
    let bench = Bench::new(&names, BUSY).await;
    for name in names {
        bench.world.set(name, Remote::Hangs);
        bench.mark(name);
    }
    sleep(millis(100)).await;
    assert!(!bench.world.opened().is_empty());
    // More than there are cores: some wait for their turn.
    assert!(bench.pool.snapshot().background_tasks >= names.len());
    ends(bench, 0).await;
}

#[tokio::test(start_paused = true)]
async fn while_probes_hang() {
    for after in [0, 100, 1_100, 2_500, 3_500] {
        let bench = Bench::build(Registry::naming(&["A", "B"]), CANARY, |builder| builder);
        bench.world.set("A", Remote::Hangs);
        bench.world.set("B", Remote::Hangs);
        bench.pool.ready().await.unwrap();
        sleep(millis(after)).await;
        ends(bench, 0).await;
    }
}

/// The calls hold the pool, and end by themselves; the attempts that were overtaken are the pool's own.
#[tokio::test(start_paused = true)]
async fn while_attempts_that_were_overtaken_are_kept_in_mind() {
    let bench = Bench::new(&["A", "B", "C"], BUSY).await;
    bench.world.set("A", Remote::Hangs);
    bench.world.set("B", Remote::Hangs);
    for _ in 0..4 {
        assert_eq!(bench.call().await.unwrap(), "C");
    }
    ends(bench, 0).await;
}

/// Callers hold no handle of their own here: the pool ends under their hands, and they are told or give up in time.
#[tokio::test(start_paused = true)]
async fn while_callers_wait() {
    for settings in [BUSY, CANARY] {
        let gateway = Registry::default();
        gateway.answer(Answer::Hangs);
        let bench = Bench::build(gateway, settings, |builder| builder);
        let callers: Vec<JoinHandle<_>> = (0..10).map(|_| spawn_call(&bench)).collect();
        sleep(millis(100)).await;
        for caller in &callers {
            caller.abort();
        }
        sleep(millis(1)).await;
        ends(bench, 0).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_waited_for_the_gateway_learns_that_nobody_will_answer() {
    let bench = Bench::new(&["A"], BUSY).await;
    bench.gateway.answer(Answer::Hangs);
    let candidate = bench.pool.select(1).remove(0);
    bench.mark("A");
    sleep(millis(100)).await;
    drop(bench);
    sleep(secs(1)).await;
    assert_eq!(tasks(), 0);
    // What was handed out works on, and starts nothing.
    candidate.begin().unwrap().finish(&replica_pool::Verdict::UNREACHABLE);
    assert_eq!(tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn while_a_partition_and_the_map_are_asked_for() {
    let bench = store::Bench::new(r#"{ "replicaPool": { "refreshInterval": "PT5S" } }"#).await;
    for key in [1, 150] {
        bench.call(key).await.unwrap();
    }
    bench.gateway_takes(secs(3_600));
    bench.change(|truth| truth.split("low", &[(0, "low-1", &["e"]), (50, "low-2", &["f"])]));
    for (_, pool) in bench.pool.used() {
        let _ = timeout(millis(10), pool.refresh()).await;
    }
    let _ = timeout(millis(10), bench.call(1)).await;
    let _ = timeout(millis(10), bench.pool.refresh()).await;
    ends(bench, 0).await;
}

#[tokio::test(start_paused = true)]
async fn while_the_followers_of_a_partition_look_for_their_replicas() {
    let bench = store::Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.gateway_takes(secs(1));
    bench.change(|truth| truth.split("low", &[(0, "low-1", &["e"]), (50, "low-2", &["f"])]));
    // The map has come after a second, and the addresses have not.
    let _ = timeout(millis(1_500), bench.pool.refresh()).await;
    assert_eq!(bench.pool.routing_map().unwrap().version(), 1);
    ends(bench, 0).await;
}
