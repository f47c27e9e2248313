#![allow(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod admission;
mod calls;
mod control;
mod events;
mod probes;
mod shown;
mod steps;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{FutureExt, executor::block_on, future::pending};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Attendant, Breaker, BreakerBuilder, BuildError, CallError, Change, Circuit, Event, EventKind, Evidence,
    ManualClock, Mode, Now, Outcome, ProbePlan, Reason, RejectionReason, Report, Settlement, State, Strategy,
    Tally, Tick, Timestamp,
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
