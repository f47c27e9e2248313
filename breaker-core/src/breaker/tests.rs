#![allow(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{FutureExt, executor::block_on, future::pending};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Breaker, BreakerBuilder, BuildError, CallError, Change, Circuit, Event, EventKind, Evidence, ManualClock,
    Mode, Now, Outcome, ProbePlan, Reason, RejectionReason, Report, Settlement, State, Strategy, Tally, Tick,
    Timestamp,
    config::{StrategyConfig, Violations},
};

const DELAY: Duration = Duration::from_secs(10);
const LEASE: Duration = Duration::from_secs(60);

/// Opens at the second failure, for 10 s (or until it is probed); half-open with one place and a lease of
/// a minute; steady after two successes in a row.
#[derive(Clone, Debug, Serialize)]
struct TwoStrikes {
    probed: bool,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
struct NoKeys {}

impl StrategyConfig for TwoStrikes {
    const NAME: &'static str = "TWO_STRIKES";
    type Keys = NoKeys;

    fn from_keys(_: NoKeys) -> Result<Self, Violations> {
        Ok(Self { probed: false })
    }

    fn build(&self, _: Timestamp) -> Box<dyn Strategy> {
        Box::new(Machine {
            probed: self.probed,
            state: State::Closed,
            failures: 0,
            run: 0,
            out: 0,
            change: Change::default(),
        })
    }

    fn needs_probe(&self) -> bool {
        self.probed
    }
}

#[derive(Debug)]
struct Machine {
    probed: bool,
    state: State,
    failures: u32,
    run: u32,
    out: u32,
    change: Change,
}

impl Machine {
    fn enter(&mut self, state: State, reason: Reason) {
        self.change =
            Change { reason, tally: Tally { calls: self.failures, failures: self.failures, slow: 0 } };
        (self.state, self.failures, self.run, self.out) = (state, 0, 0, 0);
    }

    fn open(&mut self, at: Timestamp, reason: Reason) {
        let until = (!self.probed).then(|| at + DELAY);
        self.enter(State::Open { until }, reason);
    }
}

impl Strategy for Machine {
    fn state(&self) -> State {
        self.state
    }

    fn tick(&mut self, now: &Now<'_>) -> Tick {
        let Some(until) = self.state.until().filter(|until| now.get() >= *until) else {
            return Tick::SameEpoch;
        };
        assert!(now.get() >= until);
        let over = matches!(self.state, State::HalfOpen { .. });
        self.enter(
            State::HalfOpen { until: None },
            if over { Reason::LeaseExpired } else { Reason::DelayPassed },
        );
        if over { Tick::NewEpoch } else { Tick::SameEpoch }
    }

    fn admit(&mut self, now: &Now<'_>) -> bool {
        let free = self.out == 0;
        if free {
            self.out = 1;
            self.state = State::HalfOpen { until: Some(now.get() + LEASE) };
        }
        free
    }

    fn settle(&mut self, report: &Report, now: &Now<'_>) {
        match (self.state, report.outcome) {
            (State::Closed, Outcome::Failure) => {
                (self.failures, self.run) = (self.failures + 1, 0);
                if self.failures == 2 {
                    self.open(now.get(), Reason::Failures);
                }
            }
            (State::Closed, Outcome::Success) => (self.failures, self.run) = (0, self.run + 1),
            (State::HalfOpen { .. }, Outcome::Failure) => self.open(now.get(), Reason::TrialFailed),
            (State::HalfOpen { .. }, Outcome::Success) => self.enter(State::Closed, Reason::TrialSucceeded),
            (State::HalfOpen { .. }, _) => {
                self.out = 0;
                self.state = State::HalfOpen { until: None };
            }
            _ => {}
        }
    }

    fn probed(&mut self, healthy: bool, _: &Now<'_>) {
        if healthy {
            self.enter(State::HalfOpen { until: None }, Reason::ProbeHealthy);
        }
    }

    fn probe_plan(&self) -> Option<ProbePlan> {
        let second = Duration::from_secs(1);
        self.probed.then_some(ProbePlan { interval: second, attempts: 1, timeout: second })
    }

