//! Section 10 of the rules: partitions, and what becomes of a request whose partition is gone.

mod followers;
mod model;
pub(crate) mod store;
mod table;

use std::{error::Error, sync::Arc, time::Duration};

use futures::future::join_all;
use replica_pool::{CallError, Diagnostics, GatewayError, Gone, RefreshReason, Refreshed};
use store::{Bench, judge};
use tokio::time::{advance, sleep};

use crate::kit::{settle, stopwatch};

const MS_200: Duration = Duration::from_millis(200);

fn split_low(bench: &Bench) {
    bench.change(|truth| truth.split("low", &[(0, "low-1", &["e", "f"]), (50, "low-2", &["g", "h"])]));
}

#[tokio::test(start_paused = true)]
async fn a_key_on_each_side_of_each_boundary_finds_its_partition_before_and_after_a_split() {
    let bench = Bench::new("{}").await;
    for (key, replicas) in [(0, ["a", "b"]), (99, ["a", "b"]), (100, ["c", "d"]), (u32::MAX, ["c", "d"])] {
        assert!(replicas.contains(&bench.call(key).await.unwrap()), "{key}");
    }
    split_low(&bench);
    for (key, replicas) in
        [(0, ["e", "f"]), (49, ["e", "f"]), (50, ["g", "h"]), (99, ["g", "h"]), (100, ["c", "d"])]
    {
        assert!(replicas.contains(&bench.call(key).await.unwrap()), "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_requests_that_find_their_partition_gone_fetch_the_map_once_and_all_succeed() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.gateway_takes(MS_200);
    split_low(&bench);
    let (maps, _) = bench.asked();
    let answers = join_all((0..1000).map(|i| bench.call(i % 100))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(bench.asked().0 - maps, 1);
    assert_eq!(bench.pool.routing_map().unwrap().version(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_empty_feed_for_the_partition_that_is_asked_for_is_503_21002_and_keeps_its_cause() {
    for feeds in [true, false] {
        let bench = Bench::new("{}").await;
        *bench.store.0.feeds.lock().unwrap() = feeds;
        bench.change(|truth| drop(truth.addresses.remove("low")));
        let error = bench.unavailable(1).await;
        assert_eq!((error.status_code(), error.sub_status(), error.gone), (503, 21_002, Gone::Partition));
        let cause = error.source().unwrap().downcast_ref::<GatewayError>();
        assert!(matches!(cause, Some(GatewayError::NoSuchPartition)), "{cause:?}");
        assert_eq!(
            error.to_string(),
            "unavailable (503/21002): the partition is gone, after 0 failed attempts"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_partition_that_is_gone_twice_is_503_and_the_next_request_sees_the_fresh_map() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.gateway_lags();
    split_low(&bench);
    let error = bench.unavailable(1).await;
    assert_eq!((error.sub_status(), error.attempts.len()), (21_002, 2));
    assert_eq!(error.source().unwrap().to_string(), "410: the partition is gone");
    bench.gateway_catches_up();
    assert!(["e", "f"].contains(&bench.call(1).await.unwrap()));
}

#[tokio::test(start_paused = true)]
async fn a_failed_or_older_answer_never_replaces_a_good_map_and_the_next_request_asks_again() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.call(150).await.unwrap();
    bench.gateway_lags();
    split_low(&bench);
    bench.gateway_catches_up();
    bench.call(1).await.unwrap();
    bench.gateway_lags();
    bench.store.0.belief.lock().unwrap().as_mut().unwrap().version = 1;
    bench.pool.refresh().await.unwrap();
    assert_eq!(bench.pool.routing_map().unwrap().version(), 2, "an older answer");
    *bench.store.0.fails.lock().unwrap() = true;
    bench.pool.refresh().await.unwrap_err();
    assert_eq!(bench.pool.routing_map().unwrap().version(), 2, "a failed one");
    bench.change(|truth| truth.split("high", &[(100, "high-1", &["i"]), (200, "high-2", &["j"])]));
    bench.unavailable(150).await;
    *bench.store.0.fails.lock().unwrap() = false;
    bench.gateway_catches_up();
    assert_eq!(bench.call(150).await.unwrap(), "i");
}

#[tokio::test(start_paused = true)]
async fn with_a_deadline_of_zero_the_first_retry_is_made_and_the_second_is_not() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.call(100).await.unwrap();
    bench.gateway_takes(MS_200);
    let bench = &bench;
    let call = async |key: u32| {
        bench.pool.request(&key).deadline(Duration::ZERO).judge(judge).call(bench.body(key)).await
    };
    bench.change(|truth| truth.split("low", &[(0, "low-1", &["e"])]));
    assert_eq!(call(1).await.unwrap(), "e");
    bench.visits();
    bench.change(|truth| truth.says.extend([("c", Gone::Splitting), ("d", Gone::Splitting)]));
    let Err(CallError::Unavailable(error)) = call(100).await else { panic!() };
    assert_eq!((error.status_code(), error.sub_status(), error.attempts.len()), (503, 21_003, 2));
    assert_eq!(error.source().unwrap().to_string(), "410: the partition is being split");
    assert_eq!(bench.visits().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_first_cause_is_kept_when_the_retry_fails_for_another_reason() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.change(|truth| truth.says.extend([("a", Gone::Partition), ("b", Gone::Partition)]));
    let body = bench.body(1);
    let change = |attempt: replica_pool::Attempt<&'static str>| {
        let second = attempt.number() == 2;
        let answer = body(attempt);
        async move { if second { Err(store::No::Gone(Gone::Splitting)) } else { answer.await } }
    };
    let key = 1;
    let call = bench.pool.request(&key).deadline(Duration::ZERO).judge(judge).call(change).await;
    let Err(CallError::Unavailable(error)) = call else { panic!() };
    assert_eq!(
        (error.gone, error.source().unwrap().to_string().as_str()),
        (Gone::Splitting, "410: the partition is gone")
    );
}

#[tokio::test(start_paused = true)]
async fn a_split_and_a_dead_replica_at_once_fail_no_request() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.gateway_takes(MS_200);
    split_low(&bench);
    bench.change(|truth| truth.down.extend(["e", "g", "c"]));
    let answers = join_all((0..200).map(|key| bench.call(key))).await;
    for (key, answer) in answers.into_iter().enumerate() {
        let expected = ["f", "h", "d", "d"][key / 50];
        assert_eq!(answer.unwrap(), expected, "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn partitions_that_stay_keep_their_replicas_and_an_address_that_serves_several_is_one() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.call(100).await.unwrap();
    let replica = |key: u32, address| {
        let set = bench.pool.pool(&key).unwrap().replicas();
        Arc::clone(set.replicas().iter().find(|replica| *replica.address() == address).unwrap())
    };
    let (c, a) = (replica(100, "c"), replica(1, "a"));
    bench.change(|truth| truth.split("low", &[(0, "low-1", &["a", "c"]), (50, "low-2", &["a", "e"])]));
    bench.pool.refresh().await.unwrap();
    assert!(Arc::ptr_eq(&c, &replica(100, "c")), "its partition stayed");
    assert!(Arc::ptr_eq(&a, &replica(1, "a")), "it goes on in another partition");
    assert!(Arc::ptr_eq(&replica(1, "a"), &replica(50, "a")) && Arc::ptr_eq(&c, &replica(1, "c")));
}

#[tokio::test(start_paused = true)]
async fn thousands_of_partitions_cost_nothing_until_they_are_used_and_vanish_with_their_tasks() {
    let store = store::Store::default();
    *store.0.truth.lock().unwrap() = store::Truth {
        version: 1,
        starts: (0..10_000_u32).map(|i| (i * 10, name(i))).collect(),
        addresses: (0..10_000_u32).map(|i| (name(i), vec!["a"])).collect(),
        ..Default::default()
    };
    let bench = Bench::over(store, r#"{ "replicaPool": { "refreshInterval": "PT1M" } }"#).await;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let idle = tasks();
    for key in [5, 15, 25] {
        bench.call(key).await.unwrap();
    }
    settle().await;
    assert_eq!((bench.pool.used().len(), bench.asked().1, tasks() - idle), (3, 3, 3));
    bench.change(|truth| {
        truth.starts = vec![(0, "all")];
        truth.addresses = [("all", vec!["z"])].into();
        truth.version += 1;
    });
    assert_eq!(bench.call(5).await.unwrap(), "z");
    sleep(Duration::from_secs(61)).await;
    assert_eq!((bench.pool.used().len(), tasks() - idle), (1, 1));
}

fn name(i: u32) -> &'static str {
    Box::leak(format!("p{i}").into_boxed_str())
}

#[tokio::test(start_paused = true)]
async fn when_the_gateway_tells_of_a_split_before_the_replicas_do_no_request_waits() {
    let bench = Bench::new(r#"{ "replicaPool": { "refreshInterval": "PT1S" } }"#).await;
    bench.call(1).await.unwrap();
    bench.gateway_takes(MS_200);
    split_low(&bench);
    bench.change(|truth| truth.lingering.extend(["a", "b"]));
    let mut served = Vec::new();
    for _ in 0..200 {
        sleep(Duration::from_millis(10)).await;
        let elapsed = stopwatch();
        served.push(bench.call(1).await.unwrap());
        assert_eq!(elapsed(), Duration::ZERO);
    }
    assert!(["a", "b"].contains(&served[0]), "until the new replicas are known, the old ones serve");
    bench.change(|truth| truth.lingering.clear());
    let elapsed = stopwatch();
    assert!(["e", "f"].contains(&bench.call(1).await.unwrap()));
    assert_eq!(elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn diagnostics_tell_the_map_version_and_the_refreshes_with_their_time() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.gateway_takes(MS_200);
    split_low(&bench);
    let (mut first, mut second) = (Diagnostics::default(), Diagnostics::default());
    let (one, two) = (1, 51);
    let (a, b) = futures::join!(
        bench.pool.request(&one).judge(judge).diagnostics(&mut first).call(bench.body(1)),
        bench.pool.request(&two).judge(judge).diagnostics(&mut second).call(bench.body(51)),
    );
    assert!(a.is_ok() && b.is_ok());
    assert_eq!((first.map_version, first.attempts.len()), (Some(2), 2));
    let records = |diagnostics: &Diagnostics| -> Vec<_> {
        diagnostics.refreshes.iter().map(|r| (r.of, r.reason, r.started, r.waited)).collect()
    };
    // The map takes 200 ms, and the addresses of the new partitions as long again, before it is in use.
    let waited = |started| (Refreshed::RoutingMap, RefreshReason::Gone, started, Some(2 * MS_200));
    assert_eq!(records(&first), [waited(true)]);
    assert_eq!(records(&second), [waited(false)]);
}

#[tokio::test(start_paused = true)]
async fn calls_wait_for_the_first_map_and_say_why_there_is_none() {
    let store = store::Store::default();
    *store.0.fails.lock().unwrap() = true;
    let pool: store::Pool = replica_pool::PartitionedPool::builder(store).build().unwrap();
    pool.ready().await.unwrap_err();
    let call = pool.call(&1_u32, |_| async { Ok::<_, std::io::Error>(()) }).await;
    let Err(CallError::NoRoutingMap { source, .. }) = call else { panic!("{call:?}") };
    assert_eq!(source.to_string(), "the gateway could not be asked: 503");
}

#[tokio::test(start_paused = true)]
async fn a_partition_that_survived_a_change_of_the_map_still_gets_its_followers_a_head_start() {
    let bench = Bench::new(r#"{ "replicaPool": { "refreshInterval": "PT1S" } }"#).await;
    bench.call(150).await.unwrap();
    split_low(&bench);
    bench.pool.refresh().await.unwrap();
    bench.gateway_takes(MS_200);
    bench.change(|truth| {
        truth.split("high", &[(100, "high-1", &["i"]), (200, "high-2", &["j"])]);
        truth.lingering.extend(["c", "d"]);
    });
    sleep(Duration::from_secs(3)).await;
    bench.change(|truth| truth.lingering.clear());
    let elapsed = stopwatch();
    assert_eq!(bench.call(150).await.unwrap(), "i");
    assert_eq!(elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_had_by_key_and_an_attempt_before_the_map_asks_for_it() {
    let store = store::Store::default();
    *store.0.fails.lock().unwrap() = true;
    let pool: store::Pool = replica_pool::PartitionedPool::builder(store.clone()).build().unwrap();
    pool.ready().await.unwrap_err();
    let asked = store.0.maps_asked.load(std::sync::atomic::Ordering::SeqCst);
    assert!(pool.acquire(&1).unwrap_err().replicas.is_empty());
    sleep(Duration::from_secs(2)).await;
    assert_eq!(store.0.maps_asked.load(std::sync::atomic::Ordering::SeqCst), asked + 1);

    let bench = Bench::new("{}").await;
    assert!(bench.pool.acquire(&99).unwrap_err().replicas.is_empty(), "no addresses yet");
    settle().await;
    for (key, replicas) in [(0, ["a", "b"]), (99, ["a", "b"]), (100, ["c", "d"])] {
        bench.call(key).await.unwrap();
        let lease = bench.pool.acquire(&key).unwrap();
        assert!(replicas.contains(lease.replica().address()), "{key}");
        lease.finish(&replica_pool::Verdict::SUCCESS);
    }
    let low = bench.pool.pool(&0).unwrap().replicas();
    low.replicas().iter().for_each(|replica| replica.breaker().force_open());
    let mut names: Vec<_> =
        bench.pool.acquire(&0).unwrap_err().replicas.into_iter().map(|(name, _)| name).collect();
    names.sort();
    assert_eq!(names, ["a", "b"]);
    assert!(bench.pool.acquire(&100).is_ok());
}

/// Nothing of a partition that is no more is kept beyond the minute in which its addresses may come back.
#[tokio::test(start_paused = true)]
async fn a_partition_that_vanished_lets_go_of_its_replicas() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    let set = bench.pool.pool(&1).unwrap().replicas();
    let left = Arc::downgrade(&set.replicas()[0]);
    drop(set);
    split_low(&bench);
    bench.pool.refresh().await.unwrap();
    assert!(["e", "f"].contains(&bench.call(1).await.unwrap()));
    advance(Duration::from_secs(60)).await;
    bench.pool.pool(&1).unwrap().refresh().await.unwrap();
    assert!(left.upgrade().is_none());
}

/// Who waits for the addresses of a partition that vanishes meanwhile does not wait for their answer.
#[tokio::test(start_paused = true)]
async fn who_waits_for_a_partition_that_vanishes_goes_on_at_once() {
    let bench = Bench::new("{}").await;
    bench.gateway_takes(Duration::from_secs(10));
    let mut call = Box::pin(bench.call(1));
    assert!(futures::poll!(&mut call).is_pending());
    settle().await;
    assert_eq!(bench.asked(), (1, 1));
    bench.gateway_takes(Duration::ZERO);
    split_low(&bench);
    let elapsed = stopwatch();
    bench.pool.refresh().await.unwrap();
    assert!(["e", "f"].contains(&call.await.unwrap()));
    assert_eq!(elapsed(), Duration::ZERO);
}
