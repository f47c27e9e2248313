//! Section 7 of the rules, as callers see it.

use breaker_core::{Circuit, Mode};
use replica_pool::{AllOpen, CallError, HealthStatus, Verdict};
use tokio::time::{advance, sleep};

use crate::kit::{Bench, Remote, Trouble, judge, millis, secs, stopwatch};

const FRAGILE: &str = r#"{ "circuitBreaker": { "failureThreshold": 1, "successThreshold": 1, "testDelay": "PT20S" },
    "replicaPool": { "order": "listed", "resetCircuitsOnRefresh": false } }"#;

fn with_trials(ratio: f64) -> String {
    format!(
        r#"{{ "circuitBreaker": {{ "failureThreshold": 1, "successThreshold": 1000, "testDelay": "PT20S" }},
        "replicaPool": {{ "trialRatio": {ratio}, "resetCircuitsOnRefresh": false }} }}"#
    )
}

fn least_bad(also: &str) -> String {
    format!(
        r#"{{ "circuitBreaker": {{ "failureThreshold": 1, "testDelay": "PT20S" }},
        "replicaPool": {{ "whenAllOpen": "tryLeastBad", "resetCircuitsOnRefresh": false {also} }} }}"#
    )
}

#[tokio::test(start_paused = true)]
async fn who_asks_for_all_gets_all_the_bad_ones_last() {
    let all = ["forced", "later", "sooner", "unhealthy", "full", "trial", "closed"];
    let bench = Bench::new(&all, FRAGILE).await;
    bench.fail("full");
    bench.fail("trial");
    advance(secs(20)).await;
    let _place = bench.begin("full");
    bench.fail("sooner");
    advance(secs(1)).await;
    bench.fail("later");
    bench.gateway.hold();
    let (refused, unhealthy) = (Verdict::UNREACHABLE, bench.begin("unhealthy"));
    bench.replica("unhealthy").breaker().disable();
    unhealthy.finish(&refused);
    bench.replica("forced").breaker().force_open();
    let order = ["trial", "closed", "full", "unhealthy", "sooner", "later", "forced"];
    assert_eq!(bench.order(), order);
    for n in 0..=8 {
        let some = bench.pool.select(n);
        let some: Vec<_> = some.iter().map(|candidate| *candidate.replica().address()).collect();
        assert_eq!(some, order[..n.min(7)]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_look_changes_nothing_not_even_what_is_due() {
    let bench = Bench::new(&["A", "B"], FRAGILE).await;
    bench.fail("B");
    advance(secs(25)).await;
    let before = bench.replica("B").breaker().snapshot();
    for _ in 0..100 {
        assert_eq!(bench.order(), ["A", "B"]);
    }
    let after = bench.replica("B").breaker().snapshot();
    assert_eq!((before.epoch, before.since), (after.epoch, after.since));
    assert_eq!(bench.circuit("B"), Circuit::HalfOpen, "it is due, and reads so");
}

#[tokio::test(start_paused = true)]
async fn a_half_open_server_of_a_list_is_asked_in_its_place() {
    let bench = Bench::new(&["A", "B"], FRAGILE).await;
    bench.fail("A");
    assert_eq!(bench.call().await.unwrap(), "B");
    advance(secs(20)).await;
    assert_eq!(bench.call().await.unwrap(), "A");
    assert_eq!(bench.circuit("A"), Circuit::Closed, "one success was asked for");
}

#[tokio::test(start_paused = true)]
async fn a_half_open_replica_gets_one_request_in_ten() {
    fastrand::seed(1);
    let bench = Bench::new(&["A", "B", "C"], &with_trials(0.1)).await;
    bench.fail("A");
    advance(secs(20)).await;
    bench.calls(900).await;
    let trials = bench.world.visits_to("A");
    assert!((70..=110).contains(&trials), "{trials} of 900");
    assert_eq!(bench.circuit("A"), Circuit::HalfOpen);
}

#[tokio::test(start_paused = true)]
async fn without_trials_a_half_open_replica_waits_until_the_others_fail() {
    let bench = Bench::new(&["A", "B"], &with_trials(0.0)).await;
    bench.fail("A");
    advance(secs(20)).await;
    bench.calls(100).await;
    assert_eq!(bench.world.visits_to("A"), 0);
    bench.world.set("B", Remote::Fails);
    assert_eq!(bench.call().await.unwrap(), "A");
}

#[tokio::test(start_paused = true)]
async fn a_trial_that_fails_opens_the_circuit_and_the_request_goes_on_to_another_replica() {
    let bench = Bench::new(&["A", "B"], &with_trials(1.0)).await;
    bench.gateway.hold();
    bench.world.set("A", Remote::Refuses);
    bench.fail("A");
    advance(secs(20)).await;
    assert_eq!(bench.circuit("A"), Circuit::HalfOpen);
    // Not even idempotent: it was refused, so it was not sent.
    let call = bench.pool.request().judge(judge).call(bench.body()).await;
    assert_eq!(call.unwrap(), "B");
    assert_eq!(bench.world.visits(), ["A", "B"]);
    let until = bench.replica("A").breaker().status().until.unwrap();
    let now = bench.replica("A").breaker().clock().now();
    assert_eq!((bench.circuit("A"), until.since(now)), (Circuit::Open, secs(20)));
}

#[tokio::test(start_paused = true)]
async fn when_all_are_open_the_error_names_each_with_the_soonest_retry() {
    let bench = Bench::new(&["A", "B", "C"], FRAGILE).await;
    bench.fail("A");
    advance(secs(5)).await;
    bench.fail("B");
    bench.replica("C").breaker().force_open();
    advance(secs(3)).await;
    let CallError::AllOpen(all_open) = bench.call().await.unwrap_err() else { panic!() };
    let names: Vec<_> = all_open.replicas.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["A", "B", "C"]);
    assert_eq!(all_open.retry_after, Some(secs(12)));
    let now = bench.replica("A").breaker().clock().now();
    assert_eq!(all_open.retry_at, Some(now + secs(12)));
    assert_eq!(
        all_open.to_string(),
        "no circuit admits a call for another 12s: A: the circuit is open, B: the circuit is open, \
         C: the circuit is forced open"
    );
    assert_eq!(bench.world.visits().len(), 0);
    advance(secs(12)).await;
    assert_eq!(bench.call().await.unwrap(), "A");
}

#[tokio::test(start_paused = true)]
async fn calls_that_find_all_circuits_open_ask_the_gateway_once() {
    let bench = Bench::new(&["A"], FRAGILE).await;
    bench.gateway.hold();
    bench.fail("A");
    for _ in 0..100 {
        assert!(matches!(bench.call().await, Err(CallError::AllOpen(_))));
    }
    tokio::task::yield_now().await;
    assert_eq!(bench.gateway.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_least_bad_is_tried_once_without_its_circuit_hearing_of_it() {
    let bench = Bench::new(&["A", "B", "C"], &least_bad("")).await;
    bench.gateway.hold();
    bench.fail("B");
    advance(secs(1)).await;
    bench.fail("A");
    bench.replica("C").breaker().force_open();
    let before = bench.replica("B").breaker().snapshot();
    for (remote, health) in
        [(Remote::Well, HealthStatus::Connected), (Remote::Refuses, HealthStatus::Unhealthy)]
    {
        bench.world.forget_visits();
        bench.world.set("B", remote);
        let call = bench.call().await;
        assert_eq!(call.is_ok(), remote == Remote::Well);
        assert_eq!(bench.world.visits(), ["B"], "the one to be tried soonest, once");
        assert_eq!(bench.health("B"), health);
    }
    let after = bench.replica("B").breaker().snapshot();
    assert_eq!((before.epoch, before.tally, before.stale), (after.epoch, after.tally, after.stale));
    assert_eq!(bench.circuit("B"), Circuit::Open);
}

#[tokio::test(start_paused = true)]
async fn the_least_bad_that_fails_ends_the_call_with_its_error() {
    let bench = Bench::new(&["A"], &least_bad("")).await;
    bench.fail("A");
    bench.world.set("A", Remote::Fails);
    let failed = bench.call().await.unwrap_err();
    assert!(
        matches!(failed, CallError::Exhausted { attempts: 1, source: Some(Trouble::Overloaded), .. }),
        "{failed:?}"
    );
    assert_eq!(bench.world.visits(), ["A"]);
    let failed = bench.pool.request().judge(judge).call(bench.body()).await.unwrap_err();
    assert!(matches!(failed, CallError::Remote { source: Trouble::Overloaded, .. }), "{failed:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_person_forced_open_is_not_tried_whatever_the_settings() {
    let bench = Bench::new(&["A", "B"], &least_bad(r#", "order": "listed" "#)).await;
    for forced in ["A", "B"] {
        bench.replica(forced).breaker().force_open();
    }
    let failed = bench.call().await.unwrap_err();
    let CallError::AllOpen(AllOpen { retry_at, retry_after, .. }) = &failed else { panic!("{failed:?}") };
    assert_eq!((*retry_at, *retry_after), (None, None));
    assert_eq!(
        failed.to_string(),
        "no circuit admits a call: A: the circuit is forced open, B: the circuit is forced open"
    );
    assert_eq!(bench.world.visits().len(), 0);
    bench.replica("B").breaker().release();
    assert_eq!(bench.replica("B").breaker().mode(), Mode::Automatic);
    assert_eq!(bench.call().await.unwrap(), "B");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_finds_only_taken_places_waits_for_one_for_a_second_at_most() {
    let bench = Bench::new(&["A"], FRAGILE).await;
    bench.fail("A");
    advance(secs(20)).await;
    let place = bench.begin("A");
    let CallError::AllOpen(all_open) = bench.call().await.unwrap_err() else { panic!() };
    assert_eq!(
        all_open.to_string(),
        "no circuit admits a call for another 59s: A: the circuit is half-open and its places are taken"
    );
    let elapsed = stopwatch();
    let (answer, ()) = futures::join!(bench.call(), async {
        sleep(millis(500)).await;
        place.finish(&Verdict::SUCCESS);
    });
    assert_eq!((answer.unwrap(), elapsed()), ("A", millis(500)));
}

#[tokio::test(start_paused = true)]
async fn a_disabled_circuit_orders_and_admits_as_a_closed_one() {
    let bench = Bench::new(&["A", "B"], FRAGILE).await;
    bench.fail("A");
    bench.replica("A").breaker().disable();
    assert_eq!(bench.order(), ["A", "B"]);
    assert_eq!(bench.call().await.unwrap(), "A");
}

#[tokio::test(start_paused = true)]
async fn of_many_calls_that_wait_for_one_place_each_gets_it_in_turn() {
    let settings = r#"{ "circuitBreaker": { "failureThreshold": 1, "successThreshold": 1000, "testDelay": "PT20S" },
        "replicaPool": { "order": "listed", "resetCircuitsOnRefresh": false } }"#;
    let bench = Bench::new(&["A"], settings).await;
    bench.fail("A");
    advance(secs(20)).await;
    let places: Vec<_> = (0..999).map(|_| bench.begin("A")).collect();
    bench.world.set("A", Remote::Slow(millis(10)));
    let elapsed = stopwatch();
    let answers = futures::future::join_all((0..50).map(|_| bench.call())).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(elapsed(), millis(500));
    drop(places);
}

/// The second pass of a call is not its first attempt.
#[tokio::test(start_paused = true)]
async fn a_retry_is_no_trial() {
    let settings = r#"{ "circuitBreaker": { "failureThreshold": 1, "testDelay": "PT0S" },
        "replicaPool": { "trialRatio": 1, "resetCircuitsOnRefresh": false } }"#;
    let bench = Bench::new(&["A", "B"], settings).await;
    bench.fail("A");
    assert_eq!(bench.order()[0], "A", "half-open, and always tried first");
    bench.gateway.names(&["B"]);
    bench.pool.refresh().await.unwrap();
    bench.world.set("B", Remote::Fails);
    bench.gateway.names(&["A", "B", "C"]);
    assert_eq!(bench.call().await.unwrap(), "C");
    assert_eq!(bench.world.visits(), ["B", "C"]);
}