    fn full(&self) -> bool {
        self.out == 1
    }

    fn steady(&self) -> bool {
        self.run >= 2
    }

    fn change(&self) -> Change {
        self.change
    }

    fn tally(&self, _: Timestamp) -> Tally {
        Tally { calls: self.failures, failures: self.failures, slow: 0 }
    }

    fn adopt(&mut self, evidence: &Evidence, now: Timestamp) {
        match evidence.circuit {
            Circuit::Closed => {}
            Circuit::HalfOpen => self.state = State::HalfOpen { until: None },
            Circuit::Open => self.open(now, Reason::Unspecified),
        }
    }
}

struct Bench {
    breaker: Arc<Breaker>,
    clock: Arc<ManualClock>,
    seen: Arc<Mutex<Vec<Event>>>,
}

impl Bench {
    fn new() -> Self {
        Self::with(TwoStrikes { probed: false }, |builder| builder)
    }

    fn with(config: TwoStrikes, also: impl FnOnce(BreakerBuilder) -> BreakerBuilder) -> Self {
        let (clock, seen) = (Arc::new(ManualClock::default()), Arc::new(Mutex::new(Vec::new())));
        let log = Arc::clone(&seen);
        let builder = Breaker::builder(config)
            .clock(Arc::clone(&clock) as _)
            .observer(Arc::new(move |event: &Event| log.lock().unwrap().push(event.clone())));
        Self { breaker: Arc::new(also(builder).build().unwrap()), clock, seen }
    }

    fn call(&self, outcome: Outcome) -> Settlement {
        self.breaker.acquire().unwrap().settle(outcome)
    }

    fn trip(&self) {
        self.call(Outcome::Failure);
        self.call(Outcome::Failure);
        assert_eq!(self.breaker.state().circuit(), Circuit::Open);
    }

    fn wait(&self, secs: u64) {
        self.clock.advance(Duration::from_secs(secs));
    }

    fn transitions(&self) -> Vec<String> {
        let text = |event: &Event| match event.kind {
            EventKind::Transition { from, to, .. } => format!("{from}>{to}@{}", event.at.as_secs()),
            EventKind::StartedOver { state, .. } => format!("{state} again@{}", event.at.as_secs()),
            EventKind::ModeChanged { from } => format!("{from}>{}", event.mode),
            EventKind::Reset { from, to } => format!("reset {from}>{to}"),
        };
        self.seen.lock().unwrap().iter().map(text).collect()
    }
}

#[test]
fn an_open_circuit_rejects_and_says_why_and_when_to_come_back() {
    let bench = Bench::new();
    bench.trip();
    let rejection = bench.breaker.acquire().unwrap_err();
    assert_eq!(rejection.reason, RejectionReason::Open);
    assert_eq!(rejection.retry_at, Some(Timestamp::from_secs(10)));
    bench.wait(4);
    assert_eq!(rejection.retry_after(Timestamp::from_secs(4)), Some(Duration::from_secs(6)));
}

#[test]
fn a_delay_has_passed_at_its_last_nanosecond_and_not_before() {
    let bench = Bench::new();
    bench.trip();
    bench.clock.advance(DELAY - Duration::from_nanos(1));
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
    assert!(bench.breaker.acquire().is_err());
    bench.clock.advance(Duration::from_nanos(1));
    assert_eq!(bench.breaker.state().circuit(), Circuit::HalfOpen);
    assert!(bench.breaker.acquire().is_ok());
}

#[test]
fn reading_a_due_state_changes_nothing_and_the_event_bears_the_date_of_the_deadline() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(25);
    assert_eq!(bench.breaker.state(), State::HalfOpen { until: None });
    assert_eq!(bench.breaker.snapshot().state, State::HalfOpen { until: None });
    assert_eq!(bench.breaker.snapshot().epoch, 2);
    assert_eq!(bench.transitions(), ["closed>open@0"]);
    let permit = bench.breaker.acquire().unwrap();
    assert_eq!(bench.transitions(), ["closed>open@0", "open>half_open@10"]);
    assert_eq!(permit.epoch(), Some(3));
    assert_eq!(permit.settle(Outcome::Success), Settlement::Counted);
    assert_eq!(bench.transitions().len(), 3);
}

