//! The rounds of one circuit.

use std::sync::Weak;

use breaker_core::{Event, config::IsoDuration};

use super::*;
use crate::CanaryRateThresholdKeys;

#[tokio::test(start_paused = true)]
async fn a_circuit_that_starts_open_is_tried_at_once() {
    let remotes = Remotes::all(Answer::Healthy);
    let worker = worker(&remotes);
    let registration = worker.register(1, remotes.breaker(json!({})));
    assert!(!registration.first_round_done());
    first_round(&registration).await;
    assert_eq!((circuit(&registration), registration.rounds()), (Circuit::HalfOpen, 1));
    after(60_000).await;
    assert_eq!(remotes.probed(1), [0], "a half-open circuit is not probed");
}

#[tokio::test(start_paused = true)]
async fn rounds_begin_an_interval_apart_give_or_take_a_fifth() {
    let remotes = Remotes::all(Answer::Unhealthy);
    let worker = worker(&remotes);
    let block = json!({ "canaryInterval": "PT10S", "canaryAttempts": 1 });
    let registration = worker.register(1, remotes.breaker(block));
    after(1_000_000).await;
    let gaps: Vec<_> = remotes.probed(1).windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| (8_000..=12_001).contains(gap)), "{gaps:?}");
    assert!(gaps.iter().any(|gap| *gap < 9_500) && gaps.iter().any(|gap| *gap > 10_500), "{gaps:?}");
    assert_eq!((circuit(&registration), registration.rounds()), (Circuit::Open, remotes.count() as u64));
}

