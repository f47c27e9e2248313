//! Section 6 of the rules: what a call, the gateway and time do to a replica's health.

use replica_pool::{HealthStatus, Signal, Verdict};
use tokio::time::{advance, sleep};

use crate::kit::{Answer, Bench, Remote, millis, secs, settle};

const LISTED: &str = r#"{ "replicaPool": { "order": "listed" } }"#;
const VALIDATING: &str = r#"{ "replicaPool": { "order": "listed", "validation": { "enabled": true }, "attemptTimeout": "PT5M" } }"#;

#[tokio::test(start_paused = true)]
async fn what_a_call_finds_is_what_the_replica_is() {
    let rows = [
        (Remote::Well, HealthStatus::Connected),
        (Remote::Slow(secs(4)), HealthStatus::Connected),
        (Remote::Refuses, HealthStatus::Unhealthy),
        (Remote::Resets, HealthStatus::Unhealthy),
        (Remote::Hangs, HealthStatus::Unhealthy),
        (Remote::SaysGone, HealthStatus::Unhealthy),
        (Remote::Fails, HealthStatus::Unknown),
    ];
    for (remote, expected) in rows {
        let bench = Bench::new(&["R1"], LISTED).await;
        bench.gateway.answer(Answer::Fails);
        bench.world.set("R1", remote);
        let call = bench.pool.request().max_attempts(1).judge(crate::kit::judge).call(bench.body()).await;
        assert_eq!(call.is_ok(), expected == HealthStatus::Connected, "{remote:?}");
        assert_eq!(bench.health("R1"), expected, "{remote:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_connected_replica_that_only_fails_to_do_its_work_stays_connected() {
    let bench = Bench::new(&["R1"], LISTED).await;
    bench.call().await.unwrap();
    bench.fail("R1");
    assert_eq!(bench.health("R1"), HealthStatus::Connected);
}

#[tokio::test(start_paused = true)]
async fn an_answer_resets_a_mark_to_unknown_or_to_pending_where_validation_is_on() {
    for (settings, expected) in
        [(LISTED, HealthStatus::Unknown), (VALIDATING, HealthStatus::UnhealthyPending)]
    {
        let bench = Bench::new(&["R1", "R2"], settings).await;
        bench.call().await.unwrap();
        bench.world.set("R2", Remote::Hangs);
        bench.gateway.hold();
        bench.mark("R2");
        settle().await;
        assert_eq!(bench.health("R2"), HealthStatus::Unhealthy);
        bench.gateway.release();
        settle().await;
        assert_eq!(bench.health("R2"), expected);
        assert_eq!(bench.health("R1"), HealthStatus::Connected, "an answer changes nothing about the others");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_minute_a_mark_reads_as_unknown_and_until_then_the_gateway_is_asked_with_growing_pauses() {
    let bench = Bench::new(&["R1", "R2"], LISTED).await;
    bench.gateway.answer(Answer::Fails);
    bench.mark("R1");
    settle().await;
    assert_eq!(bench.gateway.asked(), 2, "at the start, and for the mark");
    sleep(millis(59_000)).await;
    assert_eq!(bench.order(), ["R2", "R1"]);
    // After 1, 2, 4, 8 and then 15 s again and again, each a fifth more or less.
    assert!((7..=10).contains(&bench.gateway.asked()), "{}", bench.gateway.asked());
    sleep(millis(1_000)).await;
    assert_eq!(bench.order(), ["R1", "R2"]);
    assert_eq!(bench.health("R1"), HealthStatus::Unhealthy, "a read changes nothing");
    assert_eq!(bench.call().await.unwrap(), "R1");
    assert_eq!(bench.health("R1"), HealthStatus::Connected);
}

#[tokio::test(start_paused = true)]
async fn a_look_up_that_finds_a_mark_of_a_minute_asks_at_once() {
    let bench = Bench::new(&["R1", "R2"], LISTED).await;
    bench.gateway.answer(Answer::Hangs);
    bench.mark("R1");
    // Two questions of 30 s without an answer, and the pauses behind them.
    sleep(secs(75)).await;
    bench.gateway.names(&["R2", "R3"]);
    assert_eq!(bench.order(), ["R1", "R2"]);
    sleep(secs(31)).await;
    assert_eq!(bench.addresses(), ["R2", "R3"]);
}

#[tokio::test(start_paused = true)]
async fn the_minute_is_a_setting() {
    let settings = r#"{ "replicaPool": { "order": "listed", "unhealthyTimeout": "PT3S" } }"#;
    let bench = Bench::new(&["R1", "R2"], settings).await;
    bench.gateway.answer(Answer::Fails);
    bench.mark("R1");
    advance(millis(2_999)).await;
    assert_eq!(bench.order(), ["R2", "R1"]);
    advance(millis(1)).await;
    assert_eq!(bench.order(), ["R1", "R2"]);
}

#[tokio::test(start_paused = true)]
async fn pending_is_between_good_and_bad_and_ends_after_a_minute() {
    let bench = Bench::new(&["R1", "R2", "R3"], VALIDATING).await;
    bench.world.set("R1", Remote::Hangs);
    bench.mark("R1");
    settle().await;
    assert_eq!(bench.health("R1"), HealthStatus::UnhealthyPending);
    bench.gateway.answer(Answer::Fails);
    bench.mark("R2");
    assert_eq!(bench.order(), ["R3", "R1", "R2"]);
    advance(millis(59_999)).await;
    assert_eq!(bench.order(), ["R3", "R1", "R2"]);
    settle().await;
    let asked = bench.gateway.asked();
    advance(millis(1)).await;
    assert_eq!(bench.order(), ["R1", "R2", "R3"]);
    bench.call().await.unwrap_err();
    settle().await;
    assert!(bench.gateway.asked() > asked, "for R2, which was bad for a minute");
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_is_pending_for_too_long_is_no_reason_to_ask() {
    let bench = Bench::new(&["R1", "R2"], VALIDATING).await;
    bench.world.set("R1", Remote::Hangs);
    bench.mark("R1");
    settle().await;
    advance(secs(60)).await;
    let asked = bench.gateway.asked();
    assert_eq!(bench.order(), ["R1", "R2"]);
    settle().await;
    assert_eq!(bench.gateway.asked(), asked);
}

#[tokio::test(start_paused = true)]
async fn a_success_of_before_the_mark_does_not_lift_it_and_one_of_after_it_does() {
    let bench = Bench::new(&["R1"], LISTED).await;
    bench.gateway.answer(Answer::Fails);
    let early = bench.begin("R1");
    bench.mark("R1");
    let late = bench.begin("R1");
    early.finish(&Verdict::SUCCESS);
    assert_eq!(bench.health("R1"), HealthStatus::Unhealthy);
    late.finish(&Verdict::SUCCESS);
    assert_eq!(bench.health("R1"), HealthStatus::Connected);
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_before_the_answer_neither_marks_nor_asks() {
    let bench = Bench::new(&["R1"], LISTED).await;
    let (first, second) = (bench.begin("R1"), bench.begin("R1"));
    first.finish(&Verdict::UNREACHABLE);
    settle().await;
    assert_eq!((bench.health("R1"), bench.gateway.asked()), (HealthStatus::Unknown, 2));
    second.finish(&Verdict::UNREACHABLE);
    sleep(secs(20)).await;
    assert_eq!((bench.health("R1"), bench.gateway.asked()), (HealthStatus::Unknown, 2));
    bench.mark("R1");
    sleep(secs(20)).await;
    assert_eq!(bench.gateway.asked(), 3, "one that began after the answer is news");
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_before_a_recovery_does_not_mark_again() {
    let bench = Bench::new(&["R1"], LISTED).await;
    bench.gateway.answer(Answer::Fails);
    let late = bench.begin("R1");
    bench.mark("R1");
    bench.begin("R1").finish(&Verdict::SUCCESS);
    late.finish(&Verdict::UNREACHABLE);
    assert_eq!(bench.health("R1"), HealthStatus::Connected);
}

#[tokio::test(start_paused = true)]
async fn failures_during_a_question_outlive_its_answer_and_queue_one_more() {
    let bench = Bench::new(&["R1", "R2", "R3"], LISTED).await;
    bench.gateway.hold();
    bench.mark("R1");
    settle().await;
    advance(millis(10)).await;
    for newer in ["R2", "R3", "R2", "R3"] {
        bench.mark(newer);
    }
    bench.gateway.release();
    settle().await;
    assert_eq!(bench.health("R1"), HealthStatus::Unknown, "it failed before the question");
    assert_eq!(bench.health("R2"), HealthStatus::Unhealthy);
    assert_eq!(bench.health("R3"), HealthStatus::Unhealthy);
    sleep(secs(40)).await;
    assert_eq!(bench.gateway.asked(), 3, "at the start, for R1, and once for all that failed meanwhile");
    assert_eq!(bench.health("R2"), HealthStatus::Unknown);
    assert_eq!(bench.health("R3"), HealthStatus::Unknown);
}

#[tokio::test(start_paused = true)]
async fn failures_that_a_question_waits_for_are_answered_by_it() {
    let bench = Bench::new(&["R1", "R2"], LISTED).await;
    bench.mark("R1");
    settle().await;
    bench.mark("R1");
    settle().await;
    assert_eq!(bench.gateway.asked(), 2, "the next one waits, since the last changed nothing");
    bench.mark("R2");
    sleep(secs(40)).await;
    assert_eq!(bench.gateway.asked(), 3);
    assert_eq!(bench.health("R2"), HealthStatus::Unknown);
}

#[tokio::test(start_paused = true)]
async fn failing_again_does_not_make_the_minute_longer_but_failing_after_it_begins_another() {
    let bench = Bench::new(&["R1", "R2"], LISTED).await;
    bench.gateway.answer(Answer::Fails);
    bench.mark("R1");
    advance(secs(50)).await;
    bench.mark("R1");
    assert_eq!(bench.order(), ["R2", "R1"]);
    advance(secs(10)).await;
    assert_eq!(bench.order(), ["R1", "R2"]);
    bench.mark("R1");
    advance(millis(59_999)).await;
    assert_eq!(bench.order(), ["R2", "R1"]);
    advance(millis(1)).await;
    assert_eq!(bench.order(), ["R1", "R2"]);
}

#[tokio::test(start_paused = true)]
async fn a_gateway_that_failed_is_asked_again_until_the_lost_replica_is_found_without_any_call() {
    let bench = Bench::new(&["R1", "R2"], LISTED).await;
    bench.gateway.answer(Answer::Fails);
    bench.mark("R1");
    sleep(secs(300)).await;
    bench.gateway.names(&["R1", "R2"]);
    bench.world.set("R1", Remote::Refuses);
    // The pauses grow to 15 s, a fifth more or less.
    sleep(secs(18)).await;
    assert_eq!(bench.health("R1"), HealthStatus::Unknown);
    let asked = bench.gateway.asked();
    sleep(secs(300)).await;
    assert_eq!(bench.gateway.asked(), asked, "nothing is lost, so nothing is asked");
}

#[tokio::test(start_paused = true)]
async fn a_replica_whose_circuit_stays_open_is_looked_for_although_no_call_goes_there() {
    let settings = r#"{ "circuitBreaker": { "failureThreshold": 1, "testDelay": "PT1H" },
        "replicaPool": { "order": "listed", "resetCircuitsOnRefresh": false } }"#;
    let bench = Bench::new(&["R1", "R2"], settings).await;
    bench.world.set("R1", Remote::Refuses);
    assert_eq!(bench.call().await.unwrap(), "R2");
    sleep(secs(20)).await;
    // The gateway has learnt of the new address only now.
    bench.gateway.names(&["R2", "R3"]);
    sleep(secs(18)).await;
    assert_eq!(bench.addresses(), ["R2", "R3"]);
}

/// The outcome is for the circuit, and the signal for the address.
#[tokio::test(start_paused = true)]
async fn an_answer_can_be_good_and_say_that_its_replica_is_leaving() {
    let bench = Bench::new(&["A", "B"], "{}").await;
    bench.gateway.hold();
    bench.begin("A").finish(&Verdict::SUCCESS.signal(Signal::ReplicaGone));
    assert_eq!((bench.health("A"), bench.tally("A").failures), (HealthStatus::Unhealthy, 0));
    bench.begin("B").finish(&Verdict::SUCCESS.signal(Signal::Splitting));
    assert_eq!(bench.health("B"), HealthStatus::Connected);
}