#[test]
fn a_late_result_is_stale_in_every_later_state() {
    let bench = Bench::new();
    let late: Vec<_> = (0..4).map(|_| bench.breaker.acquire().unwrap()).collect();
    let mut late = late.into_iter();
    bench.trip();
    assert_eq!(late.next().unwrap().settle(Outcome::Success), Settlement::Stale);
    bench.wait(10);
    let trial = bench.breaker.acquire().unwrap();
    assert_eq!(late.next().unwrap().settle(Outcome::Failure), Settlement::Stale);
    assert_eq!(bench.breaker.state().circuit(), Circuit::HalfOpen);
    trial.settle(Outcome::Success);
    assert_eq!(late.next().unwrap().settle(Outcome::Failure), Settlement::Stale);
    assert_eq!(bench.breaker.snapshot().tally, Tally::default());
    drop(late);
    assert_eq!(bench.breaker.snapshot().stale, 3);
}

#[test]
fn a_late_return_gives_back_no_place_of_a_newer_epoch() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(10);
    let first = bench.breaker.acquire().unwrap();
    bench.wait(60);
    let second = bench.breaker.acquire().unwrap();
    drop(first);
    assert_eq!(bench.breaker.acquire().unwrap_err().reason, RejectionReason::NoPlace);
    drop(second);
    assert!(bench.breaker.acquire().is_ok());
}

#[test]
fn ignored_and_cancelled_calls_give_their_place_back_and_close_nothing() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(10);
    for outcome in [Outcome::Ignored, Outcome::Cancelled] {
        assert_eq!(bench.call(outcome), Settlement::Counted);
        assert_eq!(bench.breaker.state(), State::HalfOpen { until: None });
    }
    drop(bench.breaker.acquire().unwrap());
    drop(bench.breaker.acquire_owned().unwrap());
    assert!(bench.breaker.acquire().is_ok());
}

#[test]
fn the_lease_of_a_lost_place_ends_in_a_new_epoch_with_one_event() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(10);
    let lost = bench.breaker.acquire().unwrap();
    let rejection = bench.breaker.acquire().unwrap_err();
    assert_eq!(
        (rejection.reason, rejection.retry_at),
        (RejectionReason::NoPlace, Some(Timestamp::from_secs(70)))
    );
    bench.clock.advance(LEASE - Duration::from_nanos(1));
    assert!(bench.breaker.acquire().is_err());
    assert!(bench.breaker.status().full);
    bench.clock.advance(Duration::from_nanos(1));
    assert!(!bench.breaker.status().full);
    let fresh = bench.breaker.acquire().unwrap();
    assert_eq!(lost.settle(Outcome::Success), Settlement::Stale);
    assert_eq!(bench.breaker.state().circuit(), Circuit::HalfOpen);
    fresh.settle(Outcome::Success);
    assert_eq!(bench.transitions()[2..], ["half_open again@70", "half_open>closed@70"]);
}

#[test]
fn a_steady_circuit_forgets_nothing_when_a_failure_comes() {
    let bench = Bench::new();
    for _ in 0..5 {
        bench.call(Outcome::Success);
    }
    bench.call(Outcome::Failure);
    assert_eq!(bench.breaker.snapshot().tally.failures, 1);
    bench.call(Outcome::Failure);
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
}

#[test]
fn a_classifier_that_panics_gives_the_place_back_and_the_breaker_lives() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(10);
    let classifier = |_: &Result<(), ()>| -> Outcome { panic!("classifier") };
    let run = AssertUnwindSafe(|| bench.breaker.run_with(&classifier, || Ok(())));
    assert!(catch_unwind(run).is_err());
    assert!(!bench.breaker.status().full);
    assert_eq!(bench.breaker.run(|| Ok::<_, ()>(7)), Ok(7));
    assert_eq!(bench.breaker.state(), State::Closed);
}