#[tokio::test(start_paused = true)]
async fn a_round_is_some_attempts_one_after_another_each_cut_by_its_timeout() {
    let remotes = Remotes::all(Answer::Never);
    let worker = worker(&remotes);
    let block = json!({ "canaryInterval": "PT1M", "canaryAttempts": 3, "canaryTimeout": "PT2S" });
    let registration = worker.register(1, remotes.breaker(block));
    after(5_999).await;
    assert_eq!((remotes.probed(1), registration.rounds()), (vec![0, 2_000, 4_000], 0));
    after(10).await;
    assert_eq!((registration.rounds(), remotes.in_flight.load(Ordering::Relaxed)), (1, 0));
    assert_eq!(circuit(&registration), Circuit::Open);
    after(40_000).await;
    assert_eq!(remotes.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_first_healthy_attempt_ends_the_round() {
    let remotes = Remotes::all(Answer::Never);
    let worker = worker(&remotes);
    let registration = worker.register(1, remotes.breaker(json!({})));
    after(500).await;
    remotes.set(1, Answer::HealthyAfter(Duration::from_millis(900)));
    after(1_399).await;
    assert_eq!(circuit(&registration), Circuit::Open);
    after(10).await;
    assert_eq!(circuit(&registration), Circuit::HalfOpen);
    assert_eq!(remotes.probed(1).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_round_that_outlasts_its_interval_has_no_rival() {
    let remotes = Remotes::all(Answer::Never);
    let worker = worker(&remotes);
    // A round takes 3 s.
    let _registration = worker.register(1, remotes.breaker(json!({ "canaryInterval": "PT0.5S" })));
    after(60_000).await;
    assert_eq!(remotes.most_in_flight.load(Ordering::Relaxed), 1);
    assert!((58..=61).contains(&remotes.count()), "{}", remotes.count());
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_panics_is_unhealthy_and_hurts_nobody() {
    let remotes = Remotes::all(Answer::Healthy);
    remotes.set(1, Answer::Panic);
    let worker = worker(&remotes);
    let block = json!({ "canaryAttempts": 1 });
    let [bad, good] = [1, 2].map(|remote| worker.register(remote, remotes.breaker(block.clone())));
    after(500).await;
    assert_eq!((circuit(&bad), bad.rounds()), (Circuit::Open, 1));
    assert_eq!(circuit(&good), Circuit::HalfOpen);
    remotes.set(1, Answer::Healthy);
    after(1_500).await;
    assert_eq!(circuit(&bad), Circuit::HalfOpen);
}

#[tokio::test(start_paused = true)]
async fn a_remote_that_comes_back_is_found_within_an_interval_however_long_it_was_away() {
    let remotes = Remotes::all(Answer::Unhealthy);
    let worker = worker(&remotes);
    let registration = worker.register(1, remotes.breaker(json!({ "canaryInterval": "PT5S" })));
    after(3_600_000).await;
    remotes.set(1, Answer::Healthy);
    after(6_010).await;
    assert_eq!(circuit(&registration), Circuit::HalfOpen);
}

#[tokio::test(start_paused = true)]
async fn a_dead_remote_gets_a_days_worth_of_probes_and_no_calls() {
    let remotes = Remotes::all(Answer::Unhealthy);
    let worker = worker(&remotes);
    let block = json!({ "canaryInterval": "PT1M", "canaryAttempts": 1, "initialState": "closed" });
    let registration = worker.register(1, remotes.breaker(block));
    calls(registration.breaker(), Outcome::Failure, 50);
    let mut passed = 0;
    for _ in 0..24 * 60 {
        after(60_000).await;
        passed += u32::from(registration.breaker().acquire().is_ok());
    }
    assert_eq!(passed, 0);
    assert!((1_380..=1_500).contains(&remotes.count()), "{} of about 1440", remotes.count());
}

#[tokio::test(start_paused = true)]
async fn a_remote_that_refuses_at_once_is_not_asked_more_often_than_configured() {
    let remotes = Remotes::all(Answer::Unhealthy);
    let worker = worker(&remotes);
    let block = json!({ "canaryInterval": "PT0.5S", "canaryAttempts": 1 });
    let _registration = worker.register(1, remotes.breaker(block));
    after(1_000).await;
    assert!(remotes.count() <= 3, "{}", remotes.count());
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_trips_is_tried_after_an_interval() {
    let remotes = Remotes::all(Answer::Healthy);
    let worker = worker(&remotes);
    let block = json!({ "canaryInterval": "PT10S", "initialState": "closed" });
    let registration = worker.register(1, remotes.breaker(block));
    after(100_000).await;
    calls(registration.breaker(), Outcome::Failure, 50);
    after(7_900).await;
    assert_eq!(remotes.count(), 0);
    after(4_200).await;
    assert_eq!((remotes.count(), circuit(&registration)), (1, Circuit::HalfOpen));
}

#[tokio::test(start_paused = true)]
async fn each_half_open_state_that_fails_doubles_the_interval() {
    let remotes = Remotes::all(Answer::Healthy);
    let worker = worker(&remotes);
    let block = json!({ "maxCanaryInterval": "PT4S", "permittedNumberOfCallsInHalfOpenState": 1 });
    let registration = worker.register(1, remotes.breaker(block));
    let mut tries = Vec::new();
    for _ in 0..5 {
        let admitted = timeout(Duration::from_secs(10), registration.breaker().ready(sleep)).await;
        assert!(admitted.is_ok(), "no call may pass after {tries:?}");
        tries.push(remotes.probed(1).last().copied().unwrap());
        calls(registration.breaker(), Outcome::Failure, 1);
    }
    let gaps: Vec<_> = tries.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (gap, interval) in gaps.iter().zip([2_000, 4_000, 4_000, 4_000]) {
        assert!((interval * 4 / 5..=interval * 6 / 5 + 2).contains(gap), "{gaps:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_half_open_state_that_fails_before_the_worker_sees_it_is_no_reason_to_hurry() {
    let remotes = Remotes::all(Answer::Healthy);
    let config = CanaryRateThreshold::try_from(CanaryRateThresholdKeys {
        permitted_number_of_calls_in_half_open_state: Some(1),
        canary_interval: Some(IsoDuration::from_secs(10)),
        ..Default::default()
    })
    .unwrap();
    let breaker = Arc::new_cyclic(|breaker: &Weak<Breaker>| {
        let breaker = breaker.clone();
        let fail_at_once = move |_: &Event| {
            if let Some(permit) = breaker.upgrade().and_then(|breaker| breaker.acquire_owned().ok()) {
                permit.settle(Outcome::Failure);
            }
        };
        let builder =
            Breaker::builder(config).clock(Arc::new(remotes.clock)).observer(Arc::new(fail_at_once));
        builder.probed().build().unwrap()
    });
    let worker = worker(&remotes);
    let registration = worker.register(1, breaker);
    after(7_900).await;
    assert_eq!((remotes.count(), circuit(&registration)), (1, Circuit::Open));
    after(4_200).await;
    assert_eq!(remotes.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_is_reset_is_tried_at_once_and_its_old_round_is_cut() {
    let remotes = Remotes::all(Answer::Never);
    let worker = worker(&remotes);
    let block = json!({ "canaryInterval": "PT10S", "canaryTimeout": "PT5S" });
    let registration = worker.register(1, remotes.breaker(block));
    after(2_000).await;
    assert_eq!(remotes.probed(1), [0]);
    remotes.set(1, Answer::Healthy);
    registration.breaker().reset();
    after(5).await;
    assert_eq!((remotes.count(), circuit(&registration)), (2, Circuit::HalfOpen));
    assert_eq!(remotes.in_flight.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn a_circuit_whose_delay_passes_is_left_alone_until_it_opens_again() {
    let remotes = Remotes::all(Answer::Unhealthy);
    let worker = worker(&remotes);
    let block = json!({ "waitDurationInOpenState": "PT3S", "canaryAttempts": 1, "canaryInterval": "PT2S" });
    let registration = worker.register(1, remotes.breaker(block));
    after(60_000).await;
    let before = remotes.count();
    assert!(before <= 3, "{before} in 3 s");
    assert_eq!(circuit(&registration), Circuit::HalfOpen);
    calls(registration.breaker(), Outcome::Failure, 10);
    after(2_500).await;
    assert_eq!(remotes.count(), before + 1);
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_was_half_open_for_too_long_is_probed_again_though_nobody_calls() {
    let remotes = Remotes::all(Answer::Healthy);
    let worker = worker(&remotes);
    let block = json!({ "maxWaitDurationInHalfOpenState": "PT30S" });
    let registration = worker.register(1, remotes.breaker(block));
    after(29_000).await;
    remotes.set(1, Answer::Unhealthy);
    after(1_500).await;
    assert_eq!((circuit(&registration), remotes.count()), (Circuit::Open, 1));
    after(10_000).await;
    assert!((24..=37).contains(&remotes.count()), "{} of about 31", remotes.count());
    remotes.set(1, Answer::Healthy);
    after(1_300).await;
    assert_eq!(circuit(&registration), Circuit::HalfOpen);
}

#[tokio::test(start_paused = true)]
async fn a_circuit_under_manual_control_is_left_alone() {
    let remotes = Remotes::all(Answer::Healthy);
    let worker = worker(&remotes);
    let breaker = remotes.breaker(json!({}));
    breaker.force_open();
    let registration = worker.register(1, breaker);
    first_round(&registration).await;
    after(60_000).await;
    assert_eq!(remotes.count(), 0);
    registration.breaker().release();
    after(1_300).await;
    assert_eq!(circuit(&registration), Circuit::HalfOpen);
}

#[tokio::test(start_paused = true)]
async fn a_function_is_a_probe() {
    let remotes = Remotes::all(Answer::Never);
    let worker = CanaryWorker::spawn(Arc::new(|remote: u32| async move { remote == 1 }));
    let [well, ill] = [1, 2].map(|remote| worker.register(remote, remotes.breaker(json!({}))));
    after(500).await;
    assert_eq!([circuit(&well), circuit(&ill)], [Circuit::HalfOpen, Circuit::Open]);
}
