//! Section 8 of the rules: when addresses are asked for, and what an answer does.

use std::time::Duration;

use breaker_core::Circuit;
use replica_pool::HealthStatus;
use tokio::time::{advance, sleep};

use crate::kit::{Answer, Bench, Remote, secs, settle, stopwatch};

const FOUR: [&str; 4] = ["R1", "R2", "R3", "R4"];

#[tokio::test(start_paused = true)]
async fn a_bad_replica_is_last_from_its_failure_until_the_gateway_answers() {
    let bench = Bench::new(&FOUR, "{}").await;
    bench.gateway.hold();
    bench.world.set("R2", Remote::SaysGone);
    bench.visit("R2").await;
    settle().await;
    assert_eq!(bench.replica("R2").health(), HealthStatus::Unhealthy);
    assert_eq!(bench.gateway.asked(), 2, "one at the start, one for the mark");
    for _ in 0..290 {
        assert_eq!(bench.order()[3], "R2");
        bench.call().await.unwrap();
        advance(Duration::from_millis(100)).await;
    }
    assert_eq!(bench.world.visits_to("R2"), 1);
    bench.gateway.names(&["R1", "R3", "R4", "R5"]);
    bench.gateway.release();
    settle().await;
    assert_eq!(bench.addresses(), ["R1", "R3", "R4", "R5"]);
    assert_eq!(bench.replica("R5").health(), HealthStatus::Unknown);
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_never_returns_holds_a_replica_back_for_a_minute_at_most() {
    let bench = Bench::new(&FOUR, "{}").await;
    bench.gateway.answer(Answer::Hangs);
    bench.world.set("R2", Remote::SaysGone);
    bench.visit("R2").await;
    bench.world.set("R2", Remote::Well);
    bench.world.forget_visits();
    advance(secs(59)).await;
    bench.calls(100).await;
    assert_eq!(bench.world.visits_to("R2"), 0);
    advance(secs(1)).await;
    bench.calls(100).await;
    assert!(bench.world.visits_to("R2") > 0);
    assert_eq!(bench.replica("R2").health(), HealthStatus::Connected);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_look_ups_with_one_bad_replica_cause_one_refresh_and_one_validation() {
    let bench = Bench::new(&FOUR, r#"{ "replicaPool": { "validation": { "enabled": true } } }"#).await;
    bench.gateway.takes(secs(1));
    bench.world.set("R2", Remote::SaysGone);
    bench.visit("R2").await;
    bench.world.set("R2", Remote::Slow(secs(1)));
    let look_ups = futures::future::join_all((0..1000).map(|_| bench.call())).await;
    assert!(look_ups.iter().all(Result::is_ok));
    assert_eq!(bench.world.visits_to("R2"), 1);
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(bench.gateway.asked(), 2);
    assert_eq!(bench.world.opened(), ["R2"]);
    assert_eq!(bench.replica("R2").health(), HealthStatus::UnhealthyPending);
    sleep(secs(1)).await;
    assert_eq!(bench.replica("R2").health(), HealthStatus::Connected);
    assert_eq!((bench.gateway.asked(), bench.world.opened().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn with_validation_twenty_reads_during_a_held_refresh_visit_the_bad_replica_once() {
    let bench = Bench::new(&FOUR, r#"{ "replicaPool": { "validation": { "enabled": true } } }"#).await;
    bench.gateway.hold();
    bench.world.set("R2", Remote::Refuses);
    bench.calls(20).await;
    let visited = bench.world.visits_to("R2");
    assert!(visited <= 1, "{:?} {:?}", bench.world.visits(), bench.replica("R2"));
    bench.visit("R2").await;
    bench.world.forget_visits();
    bench.calls(20).await;
    assert_eq!(bench.world.visits_to("R2"), 0, "it was visited exactly once, before");
    assert_eq!(bench.world.visits().len(), 20);
}

#[tokio::test(start_paused = true)]
async fn transient_failures_and_empty_answers_keep_the_set_and_back_off() {
    let bench = Bench::new(&["R1", "R2"], "{}").await;
    for answer in [Answer::Fails, Answer::Names(vec![]), Answer::NoSuchPartition, Answer::Panics] {
        bench.gateway.answer(answer);
        assert!(bench.pool.refresh().await.is_err());
        assert_eq!(bench.addresses(), ["R1", "R2"]);
    }
    let asked = bench.gateway.asked();
    bench.gateway.names(&["R3"]);
    let elapsed = stopwatch();
    bench.pool.refresh().await.unwrap();
    assert_eq!(bench.gateway.asked(), asked + 1);
    // The fourth pause in a row is 8 s, a fifth more or less.
    assert!((6.4..=9.6).contains(&elapsed().as_secs_f64()), "{:?}", elapsed());
    assert_eq!(bench.addresses(), ["R3"]);
}

#[tokio::test(start_paused = true)]
async fn duplicate_addresses_are_one_replica() {
    let bench = Bench::new(&["R1", "R2", "R1", "R2", "R1"], "{}").await;
    assert_eq!(bench.addresses(), ["R1", "R2"]);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_stays_is_the_same_object_and_one_that_returns_within_a_minute_too() {
    let bench = Bench::new(&["R1", "R2"], "{}").await;
    let (first, second) = (bench.replica("R1"), bench.replica("R2"));
    bench.gateway.names(&["R1", "R3"]);
    bench.pool.refresh().await.unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &bench.replica("R1")));
    advance(secs(50)).await;
    bench.gateway.names(&["R1", "R2"]);
    bench.pool.refresh().await.unwrap();
    assert!(std::sync::Arc::ptr_eq(&second, &bench.replica("R2")), "flapping heals nothing");
    bench.gateway.names(&["R1"]);
    bench.pool.refresh().await.unwrap();
    advance(secs(20)).await;
    bench.gateway.names(&["R1", "R2"]);
    bench.pool.refresh().await.unwrap();
    assert!(std::sync::Arc::ptr_eq(&second, &bench.replica("R2")), "it left 70 s ago, and again 20 s ago");
    bench.gateway.names(&["R1"]);
    bench.pool.refresh().await.unwrap();
    advance(secs(60)).await;
    bench.gateway.names(&["R1", "R2"]);
    bench.pool.refresh().await.unwrap();
    assert!(!std::sync::Arc::ptr_eq(&second, &bench.replica("R2")));
}

#[tokio::test(start_paused = true)]
async fn an_answer_resets_a_circuit_that_opened_before_the_question_and_once_a_minute() {
    let settings = r#"{ "circuitBreaker": { "failureThreshold": 1, "testDelay": "PT10M" } }"#;
    let bench = Bench::new(&["R1", "R2"], settings).await;
    advance(secs(1)).await;
    let trip = || bench.replica("R1").breaker().acquire().unwrap().settle(breaker_core::Outcome::Failure);
    let circuit = || bench.replica("R1").breaker().state().circuit();
    trip();
    assert_eq!(circuit(), Circuit::Open);
    bench.pool.refresh().await.unwrap();
    assert_eq!(circuit(), Circuit::Closed, "opened before the question");
    trip();
    advance(secs(30)).await;
    bench.pool.refresh().await.unwrap();
    assert_eq!(circuit(), Circuit::Open, "reset within the last minute");
    // The next question follows after a pause of a second, or more.
    advance(secs(30)).await;
    bench.pool.refresh().await.unwrap();
    assert_eq!(circuit(), Circuit::Closed, "reset a minute ago");
    advance(secs(90)).await;
    bench.gateway.takes(secs(1));
    let (_, ()) = futures::join!(bench.pool.refresh(), async {
        sleep(Duration::from_millis(500)).await;
        trip();
    });
    assert_eq!(circuit(), Circuit::Open, "opened after the question");
}

#[tokio::test(start_paused = true)]
async fn manual_modes_outlive_a_refresh_and_circuits_too_where_the_file_says_so() {
    let settings = r#"{ "circuitBreaker": { "failureThreshold": 1 }, "replicaPool": { "resetCircuitsOnRefresh": false } }"#;
    let bench = Bench::new(&["R1", "R2"], settings).await;
    bench.replica("R1").breaker().acquire().unwrap().settle(breaker_core::Outcome::Failure);
    bench.replica("R2").breaker().force_open();
    bench.pool.refresh().await.unwrap();
    assert_eq!(bench.replica("R1").breaker().state().circuit(), Circuit::Open);
    assert_eq!(bench.replica("R2").breaker().mode(), breaker_core::Mode::ForcedOpen);
}

#[tokio::test(start_paused = true)]
async fn all_replicas_at_new_addresses_are_found_by_one_refresh_although_a_thousand_calls_fail() {
    let bench = Bench::new(&["A", "B", "C"], "{}").await;
    for gone in ["A", "B", "C"] {
        bench.world.set(gone, Remote::Refuses);
    }
    bench.gateway.names(&["D", "E", "F"]);
    bench.gateway.takes(Duration::from_millis(200));
    let answers = futures::future::join_all((0..1000).map(|_| bench.call())).await;
    let failed = answers.iter().filter(|answer| answer.is_err()).count();
    assert!(answers.iter().flatten().all(|answer| ["D", "E", "F"].contains(answer)));
    assert!(failed > 0, "those who came when all circuits were open failed fast");
    assert_eq!(bench.gateway.asked(), 2);
    assert_eq!(bench.addresses(), ["D", "E", "F"]);
    bench.calls(10).await;
}

#[tokio::test(start_paused = true)]
async fn a_set_that_is_too_small_for_ten_minutes_is_refreshed() {
    let bench = Bench::new(&["R1", "R2"], r#"{ "replicaPool": { "targetReplicas": 3 } }"#).await;
    advance(secs(599)).await;
    bench.call().await.unwrap();
    settle().await;
    assert_eq!(bench.gateway.asked(), 1);
    advance(secs(1)).await;
    bench.gateway.names(&["R1", "R2", "R3"]);
    bench.call().await.unwrap();
    settle().await;
    assert_eq!(bench.gateway.asked(), 2);
    assert_eq!(bench.addresses().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_refresh_interval_asks_without_a_reason() {
    let bench = Bench::new(&["R1"], r#"{ "replicaPool": { "refreshInterval": "PT30S" } }"#).await;
    sleep(secs(91)).await;
    assert_eq!(bench.gateway.asked(), 1 + 3);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_pool_ends_every_task_even_with_a_gateway_that_hangs() {
    let bench = Bench::new(&["R1"], r#"{ "replicaPool": { "refreshInterval": "PT30S" } }"#).await;
    bench.gateway.answer(Answer::Hangs);
    sleep(secs(31)).await;
    assert_eq!(bench.pool.snapshot().background_tasks, 2);
    let metrics = tokio::runtime::Handle::current().metrics();
    drop(bench);
    settle().await;
    assert_eq!(metrics.num_alive_tasks(), 0);
}

/// A set that nothing has changed in stays where it is: whoever compares pointers sees that.
#[tokio::test(start_paused = true)]
async fn an_answer_that_says_the_same_makes_no_new_set() {
    for (order, names) in [("listed", ["R1", "R2"]), ("shuffled", ["R1", "R2"]), ("shuffled", ["R2", "R1"])] {
        let settings = format!(r#"{{ "replicaPool": {{ "order": "{order}" }} }}"#);
        let bench = Bench::new(&["R1", "R2"], &settings).await;
        let before = bench.pool.replicas();
        bench.gateway.names(&names);
        bench.pool.refresh().await.unwrap();
        assert!(std::sync::Arc::ptr_eq(&before, &bench.pool.replicas()), "{order} {names:?}");
    }
}

/// The ten minutes begin anew when they are over, and not with each answer.
#[tokio::test(start_paused = true)]
async fn a_set_is_asked_about_ten_minutes_after_it_became_too_small() {
    let bench = Bench::new(&["R1", "R2"], r#"{ "replicaPool": { "targetReplicas": 3 } }"#).await;
    let asked = async |span| {
        advance(secs(span)).await;
        bench.order();
        settle().await;
        bench.gateway.asked()
    };
    assert_eq!(asked(300).await, 1);
    bench.pool.refresh().await.unwrap();
    assert_eq!(asked(299).await, 2);
    assert_eq!(asked(1).await, 3, "it has been too small for 600 s");
    assert_eq!(asked(20).await, 3, "and since its last answer for 20 s");
    assert_eq!(asked(580).await, 4);
    bench.gateway.names(&["R1", "R2", "R3"]);
    bench.pool.refresh().await.unwrap();
    assert_eq!(asked(600).await, 5, "as many as there should be");
}