#[test]
fn an_observer_that_panics_silences_nobody() {
    let quiet =
        Bench::with(TwoStrikes { probed: false }, |b| b.observer(Arc::new(|_: &Event| panic!("observer"))));
    quiet.trip();
    quiet.wait(10);
    quiet.call(Outcome::Success);
    assert_eq!(quiet.transitions(), ["closed>open@0", "open>half_open@10", "half_open>closed@10"]);
}

#[test]
fn an_observer_may_call_the_breaker_and_events_stay_in_order() {
    let (clock, order) = (Arc::new(ManualClock::default()), Arc::new(Mutex::new(Vec::new())));
    let slot: Arc<Mutex<Option<Arc<Breaker>>>> = Arc::default();
    let (inner, log) = (Arc::clone(&slot), Arc::clone(&order));
    let nosy = move |event: &Event| {
        log.lock().unwrap().push((event.epoch, "first"));
        let breaker = inner.lock().unwrap().clone();
        if let (EventKind::Transition { to: Circuit::Open, .. }, Some(breaker)) = (&event.kind, breaker) {
            breaker.reset();
            assert_eq!(breaker.state(), State::Closed);
        }
    };
    let log = Arc::clone(&order);
    let second = move |event: &Event| log.lock().unwrap().push((event.epoch, "second"));
    let builder = Breaker::builder(TwoStrikes { probed: false }).clock(clock);
    let breaker = Arc::new(builder.observer(Arc::new(nosy)).observer(Arc::new(second)).build().unwrap());
    *slot.lock().unwrap() = Some(Arc::clone(&breaker));
    breaker.acquire().unwrap().settle(Outcome::Failure);
    breaker.acquire().unwrap().settle(Outcome::Failure);
    assert_eq!(*order.lock().unwrap(), [(2, "first"), (2, "second"), (3, "first"), (3, "second")]);
}

#[test]
fn events_carry_reason_numbers_and_the_next_try() {
    let bench = Bench::with(TwoStrikes { probed: false }, |b| b.name("db-1"));
    bench.trip();
    let seen = bench.seen.lock().unwrap();
    assert_eq!(seen[0].name.as_deref(), Some("db-1"));
    let EventKind::Transition { reason, tally, retry_at, .. } = seen[0].kind else { panic!() };
    assert_eq!((reason, tally.failures, retry_at), (Reason::Failures, 2, Some(Timestamp::from_secs(10))));
    assert_eq!(seen[0].to_string(), "closed -> open: too many failures (2 of 2 failed)");
}

#[test]
fn forced_open_rejects_all_until_released() {
    let bench = Bench::new();
    let before = bench.breaker.acquire().unwrap();
    bench.breaker.force_open();
    bench.breaker.force_open();
    assert_eq!(bench.breaker.acquire().unwrap_err().reason, RejectionReason::ForcedOpen);
    assert_eq!(bench.breaker.state(), State::Open { until: None });
    assert_eq!(before.settle(Outcome::Failure), Settlement::Stale);
    bench.wait(3600);
    assert!(bench.breaker.acquire().is_err());
    bench.breaker.reset();
    assert!(bench.breaker.acquire().is_err(), "a reset leaves the mode alone");
    bench.breaker.release();
    assert!(bench.breaker.acquire().is_ok());
    assert_eq!(
        bench.transitions(),
        ["automatic>forced_open", "reset closed>closed", "forced_open>automatic"]
    );
}

#[test]
fn disabled_admits_all_and_records_nothing() {
    let bench = Bench::new();
    bench.trip();
    bench.breaker.disable();
    assert_eq!(bench.breaker.state(), State::Closed);
    for _ in 0..5 {
        assert_eq!(bench.call(Outcome::Failure), Settlement::NotCounted);
    }
    bench.breaker.release();
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
    assert_eq!(bench.breaker.snapshot().stale, 0);
}

