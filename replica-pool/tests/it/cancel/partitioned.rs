//! Calls to a divided store whose partitions and replicas go away, each beside another one that is to be answered.

use std::time::Duration;

use futures::{FutureExt, future::BoxFuture};
use replica_pool::Gone;
use tokio::time::sleep;

use super::{Cut, at_every_await};
use crate::{
    kit::{millis, secs, settle},
    partition::store::{Addr, Bench, Outcome, Store, judge},
};

/// No circuit opens here: what is gone is not waited for any longer than it has to be.
const SETTINGS: &str = r#"{ "circuitBreaker": { "failureThreshold": 100 },
    "replicaPool": { "order": "listed", "suspectAfter": "PT1S" } }"#;

fn call(bench: &Bench, key: u32) -> BoxFuture<'static, Outcome> {
    let (pool, body) = (bench.pool.clone(), bench.body(key));
    async move { pool.request(&key).judge(judge).call(body).await }.boxed()
}

/// Plays `prepare`, and calls twice for key 1: one call is cut short, the other is answered by `answer`, or by nobody.
/// `heal` ends what is wrong.
async fn a_call_is_cut(
    points: u32,
    answer: Option<Addr>,
    prepare: impl AsyncFn() -> Bench,
    heal: impl Fn(&Bench),
) {
    at_every_await(points, async |cut: Cut| {
        let bench = prepare().await;
        let other = tokio::spawn(call(&bench, 1));
        let completed = cut.short(call(&bench, 1)).await;
        let other = other.await.unwrap();
        assert_eq!(other.as_ref().ok().copied(), answer, "{cut:?}: {other:?}");
        heal(&bench);
        bench.gateway_takes(Duration::ZERO);
        sleep(secs(20)).await;
        for key in [1, 51, 150] {
            bench.pool.refresh().await.unwrap();
            bench.call(key).await.unwrap();
        }
        sleep(secs(120)).await;
        for (id, pool) in bench.pool.used() {
            assert_eq!(pool.snapshot().background_tasks, 0, "{id}");
        }
        drop(bench);
        settle().await;
        completed.is_some()
    })
    .await;
}

async fn two_partitions() -> Bench {
    let bench = Bench::new(SETTINGS).await;
    bench.call(1).await.unwrap();
    bench.call(150).await.unwrap();
    bench.gateway_takes(millis(200));
    bench
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_the_first_map() {
    at_every_await(1, async |cut: Cut| {
        let store = Store::default();
        *store.0.truth.lock().unwrap() = Bench::new(SETTINGS).await.store.0.truth.lock().unwrap().clone();
        *store.0.takes.lock().unwrap() = millis(200);
        let config = replica_pool::config::Config::from_text("test.json", SETTINGS).unwrap();
        let pool = replica_pool::PartitionedPool::builder(store.clone()).config(config).build().unwrap();
        let bench = Bench { store, pool };
        let (ready, other) = (bench.pool.clone(), tokio::spawn(call(&bench, 1)));
        let ready = cut.short(ready.ready()).await;
        let completed = cut.short(call(&bench, 1)).await;
        assert!(ready.is_none_or(|ready| ready.is_ok()));
        assert_eq!(other.await.unwrap().unwrap(), "a");
        drop(bench);
        settle().await;
        completed.is_some()
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_map() {
    at_every_await(1, async |cut: Cut| {
        let bench = two_partitions().await;
        bench.change(|truth| truth.split("low", &[(0, "low-1", &["e"]), (50, "low-2", &["f"])]));
        let completed = cut.short(bench.pool.refresh()).await;
        bench.pool.refresh().await.unwrap();
        assert_eq!(bench.pool.routing_map().unwrap().version(), 2);
        drop(bench);
        settle().await;
        completed.is_some()
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_partition_is_gone() {
    let prepare = async || {
        let bench = two_partitions().await;
        bench.change(|truth| truth.split("low", &[(0, "low-1", &["e"]), (50, "low-2", &["f"])]));
        bench
    };
    a_call_is_cut(1, Some("e"), prepare, |_| {}).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_partition_is_gone_and_stays_so() {
    let prepare = async || {
        let bench = two_partitions().await;
        bench.gateway_lags();
        bench.change(|truth| truth.split("low", &[(0, "low-1", &["e"]), (50, "low-2", &["f"])]));
        bench
    };
    a_call_is_cut(1, None, prepare, Bench::gateway_catches_up).await;
}

#[tokio::test(start_paused = true)]
async fn calls_that_find_replicas_gone_or_a_partition_on_the_move() {
    for (gone, points) in [(Gone::Replica, 3), (Gone::Splitting, 3), (Gone::Migrating, 3)] {
        let prepare = async || {
            let bench = two_partitions().await;
            bench.change(|truth| truth.says.extend([("a", gone), ("b", gone)]));
            let store = bench.store.clone();
            // By the third pause, the partition is well again.
            tokio::spawn(async move {
                sleep(secs(4)).await;
                store.0.truth.lock().unwrap().says.clear();
            });
            bench
        };
        a_call_is_cut(points, Some("a"), prepare, |_| {}).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_replicas_all_refuse_until_they_live_elsewhere() {
    let prepare = async || {
        let bench = two_partitions().await;
        bench.change(|truth| {
            truth.down.extend(["a", "b"]);
            truth.addresses.insert("low", vec!["e"]);
        });
        bench
    };
    a_call_is_cut(1, Some("e"), prepare, |_| {}).await;
}
