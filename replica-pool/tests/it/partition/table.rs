//! Each verdict of the gone family: what is refreshed, how the retries wait, and how it ends.

use std::time::Duration;

use replica_pool::Gone;

use super::store::Bench;
use crate::kit::stopwatch;

/// What a request does whose replicas all go on saying the same.
struct Row {
    says: Gone,
    sub_status: u32,
    /// Attempts at either of the two replicas.
    attempts: usize,
    /// Pauses between retries, in seconds; the gateway is never asked sooner than its own pauses allow, which are up to
    /// a fifth longer.
    pauses: u64,
    maps: usize,
    addresses: usize,
}

#[tokio::test(start_paused = true)]
async fn every_row() {
    let rows = [
        // Once more at once, and that was it.
        Row { says: Gone::Partition, sub_status: 21_002, attempts: 2, pauses: 0, maps: 1, addresses: 0 },
        // At once, then after 1, 2, 4 and 8 s; the next pause of 15 s would pass the deadline of 30 s.
        Row { says: Gone::Splitting, sub_status: 21_003, attempts: 6, pauses: 15, maps: 5, addresses: 0 },
        Row { says: Gone::Migrating, sub_status: 21_004, attempts: 6, pauses: 15, maps: 5, addresses: 5 },
    ];
    for row in rows {
        let bench = Bench::new("{}").await;
        bench.call(1).await.unwrap();
        bench.change(|truth| truth.says.extend([("a", row.says), ("b", row.says)]));
        let (maps, addresses) = bench.asked();
        let elapsed = stopwatch();
        let error = bench.unavailable(1).await;
        let (took, least) = (elapsed(), Duration::from_secs(row.pauses));
        assert_eq!((error.gone, error.status_code(), error.sub_status()), (row.says, 503, row.sub_status));
        assert_eq!(error.attempts.len(), row.attempts, "{}", row.says);
        assert!(took >= least && took <= least.mul_f64(1.5), "{}: {took:?}", row.says);
        let (maps_now, addresses_now) = bench.asked();
        assert_eq!((maps_now - maps, addresses_now - addresses), (row.maps, row.addresses), "{}", row.says);
    }
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_is_gone_again_on_an_unchanged_set_costs_one_map_and_ends_as_21005() {
    let bench = Bench::new(r#"{ "circuitBreaker": { "strategy": "NON_RESILIENT" } }"#).await;
    bench.call(1).await.unwrap();
    bench.change(|truth| truth.says.extend([("a", Gone::Replica), ("b", Gone::Replica)]));
    let (maps, addresses) = bench.asked();
    let elapsed = stopwatch();
    let error = bench.unavailable(1).await;
    assert_eq!((error.status_code(), error.sub_status()), (503, 21_005));
    // Two replicas each: at first, after the addresses were asked for, and after 1, 2, 4 and 8 s.
    assert_eq!(error.attempts.len(), 12);
    assert_eq!(bench.asked().0 - maps, 1, "the map, once");
    assert!(bench.asked().1 - addresses >= 1);
    assert_eq!(elapsed().as_secs(), 15);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_is_gone_since_its_partition_is_leads_to_the_map_within_the_request() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.change(|truth| {
        truth.split("low", &[(0, "low-1", &["e"])]);
        truth.addresses.insert("low", vec!["a", "b"]);
        truth.says.extend([("a", Gone::Replica), ("b", Gone::Replica)]);
    });
    let elapsed = stopwatch();
    assert_eq!(bench.call(1).await.unwrap(), "e");
    assert_eq!(elapsed(), Duration::ZERO, "the map had changed, so there was nothing to wait for");
}

#[tokio::test(start_paused = true)]
async fn a_migration_is_followed_by_its_addresses_within_the_request() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.change(|truth| {
        truth.addresses.insert("low", vec!["e", "f"]);
        truth.says.extend([("a", Gone::Migrating), ("b", Gone::Migrating)]);
    });
    assert!(["e", "f"].contains(&bench.call(1).await.unwrap()));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_requests_that_find_their_partition_migrating_ask_once_for_the_map_and_once_for_the_addresses()
 {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.gateway_takes(Duration::from_millis(200));
    bench.change(|truth| {
        truth.addresses.insert("low", vec!["e", "f"]);
        truth.version += 1;
        truth.says.extend([("a", Gone::Migrating), ("b", Gone::Migrating)]);
    });
    let (maps, addresses) = bench.asked();
    let elapsed = stopwatch();
    let answers = futures::future::join_all((0..1_000).map(|_| bench.call(1))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!((bench.asked().0 - maps, bench.asked().1 - addresses), (1, 1));
    assert_eq!(elapsed().as_millis(), 400, "the map, then the addresses");
}

/// The pause after a question that failed: a second, a fifth more or less.
#[tokio::test(start_paused = true)]
async fn who_is_unavailable_says_when_the_addresses_may_be_asked_for_again() {
    let bench = Bench::new(r#"{ "replicaPool": { "deadline": "PT0.5S" } }"#).await;
    bench.call(1).await.unwrap();
    tokio::time::advance(Duration::from_secs(10)).await;
    bench.change(|truth| truth.says.extend([("a", Gone::Replica), ("b", Gone::Replica)]));
    *bench.store.0.fails.lock().unwrap() = true;
    let error = bench.unavailable(1).await;
    let retry_at = error.retry_at().unwrap().as_nanos() / 1_000_000;
    assert!((10_800..=11_200).contains(&retry_at), "{retry_at} ms");
}