#[test]
fn observing_admits_all_records_and_reports_what_would_have_been() {
    let bench = Bench::new();
    bench.breaker.observe_only();
    bench.trip();
    let permit = bench.breaker.acquire().unwrap();
    assert!(permit.would_reject());
    assert_eq!(permit.settle(Outcome::Success), Settlement::NotCounted);
    assert_eq!(bench.breaker.snapshot().would_reject, 1);
    assert_eq!(bench.breaker.status().refusal(), None);
    assert_eq!(bench.transitions(), ["automatic>observe_only", "closed>open@0"]);
    assert_eq!(bench.seen.lock().unwrap()[1].mode, Mode::ObserveOnly);
}

#[test]
fn releasing_a_half_open_circuit_frees_the_places_of_calls_that_no_longer_count() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(10);
    let lost = bench.breaker.acquire().unwrap();
    bench.breaker.force_open();
    bench.breaker.release();
    assert_eq!(bench.breaker.status().circuit, Circuit::HalfOpen);
    assert!(!bench.breaker.status().full);
    assert_eq!(lost.settle(Outcome::Failure), Settlement::Stale);
}

#[test]
fn a_reset_forgets_and_starts_a_new_epoch() {
    let bench = Bench::new();
    bench.call(Outcome::Failure);
    let before = bench.breaker.acquire().unwrap();
    bench.breaker.reset();
    assert_eq!(before.settle(Outcome::Failure), Settlement::Stale);
    bench.call(Outcome::Failure);
    assert_eq!(bench.breaker.state(), State::Closed);
}

#[test]
fn only_a_circuit_that_its_strategy_opened_in_that_epoch_is_reset() {
    let reset = |bench: &Bench, epoch| bench.breaker.reset_if_open_since(epoch);
    let bench = Bench::new();
    assert!(!reset(&bench, bench.breaker.epoch()), "closed");
    bench.trip();
    let tripped = bench.breaker.epoch();
    assert!(!reset(&bench, tripped - 1), "opened later");
    bench.breaker.force_open();
    assert!(!reset(&bench, bench.breaker.epoch()), "under manual control");
    let bench = Bench::new();
    bench.trip();
    bench.wait(9);
    assert!(reset(&bench, tripped));
    assert_eq!(bench.breaker.state(), State::Closed);
    bench.trip();
    let again = bench.breaker.epoch();
    bench.wait(10);
    assert!(!reset(&bench, again), "half-open");
}

#[test]
fn a_circuit_is_tripped_only_while_its_strategy_holds_it_open() {
    let bench = Bench::new();
    assert!(!bench.breaker.is_tripped(), "closed");
    bench.trip();
    assert!(bench.breaker.is_tripped());
    bench.breaker.force_open();
    assert!(!bench.breaker.is_tripped(), "forced open");
    bench.breaker.release();
    bench.breaker.reset();
    assert!(!bench.breaker.is_tripped(), "reset");
}

#[test]
fn a_strategy_that_only_a_probe_reopens_is_not_built_without_one() {
    let config = TwoStrikes { probed: true };
    let error = Breaker::builder(config.clone()).build().unwrap_err();
    assert_eq!(error, BuildError::NeverProbed { strategy: "TWO_STRIKES" });
    assert!(error.to_string().contains("TWO_STRIKES"));
    assert!(Breaker::builder(config).probed().build().is_ok());
}

#[test]
fn a_healthy_probe_ends_the_open_state_and_a_late_verdict_does_nothing() {
    let bench = Bench::with(TwoStrikes { probed: true }, BreakerBuilder::probed);
    assert!(bench.breaker.begin_probe().is_none(), "closed circuits are not probed");
    bench.trip();
    let rejection = bench.breaker.acquire().unwrap_err();
    assert_eq!(rejection.to_string(), "the circuit is open until a probe finds the remote healthy");
    let (sick, healthy, late) = (
        bench.breaker.begin_probe().unwrap(),
        bench.breaker.begin_probe().unwrap(),
        bench.breaker.begin_probe().unwrap(),
    );
    assert_eq!(bench.breaker.finish_probe(sick, false), Settlement::Counted);
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
    assert_eq!(bench.breaker.finish_probe(healthy, true), Settlement::Counted);
    assert_eq!(bench.breaker.state().circuit(), Circuit::HalfOpen);
    bench.call(Outcome::Failure);
    assert_eq!(bench.breaker.finish_probe(late, true), Settlement::Stale);
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
    bench.breaker.force_open();
    assert!(bench.breaker.begin_probe().is_none(), "a probe ends no manual mode");
}

