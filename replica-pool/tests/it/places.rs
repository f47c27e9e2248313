//! Half-open places that are taken for the moment.

use std::time::Duration;

use breaker_core::Circuit;
use replica_pool::{CallError, Verdict};

use crate::kit::{Bench, Remote, millis, secs, stopwatch};

/// `A` and `B`, in this order. The circuit of `A` is half-open with one place; `B` behaves like `other`.
async fn with_one_place(other: Remote, pool: &str) -> Bench {
    let settings = format!(
        r#"{{ "circuitBreaker": {{ "failureThreshold": 1, "testDelay": "PT0S", "successThreshold": 1 }},
        "replicaPool": {{ "order": "listed", "attemptTimeout": "PT1S", "resetCircuitsOnRefresh": false {pool} }} }}"#
    );
    let bench = Bench::new(&["A", "B"], &settings).await;
    bench.fail("A");
    bench.world.set("B", other);
    bench
}

/// The same, with a gateway that does not answer, so that there is no second pass.
async fn with_one_pass(other: Remote, pool: &str) -> Bench {
    let bench = with_one_place(other, pool).await;
    bench.gateway.hold();
    bench
}

/// A circuit whose places are taken refuses a call that others fail afterwards: by then it has places again. Where `B` is marked, it
/// is asked after `A` has refused, and else before anybody asks `A`.
#[tokio::test(start_paused = true)]
async fn who_had_no_place_is_asked_after_the_others_have_failed() {
    for marked in [false, true] {
        let bench = with_one_pass(Remote::Hangs, "").await;
        if marked {
            bench.mark("B");
        }
        let taken = bench.begin("A");
        let mut call = Box::pin(bench.call());
        assert!(futures::poll!(&mut call).is_pending());
        assert_eq!(bench.world.visits(), ["B"]);
        taken.finish(&Verdict::SUCCESS);
        let elapsed = stopwatch();
        assert_eq!(call.await.unwrap(), "A");
        assert_eq!(elapsed(), secs(1), "B hung for as long as an attempt may");
        assert_eq!(bench.world.visits(), ["B", "A"]);
    }
}

