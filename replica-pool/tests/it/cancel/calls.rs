//! Calls to a pool, each beside another one in the same situation, which is to be answered.

use std::sync::Arc;

use breaker_core::Circuit;
use tokio::time::sleep;

use super::{
    Cut, Places, all_places_are_free, at_every_await, call, nothing_is_left, spawn_call, watched_call,
};
use crate::kit::{Answer, Bench, Registry, Remote, millis, secs};

/// Every failure opens a circuit, and an open one is tried at once: with three places, each of which counts.
const PLACES: Places = Places::InFlight(3);

fn settings(pool: &str) -> String {
    format!(
        r#"{{ "circuitBreaker": {{ "failureThreshold": 1, "testDelay": "PT0S", "successThreshold": 3 }},
        "replicaPool": {{ "order": "listed", "attemptTimeout": "PT1S", "suspectAfter": "PT1S" {pool} }} }}"#
    )
}

/// A pool of A, B and C, all of them half-open.
async fn on_trial(pool: &str) -> Bench {
    let bench = Bench::new(&["A", "B", "C"], &settings(pool)).await;
    for address in bench.addresses() {
        bench.fail(address);
    }
    bench
}

/// Plays `prepare`, and calls twice: the call that is cut short comes first, and the one beside it is answered by
/// `answer`, or by nobody.
async fn a_call_is_cut(points: u32, answer: Option<&'static str>, prepare: impl AsyncFn() -> Bench) {
    at_every_await(points, async |cut: Cut| {
        let bench = prepare().await;
        let all = bench.addresses();
        let ((one, at_work), other) = (watched_call(&bench), spawn_call(&bench));
        let completed = cut.short(one).await;
        assert_eq!(Arc::strong_count(&at_work), 1, "{cut:?}: an attempt goes on without its call");
        let other = other.await.unwrap();
        assert_eq!(other.as_ref().ok().copied(), answer, "{cut:?}: {other:?}");
        let all = if all.is_empty() { vec!["A", "B", "C"] } else { all };
        nothing_is_left(bench, PLACES, &all).await;
        completed.is_some()
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_to_a_pool_that_is_well() {
    a_call_is_cut(1, Some("A"), async || {
        let bench = on_trial("").await;
        bench.world.set("A", Remote::Slow(millis(100)));
        bench
    })
    .await;
}

/// Two calls that are answered, or one: each success is counted once, and a call that was dropped is none, nor a failure.
#[tokio::test(start_paused = true)]
async fn what_a_dropped_call_did_not_hear_counts_for_nothing() {
    at_every_await(1, async |cut: Cut| {
        let bench = on_trial("").await;
        bench.world.set("A", Remote::Slow(millis(100)));
        let epoch = bench.replica("A").breaker().epoch();
        let other = spawn_call(&bench);
        let completed = cut.short(call(&bench)).await;
        assert_eq!(other.await.unwrap().unwrap(), "A");
        let (tally, completed) = (bench.tally("A"), completed.is_some());
        assert_eq!((tally.calls, tally.failures), (1 + u32::from(completed), 0), "{cut:?}");
        // The first attempt made it half-open, and nothing has changed since.
        assert_eq!(
            (bench.circuit("A"), bench.replica("A").breaker().epoch()),
            (Circuit::HalfOpen, epoch + 1)
        );
        completed
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_goes_on_to_the_next() {
    a_call_is_cut(3, Some("C"), async || {
        let bench = on_trial("").await;
        bench.world.set("A", Remote::ResetsAfter(millis(100)));
        bench.world.set("B", Remote::Hangs);
        bench.world.set("C", Remote::Slow(millis(100)));
        bench
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_last_attempt_of_a_call() {
    a_call_is_cut(1, None, async || {
        let bench = on_trial(r#", "maxAttempts": 1"#).await;
        bench.world.set("A", Remote::Hangs);
        bench
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_deadline_passes() {
    a_call_is_cut(2, None, async || {
        let bench = on_trial(r#", "deadline": "PT1.5S""#).await;
        bench.world.set("A", Remote::Hangs);
        bench.world.set("B", Remote::Hangs);
        bench
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_with_a_rival() {
    a_call_is_cut(3, Some("C"), async || {
        let bench = on_trial(r#", "hedgeAfter": "PT0.1S""#).await;
        bench.world.set("A", Remote::Hangs);
        bench.world.set("B", Remote::Hangs);
        bench.world.set("C", Remote::Slow(millis(100)));
        bench
    })
    .await;
}

/// The replica that was overtaken answers somebody else, so that nobody waits for it any more.
#[tokio::test(start_paused = true)]
async fn a_call_whose_rival_wins() {
    a_call_is_cut(2, Some("B"), async || {
        let bench = on_trial(r#", "hedgeAfter": "PT0.1S""#).await;
        bench.world.set("A", Remote::Slow(millis(500)));
        bench.world.set("B", Remote::Slow(millis(50)));
        let (call, world) = (call(&bench), Arc::clone(&bench.world));
        tokio::spawn(async move {
            sleep(millis(300)).await;
            world.set("A", Remote::Well);
            assert_eq!(call.await.unwrap(), "A");
        });
        bench
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_rivals_fail() {
    a_call_is_cut(4, Some("C"), async || {
        let bench = on_trial(r#", "hedgeAfter": "PT0.1S""#).await;
        bench.world.set("A", Remote::ResetsAfter(millis(250)));
        bench.world.set("B", Remote::Refuses);
        bench.world.set("C", Remote::Slow(millis(500)));
        bench
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_the_first_addresses() {
    a_call_is_cut(2, Some("A"), async || {
        let gateway = Registry::naming(&["A", "B", "C"]);
        gateway.takes(millis(500));
        let bench = Bench::build(gateway, &settings(""), |builder| builder);
        bench.world.set("A", Remote::Slow(millis(100)));
        bench
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_fresh_addresses() {
    a_call_is_cut(2, Some("D"), async || {
        let bench = Bench::new(&["A", "B"], &settings("")).await;
        bench.world.set("A", Remote::Refuses);
        bench.world.set("B", Remote::Refuses);
        bench.world.set("D", Remote::Slow(millis(100)));
        bench.gateway.names(&["D", "A", "B"]);
        bench.gateway.takes(millis(200));
        bench
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_gateway_that_fails() {
    a_call_is_cut(1, None, async || {
        let bench = on_trial("").await;
        for address in bench.addresses() {
            bench.world.set(address, Remote::Refuses);
        }
        bench.gateway.answer(Answer::Fails);
        bench.gateway.takes(millis(200));
        bench
    })
    .await;
}

/// All places are taken for 300 ms. Two calls wait for one that comes back.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_half_open_place() {
    a_call_is_cut(2, Some("A"), async || {
        let bench = Bench::new(&["A"], &settings("")).await;
        bench.fail("A");
        bench.world.set("A", Remote::Slow(millis(100)));
        let leases: Vec<_> = (0..3).map(|_| bench.begin("A")).collect();
        tokio::spawn(async move {
            sleep(millis(300)).await;
            drop(leases);
        });
        bench
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_place_that_never_comes() {
    at_every_await(1, async |cut: Cut| {
        let bench = on_trial("").await;
        let leases: Vec<_> = ["A", "B", "C"].map(|address| [(); 3].map(|()| bench.begin(address))).into();
        let other = spawn_call(&bench);
        let completed = cut.short(call(&bench)).await;
        assert!(other.await.unwrap().is_err(), "{cut:?}");
        // Before they count as abandoned.
        drop(leases);
        nothing_is_left(bench, PLACES, &["A", "B", "C"]).await;
        completed.is_some()
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_to_the_least_bad() {
    let settings = r#"{ "circuitBreaker": { "failureThreshold": 1, "testDelay": "PT10S", "successThreshold": 3 },
        "replicaPool": { "whenAllOpen": "tryLeastBad", "attemptTimeout": "PT1S", "suspectAfter": "PT1S" } }"#;
    at_every_await(1, async |cut: Cut| {
        let bench = Bench::new(&["A"], settings).await;
        bench.fail("A");
        bench.world.set("A", Remote::Slow(millis(100)));
        let other = spawn_call(&bench);
        let completed = cut.short(call(&bench)).await;
        assert_eq!(other.await.unwrap().unwrap(), "A");
        sleep(secs(10)).await;
        nothing_is_left(bench, PLACES, &["A"]).await;
        completed.is_some()
    })
    .await;
}

/// All circuits start open. A call waits for the first round of probes, and then for its answer.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_the_first_round_of_probes() {
    let settings = r#"{ "circuitBreaker": { "strategy": "CANARY_RATE_THRESHOLD",
            "permittedNumberOfCallsInHalfOpenState": 30, "minimumNumberOfCalls": 30 },
        "replicaPool": { "order": "listed", "attemptTimeout": "PT1S", "suspectAfter": "PT1S" } }"#;
    at_every_await(2, async |cut: Cut| {
        let bench = Bench::build(Registry::naming(&["A", "B"]), settings, |builder| builder);
        bench.world.set("A", Remote::Slow(millis(300)));
        bench.world.set("B", Remote::Refuses);
        bench.pool.ready().await.unwrap();
        let other = spawn_call(&bench);
        let completed = cut.short(call(&bench)).await;
        assert_eq!(other.await.unwrap().unwrap(), "A", "{cut:?}");
        all_places_are_free(&bench, Places::InTotal(30));
        nothing_is_left(bench, Places::InTotal(30), &["A", "B"]).await;
        completed.is_some()
    })
    .await;
}
