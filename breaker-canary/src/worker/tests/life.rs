//! Coming and going.

use std::{
    future::{Future, poll_fn},
    pin::pin,
};

use breaker_core::{Now, ProbePlan, Report, State, Strategy, Tick, Timestamp, config::Violations};

use super::*;
use crate::CanaryRateThresholdKeys;

#[tokio::test(start_paused = true)]
async fn a_worker_with_nothing_open_is_never_woken() {
    let remotes = Remotes::all(Answer::Healthy);
    let (line, hearing) = Line::new();
    let probe = Arc::new(ByTarget(Arc::clone(&remotes) as Arc<dyn Probe<u32>>));
    let circuits = Circuits::new(line.clone(), probe, Spread::new(1, fastrand::Rng::new()));
    let polls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&polls);
    let _task = tokio::spawn(async move {
        let mut work = pin!(attend(circuits, hearing));
        poll_fn(|cx| {
            counter.fetch_add(1, Ordering::Relaxed);
            work.as_mut().poll(cx)
        })
        .await;
    });
    let wakes_in_an_hour = async || {
        let before = polls.load(Ordering::Relaxed);
        after(3_600_000).await;
        polls.load(Ordering::Relaxed) - before
    };
    after(1).await;
    assert_eq!(wakes_in_an_hour().await, 0, "no circuit at all");

    let closed = remotes.breaker(json!({ "initialState": "closed" }));
    let registration = Registration::new(1, closed, line);
    first_round(&registration).await;
    after(1).await;
    calls(registration.breaker(), Outcome::Success, 1_000);
    assert_eq!(wakes_in_an_hour().await, 0, "a closed circuit");

    calls(registration.breaker(), Outcome::Failure, 21);
    after(1_300).await;
    assert_eq!(circuit(&registration), Circuit::HalfOpen, "it does wake up");
    after(1).await;
    assert_eq!(wakes_in_an_hour().await, 0, "a half-open circuit");

    drop(registration);
    after(1).await;
    assert_eq!(wakes_in_an_hour().await, 0, "no circuit left");
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_is_not_open_has_nothing_to_wait_for() {
    let remotes = Remotes::all(Answer::Healthy);
    let worker = worker(&remotes);
    let registration = worker.register(1, remotes.breaker(json!({ "initialState": "closed" })));
    first_round(&registration).await;
    assert_eq!((remotes.count(), registration.rounds()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn the_first_round_is_done_when_its_last_attempt_has_failed() {
    let remotes = Remotes::all(Answer::Never);
    let worker = worker(&remotes);
    let registration = worker.register(1, remotes.breaker(json!({ "canaryInterval": "PT1M" })));
    after(2_990).await;
    assert!(!registration.first_round_done());
    first_round(&registration).await;
    assert!(registration.first_round_done());
    assert_eq!((remotes.probed(1), registration.rounds()), (vec![0, 1_000, 2_000], 1));
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_worker_that_is_gone() {
    let remotes = Remotes::all(Answer::Never);
    let worker = worker(&remotes);
    let before = worker.register(1, remotes.breaker(json!({})));
    after(10).await;
    let never_seen = worker.register(2, remotes.breaker(json!({})));
    drop(worker);
    first_round(&before).await;
    first_round(&never_seen).await;
    assert_eq!((before.rounds(), never_seen.rounds()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn dropping_the_worker_ends_every_probe_and_lets_go_of_everything() {
    let remotes = Remotes::all(Answer::Never);
    let worker = worker(&remotes);
    let breaker = remotes.breaker(json!({}));
    let registration = worker.register(1, Arc::clone(&breaker));
    after(10).await;
    assert_eq!(remotes.in_flight.load(Ordering::Relaxed), 1);
    drop(worker);
    after(1).await;
    assert_eq!((remotes.in_flight.load(Ordering::Relaxed), Arc::strong_count(&remotes)), (0, 1));
    after(60_000).await;
    assert_eq!(remotes.count(), 1);
    drop(registration);
    assert_eq!(Arc::strong_count(&breaker), 1);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_registration_ends_its_probe_and_only_its_own() {
    let remotes = Remotes::all(Answer::Never);
    let worker = worker(&remotes);
    let breaker = remotes.breaker(json!({}));
    let first = worker.register(1, Arc::clone(&breaker));
    let _second = worker.register(2, remotes.breaker(json!({})));
    after(100).await;
    assert_eq!(remotes.in_flight.load(Ordering::Relaxed), 2);
    drop(first);
    after(1).await;
    assert_eq!((remotes.in_flight.load(Ordering::Relaxed), Arc::strong_count(&breaker)), (1, 1));
    after(60_000).await;
    assert_eq!(remotes.probed(1).len(), 1);
    assert!(remotes.probed(2).len() > 40);
}

#[tokio::test(start_paused = true)]
async fn a_circuit_can_be_registered_again() {
    let remotes = Remotes::all(Answer::Unhealthy);
    let worker = worker(&remotes);
    let breaker = remotes.breaker(json!({}));
    drop(worker.register(1, Arc::clone(&breaker)));
    let again = worker.register(1, breaker);
    remotes.set(1, Answer::Healthy);
    first_round(&again).await;
    assert_eq!(circuit(&again), Circuit::HalfOpen);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_workers_one_after_another_leave_no_task_behind() {
    let remotes = Remotes::all(Answer::Never);
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = alive();
    for remote in 0..1_000 {
        let worker = worker(&remotes);
        let _registration = worker.register(remote, remotes.breaker(json!({})));
        after(2).await;
    }
    after(1).await;
    assert_eq!((alive(), remotes.count()), (before, 1_000));
}

/// A strategy of someone else's, with a fault.
#[derive(Clone, Debug, serde::Serialize)]
struct Faulty;

impl Strategy for Faulty {
    fn state(&self) -> State {
        State::Open { until: None }
    }

    fn tick(&mut self, _: &Now<'_>) -> Tick {
        Tick::SameEpoch
    }

    fn admit(&mut self, _: &Now<'_>) -> bool {
        false
    }

    fn settle(&mut self, _: &Report, _: &Now<'_>) {}

    fn probed(&mut self, _: bool, _: &Now<'_>) {
        panic!("a fault of the strategy");
    }

    fn probe_plan(&self) -> Option<ProbePlan> {
        let second = Duration::from_secs(1);
        Some(ProbePlan { interval: second, attempts: 1, timeout: second })
    }
}

impl StrategyConfig for Faulty {
    const NAME: &'static str = "FAULTY";

    type Keys = CanaryRateThresholdKeys;

    fn from_keys(_: CanaryRateThresholdKeys) -> Result<Self, Violations> {
        Ok(Self)
    }

    fn build(&self, _: Timestamp) -> Box<dyn Strategy> {
        Box::new(Self)
    }
}

#[tokio::test(start_paused = true)]
async fn a_strategy_that_panics_hurts_no_other_circuit_and_is_not_given_up() {
    let remotes = Remotes::all(Answer::Unhealthy);
    let worker = worker(&remotes);
    let faulty = Breaker::builder(Faulty).clock(Arc::new(remotes.clock)).build().unwrap();
    let _faulty = worker.register(1, Arc::new(faulty));
    let sound = worker.register(2, remotes.breaker(json!({})));
    after(30_000).await;
    assert!((10..=20).contains(&remotes.probed(1).len()), "{:?}", remotes.probed(1));
    remotes.set(2, Answer::Healthy);
    after(1_300).await;
    assert_eq!(circuit(&sound), Circuit::HalfOpen);
}

#[test]
fn the_workers_parts_can_be_sent_and_shared() {
    fn sent_and_shared<T: Send + Sync>() {}
    sent_and_shared::<CanaryWorker<u32>>();
    sent_and_shared::<Registration<u32>>();
}

#[tokio::test(start_paused = true)]
async fn the_workers_parts_show_what_they_are_about() {
    let remotes = Remotes::all(Answer::Never);
    let builder =
        CanaryWorker::builder(Arc::clone(&remotes) as Arc<dyn Probe<u32>>).rounds_at_once(3).seed(7);
    assert_eq!(format!("{builder:?}"), "CanaryWorkerBuilder { rounds_at_once: 3, seed: Some(7), .. }");
    let worker = builder.spawn();
    assert_eq!(format!("{worker:?}"), r#"CanaryWorker { target: "u32", tasks: 1, .. }"#);
    let shown = format!("{:?}", worker.register(5, remotes.breaker(json!({}))));
    assert!(shown.starts_with("Registration { target: 5, breaker: Breaker {"), "{shown}");
    assert!(shown.ends_with("rounds: 0, first_round_done: false }"), "{shown}");
}
