//! Suspicion (7.5) and hedging (9): calls in flight are evidence, and a slow attempt gets a rival.

use std::time::Duration;

use breaker_core::{Circuit, Tally};
use tokio::time::sleep;

use crate::kit::{Bench, Remote, settle, stopwatch};

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

const SUSPECT: &str =
    r#"{ "replicaPool": { "order": "listed", "suspectAfter": "PT0.02S", "attemptTimeout": "PT1S" } }"#;
const HEDGE: &str =
    r#"{ "replicaPool": { "order": "listed", "hedgeAfter": "PT0.05S", "attemptTimeout": "PT1S" } }"#;

#[tokio::test(start_paused = true)]
async fn calls_that_wait_keep_others_away_before_any_of_them_has_timed_out() {
    let bench = Bench::new(&["A", "B"], SUSPECT).await;
    bench.world.set("A", Remote::Hangs);
    let mut calls = Vec::new();
    for _ in 0..100 {
        let mut call = Box::pin(bench.call());
        if futures::poll!(&mut call).is_pending() {
            calls.push(call);
        }
        sleep(millis(1)).await;
    }
    // One call a millisecond, until the first has waited for 20 ms.
    assert_eq!(bench.world.visits_to("A"), 20);
    assert_eq!(bench.order(), ["B", "A"]);
    assert!(
        futures::future::join_all(calls)
            .await
            .iter()
            .all(|answer| answer.as_ref().is_ok_and(|who| *who == "B"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_answers_others_is_not_suspected_for_one_slow_call() {
    let bench = Bench::new(&["A", "B"], SUSPECT).await;
    bench.world.set("A", Remote::Slow(millis(500)));
    let mut slow = Box::pin(bench.call());
    let _ = futures::poll!(&mut slow);
    bench.world.set("A", Remote::Slow(millis(5)));
    for _ in 0..50 {
        assert_eq!(bench.call().await.unwrap(), "A");
    }
    assert_eq!(slow.await.unwrap(), "A");
}

#[tokio::test(start_paused = true)]
async fn a_suspected_replica_is_trusted_again_once_it_answers_or_nobody_waits_for_it() {
    let bench = Bench::new(&["A", "B"], SUSPECT).await;
    bench.world.set("A", Remote::Slow(millis(100)));
    let mut slow = Box::pin(bench.call());
    let _ = futures::poll!(&mut slow);
    sleep(millis(50)).await;
    assert_eq!(bench.order(), ["B", "A"]);
    slow.await.unwrap();
    assert_eq!(bench.order(), ["A", "B"], "it answered");
    bench.world.set("A", Remote::Hangs);
    let mut given_up = Box::pin(bench.call());
    let _ = futures::poll!(&mut given_up);
    sleep(millis(50)).await;
    assert_eq!(bench.order(), ["B", "A"]);
    drop(given_up);
    assert_eq!(bench.order(), ["A", "B"], "nobody waits");
}

#[tokio::test(start_paused = true)]
async fn a_slow_attempt_gets_a_rival_and_the_first_good_answer_wins() {
    let bench = Bench::new(&["A", "B"], HEDGE).await;
    bench.world.set("A", Remote::Slow(millis(300)));
    let elapsed = stopwatch();
    assert_eq!(bench.call().await.unwrap(), "B");
    assert_eq!((elapsed().as_millis(), bench.world.visits()), (50, vec!["A", "B"]));
    bench.world.set("B", Remote::Slow(millis(400)));
    let elapsed = stopwatch();
    assert_eq!(bench.call().await.unwrap(), "A", "the rival was slower still");
    assert_eq!(elapsed().as_millis(), 300);
}

#[tokio::test(start_paused = true)]
async fn a_rival_that_fails_does_not_end_the_race() {
    let bench = Bench::new(&["A", "B", "C"], HEDGE).await;
    bench.world.set("A", Remote::Slow(millis(300)));
    bench.world.set("B", Remote::Refuses);
    bench.world.set("C", Remote::Slow(millis(10)));
    let elapsed = stopwatch();
    assert_eq!(bench.call().await.unwrap(), "C");
    assert_eq!(
        (elapsed().as_millis(), bench.world.visits()),
        (110, vec!["A", "B", "C"]),
        "two rivals, 50 ms apart"
    );
}

#[tokio::test(start_paused = true)]
async fn only_idempotent_calls_are_hedged() {
    let bench = Bench::new(&["A", "B"], HEDGE).await;
    bench.world.set("A", Remote::Slow(millis(300)));
    let world = std::sync::Arc::clone(&bench.world);
    let call = bench
        .pool
        .request()
        .judge(crate::kit::judge)
        .call(move |attempt| std::sync::Arc::clone(&world).serve(attempt));
    assert_eq!(call.await.unwrap(), "A");
    assert_eq!(bench.world.visits(), ["A"]);
}

#[tokio::test(start_paused = true)]
async fn an_overtaken_attempt_that_is_never_answered_is_a_failure_at_its_timeout() {
    let bench = Bench::new(&["A", "B"], HEDGE).await;
    bench.gateway.hold();
    bench.world.set("A", Remote::Hangs);
    for _ in 0..2 {
        assert_eq!(bench.call().await.unwrap(), "B");
    }
    let tally = || bench.replica("A").breaker().snapshot().tally;
    assert_eq!(tally(), Tally::default());
    sleep(millis(899)).await;
    settle().await;
    assert_eq!(tally(), Tally::default(), "neither has waited for a second");
    sleep(millis(1)).await;
    settle().await;
    assert_eq!(tally(), Tally { calls: 1, failures: 1, slow: 0 });
    assert_eq!(bench.replica("A").health(), replica_pool::HealthStatus::Unhealthy);
    sleep(millis(50)).await;
    settle().await;
    assert_eq!(tally().failures, 2, "hedging does not blind the breaker");
}

#[tokio::test(start_paused = true)]
async fn an_overtaken_attempt_is_cancelled_once_its_replica_answers_a_call_that_was_sent_no_earlier() {
    let bench = Bench::new(&["A", "B"], HEDGE).await;
    bench.world.set("A", Remote::Slow(millis(100)));
    assert_eq!(bench.call().await.unwrap(), "B");
    bench.world.set("A", Remote::Well);
    assert_eq!(bench.call().await.unwrap(), "A");
    settle().await;
    let tasks = bench.pool.snapshot().background_tasks;
    assert_eq!(tasks, 0, "the overtaken attempt is settled");
    sleep(millis(2_000)).await;
    assert_eq!(bench.replica("A").breaker().snapshot().tally, Tally { calls: 1, failures: 0, slow: 0 });
}

/// In a pool with few calls nobody else may ask the rival's replica for long: what it would have answered is not known.
#[tokio::test(start_paused = true)]
async fn a_rival_that_was_overtaken_before_it_was_slow_counts_for_nothing() {
    for (slow, failures) in [(99, 0), (149, 1)] {
        let bench = Bench::new(&["A", "B", "C"], HEDGE).await;
        bench.world.set("A", Remote::Slow(millis(slow)));
        for rival in ["B", "C"] {
            bench.world.set(rival, Remote::Hangs);
        }
        bench.gateway.hold();
        assert_eq!(bench.call().await.unwrap(), "A", "{slow}");
        settle().await;
        let under_way = bench.pool.snapshot().background_tasks;
        assert_eq!(under_way, failures, "B has waited for {} ms", slow - 50);
        sleep(millis(2_000)).await;
        assert_eq!(bench.tally("B").failures as usize, failures, "{slow}");
        assert_eq!(bench.tally("C"), Tally::default(), "{slow}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_overtaken_attempt_still_waits_in_the_eyes_of_suspicion() {
    let settings = r#"{ "replicaPool": { "order": "listed", "hedgeAfter": "PT0.01S", "suspectAfter": "PT0.1S", "attemptTimeout": "PT1S" } }"#;
    let bench = Bench::new(&["A", "B"], settings).await;
    bench.world.set("A", Remote::Hangs);
    assert_eq!(bench.call().await.unwrap(), "B");
    assert_eq!(bench.order(), ["A", "B"]);
    sleep(millis(90)).await;
    assert_eq!(bench.order(), ["B", "A"]);
}

#[tokio::test(start_paused = true)]
async fn an_overtaken_attempt_gives_its_half_open_place_back() {
    let settings = r#"{ "circuitBreaker": { "failureThreshold": 1, "testDelay": "PT10S", "successThreshold": 1 },
        "replicaPool": { "order": "listed", "hedgeAfter": "PT0.05S", "attemptTimeout": "PT1S", "resetCircuitsOnRefresh": false } }"#;
    let bench = Bench::new(&["A", "B"], settings).await;
    bench.replica("A").breaker().acquire().unwrap().settle(breaker_core::Outcome::Failure);
    sleep(millis(10_000)).await;
    bench.world.set("A", Remote::Hangs);
    assert_eq!(bench.call().await.unwrap(), "B", "A is on trial, and overtaken");
    assert!(bench.replica("A").breaker().status().full);
    sleep(millis(950)).await;
    settle().await;
    assert_eq!(
        bench.replica("A").breaker().state().circuit(),
        Circuit::Open,
        "the trial failed at its time-out"
    );
}

#[tokio::test(start_paused = true)]
async fn rivals_are_bounded_by_a_tenth_of_the_calls() {
    let bench = Bench::new(&["A", "B"], HEDGE).await;
    bench.world.set("A", Remote::Slow(millis(100)));
    for _ in 0..1_000 {
        bench.call().await.unwrap();
    }
    // Ten at first, and one for each ten calls.
    assert_eq!(bench.world.visits_to("B"), 110);
}

/// Though it has waited for longer than a dropped call may.
#[tokio::test(start_paused = true)]
async fn a_rival_that_was_overtaken_late_but_before_it_was_slow_counts_for_nothing() {
    let settings = r#"{ "replicaPool": { "order": "listed", "hedgeAfter": "PT2S", "abandonedCallIsFailureAfter": "PT1S" } }"#;
    let bench = Bench::new(&["A", "B"], settings).await;
    bench.world.set("A", Remote::Slow(millis(3_500)));
    bench.world.set("B", Remote::Hangs);
    assert_eq!(bench.call().await.unwrap(), "A");
    sleep(millis(10_000)).await;
    assert_eq!((bench.world.visits(), bench.tally("B")), (vec!["A", "B"], Tally::default()));
}

/// However late the answer is that speaks for it.
#[tokio::test(start_paused = true)]
async fn an_overtaken_attempt_is_cancelled_by_a_late_answer_too() {
    let settings = r#"{ "replicaPool": { "order": "listed", "hedgeAfter": "PT0.05S", "abandonedCallIsFailureAfter": "PT1S" } }"#;
    let bench = Bench::new(&["A", "B"], settings).await;
    bench.world.set("A", Remote::Hangs);
    assert_eq!(bench.call().await.unwrap(), "B");
    sleep(millis(3_000)).await;
    bench.world.set("A", Remote::Well);
    assert_eq!(bench.call().await.unwrap(), "A");
    sleep(millis(10_000)).await;
    assert_eq!(bench.tally("A"), Tally { calls: 1, failures: 0, slow: 0 });
}