#[test]
fn a_call_abandoned_after_the_limit_is_a_failure_and_sooner_is_cancelled() {
    let limit = Duration::from_secs(1);
    let bench = Bench::with(TwoStrikes { probed: false }, |b| b.abandoned_call_is_failure_after(limit));
    for (nanos_less, failures) in [(1, 0), (0, 1)] {
        let permit = bench.breaker.acquire().unwrap();
        bench.clock.advance(limit - Duration::from_nanos(nanos_less));
        drop(permit);
        assert_eq!(bench.breaker.snapshot().tally.failures, failures);
    }
    let owned = bench.breaker.acquire_owned().unwrap();
    bench.clock.advance(limit);
    drop(owned);
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
}

#[test]
fn a_future_is_not_polled_when_rejected_and_is_cancelled_when_dropped() {
    let bench = Bench::new();
    bench.trip();
    let never = async { unreachable!("polled while open") as Result<(), ()> };
    assert!(matches!(block_on(bench.breaker.call(never)), Err(CallError::Rejected(_))));
    bench.wait(10);
    assert!(bench.breaker.call(pending::<Result<(), ()>>()).now_or_never().is_none());
    assert!(!bench.breaker.status().full);
    assert_eq!(block_on(bench.breaker.call(async { Err::<(), _>("no") })), Err(CallError::Failed("no")));
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
}

#[test]
fn a_waiter_is_woken_by_a_returned_place_by_time_and_by_a_transition() {
    let bench = Bench::new();
    let no_timer = |_| pending::<()>();
    assert!(bench.breaker.ready(no_timer).now_or_never().is_some(), "closed: at once");
    bench.trip();
    let mut asked = Vec::new();
    let asleep = |span| {
        asked.push(span);
        bench.clock.advance(span);
        std::future::ready(())
    };
    let asleep = Mutex::new(asleep);
    block_on(bench.breaker.ready(|span| (asleep.lock().unwrap())(span)));
    assert_eq!(asked, [DELAY]);
    let place = bench.breaker.acquire().unwrap();
    let mut waiter = Box::pin(bench.breaker.ready(no_timer));
    assert!(waiter.as_mut().now_or_never().is_none());
    drop(place);
    assert!(waiter.as_mut().now_or_never().is_some(), "a place came back");
    let place = bench.breaker.acquire().unwrap();
    let mut waiter = Box::pin(bench.breaker.ready(no_timer));
    assert!(waiter.as_mut().now_or_never().is_none());
    place.settle(Outcome::Success);
    assert!(waiter.as_mut().now_or_never().is_some(), "closed");
}

#[test]
fn a_failed_trial_wakes_a_waiter_too_who_then_waits_for_the_delay() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(10);
    let place = bench.breaker.acquire().unwrap();
    let changed = bench.breaker.changed();
    place.settle(Outcome::Failure);
    assert!(changed.now_or_never().is_some());
    assert_eq!(bench.breaker.acquire().unwrap_err().retry_at, Some(Timestamp::from_secs(20)));
}

#[test]
fn evidence_outlives_the_breaker() {
    let bench = Bench::new();
    bench.trip();
    let evidence = bench.breaker.evidence();
    let next = Bench::with(TwoStrikes { probed: false }, |b| b.adopt(evidence));
    assert_eq!(next.breaker.state().circuit(), Circuit::Open);
}

#[test]
fn shared_types_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Breaker>();
    crosses::<crate::Permit<'_>>();
    crosses::<crate::OwnedPermit>();
    crosses::<crate::Snapshot>();
}