/// Wherever it stood among those who were tried; and nobody else is asked twice.
#[tokio::test(start_paused = true)]
async fn only_who_had_no_place_is_asked_again() {
    for a in [Remote::Well, Remote::Fails] {
        let settings = r#"{ "circuitBreaker": { "failureThreshold": 1, "testDelay": "PT0S", "successThreshold": 1 },
            "replicaPool": { "order": "listed", "attemptTimeout": "PT1S", "deadline": "PT5S" } }"#;
        let bench = Bench::new(&["A", "B", "C"], settings).await;
        bench.gateway.hold();
        bench.fail("A");
        bench.mark("B");
        for (address, remote) in [("A", a), ("B", Remote::Hangs), ("C", Remote::Fails)] {
            bench.world.set(address, remote);
        }
        let taken = bench.begin("A");
        let mut call = Box::pin(bench.call());
        assert!(futures::poll!(&mut call).is_pending());
        assert_eq!(bench.world.visits(), ["C", "B"]);
        taken.finish(&Verdict::SUCCESS);
        assert_eq!(call.await.is_ok(), a == Remote::Well);
        assert_eq!(bench.world.visits(), ["C", "B", "A"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_place_is_waited_for_when_the_others_fail_at_once() {
    for hedge in ["", r#", "hedgeAfter": "PT0.1S" "#] {
        let bench = with_one_pass(Remote::Refuses, hedge).await;
        let taken = bench.begin("A");
        let mut call = Box::pin(bench.call());
        assert!(futures::poll!(&mut call).is_pending(), "{hedge}");
        let elapsed = stopwatch();
        taken.finish(&Verdict::SUCCESS);
        assert_eq!(call.await.unwrap(), "A");
        assert_eq!((bench.world.visits(), elapsed()), (vec!["B", "A"], Duration::ZERO), "{hedge}");
    }
}

/// Three calls and one place: whoever is too late waits for the next return.
#[tokio::test(start_paused = true)]
async fn who_waits_for_a_place_shares_it_with_the_others_who_do() {
    let bench = with_one_pass(Remote::Refuses, "").await;
    let taken = bench.begin("A");
    let mut calls = Vec::from_iter((0..3).map(|_| Box::pin(bench.call())));
    for call in &mut calls {
        assert!(futures::poll!(call).is_pending());
    }
    let elapsed = stopwatch();
    drop(taken);
    for answer in futures::future::join_all(calls).await {
        assert_eq!(answer.unwrap(), "A");
    }
    assert_eq!((bench.circuit("A"), elapsed()), (Circuit::Closed, Duration::ZERO));
}

/// `startupWait` is for the whole call: after it the addresses are asked for, and the second pass waits no more.
#[tokio::test(start_paused = true)]
async fn a_place_is_waited_for_no_longer_than_the_settings_say() {
    for (wait, expected) in [("PT1S", secs(1)), ("PT0.3S", millis(300)), ("PT0S", Duration::ZERO)] {
        let bench = with_one_place(Remote::Fails, &format!(r#", "startupWait": "{wait}" "#)).await;
        let _taken = bench.begin("A");
        let elapsed = stopwatch();
        let failed = bench.call().await.unwrap_err();
        assert!(matches!(failed, CallError::Exhausted { attempts: 2, .. }), "{failed:?}");
        assert_eq!((bench.world.visits(), elapsed()), (vec!["B", "B"], expected));
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_bounds_the_wait_for_a_place() {
    let bench = with_one_place(Remote::Refuses, r#", "deadline": "PT0.2S" "#).await;
    let _taken = bench.begin("A");
    let elapsed = stopwatch();
    bench.call().await.unwrap_err();
    assert_eq!(elapsed(), millis(200));
}

/// No place comes back to a circuit that is open, or for a call that may make no more attempts.
#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_place_in_vain() {
    let bench = with_one_place(Remote::Refuses, "").await;
    bench.fail("A");
    bench.replica("A").breaker().force_open();
    let elapsed = stopwatch();
    bench.call().await.unwrap_err();
    assert_eq!((bench.world.visits(), elapsed()), (vec!["B", "B"], Duration::ZERO), "an open circuit");

    let bench = with_one_place(Remote::Refuses, r#", "maxAttempts": 1 "#).await;
    let _taken = bench.begin("A");
    let elapsed = stopwatch();
    bench.call().await.unwrap_err();
    assert_eq!((bench.world.visits(), elapsed()), (vec!["B"], Duration::ZERO), "no more attempts");
}

/// A circuit that opens while a call waits for its place.
#[tokio::test(start_paused = true)]
async fn the_wait_for_a_place_ends_when_the_trial_fails() {
    let settings = r#"{ "circuitBreaker": { "failureThreshold": 1, "testDelay": "PT20S", "successThreshold": 1 },
        "replicaPool": { "order": "listed", "attemptTimeout": "PT1S", "resetCircuitsOnRefresh": false } }"#;
    let bench = Bench::new(&["A", "B"], settings).await;
    bench.world.set("B", Remote::Refuses);
    bench.fail("A");
    tokio::time::advance(secs(20)).await;
    let taken = bench.begin("A");
    let mut call = Box::pin(bench.call());
    assert!(futures::poll!(&mut call).is_pending());
    let elapsed = stopwatch();
    taken.finish(&Verdict::FAILURE);
    let failed = call.await.unwrap_err();
    assert!(matches!(failed, CallError::Exhausted { .. }), "{failed:?}");
    assert_eq!(elapsed(), Duration::ZERO);
}

/// Addresses that come while a call waits are better than waiting.
#[tokio::test(start_paused = true)]
async fn who_waits_for_a_place_goes_on_to_new_addresses() {
    let bench = with_one_place(Remote::Refuses, "").await;
    bench.gateway.names(&["A", "B", "C"]);
    bench.gateway.takes(millis(400));
    let _taken = bench.begin("A");
    let elapsed = stopwatch();
    assert_eq!(bench.call().await.unwrap(), "C");
    assert_eq!((bench.world.visits(), elapsed()), (vec!["B", "C"], millis(400)));
}
