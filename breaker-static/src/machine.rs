//! The rules as a state machine.

use std::time::Duration;

use breaker_core::{
    Change, Circuit, Evidence, GrowingDelay, Now, Outcome, Reason, Report, State, Strategy, Tally, Tick,
    Timestamp, config::IsoDuration, window::CountWindow,
};
use serde_json::{Value, json};

use crate::StaticThreshold;

#[derive(Debug)]
pub(crate) struct Machine {
    settings: StaticThreshold,
    /// Empty unless the circuit is closed.
    window: CountWindow,
    phase: Phase,
    change: Change,
    /// How often in a row it opened, which decides for how long it stays so.
    trips: u32,
    /// One of the settings, at hand for every result.
    failure_threshold: u32,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Closed,
    Open { until: Timestamp },
    HalfOpen(Trial),
}

/// What the half-open calls have shown so far.
#[derive(Clone, Copy, Debug)]
struct Trial {
    in_flight: u32,
    successes: u32,
    /// When a place was last taken or a result last came in.
    last_news: Timestamp,
}

impl Trial {
    fn starting(at: Timestamp) -> Self {
        Self { in_flight: 0, successes: 0, last_news: at }
    }

    fn tally(&self) -> Tally {
        Tally { calls: self.successes, ..Tally::default() }
    }
}

impl Machine {
    pub(crate) fn new(settings: StaticThreshold) -> Self {
        Self {
            window: CountWindow::new(settings.failure_threshold_capacity()),
            phase: Phase::Closed,
            change: Change::default(),
            trips: 0,
            failure_threshold: settings.failure_threshold().get(),
            settings,
        }
    }

    /// For how long it stays open after the last trip.
    fn delay(&self) -> Duration {
        let (base, max) = (self.settings.test_delay(), self.settings.max_test_delay());
        GrowingDelay::new(base, max).with_trips(self.trips).current()
    }

    #[inline]
    fn count(&mut self, failed: bool, now: &Now<'_>) {
        self.window.record(failed, false);
        let tally = self.window.tally();
        if tally.failures >= self.failure_threshold {
            self.trip(Reason::Failures, tally, now.get());
        }
    }

    /// How many calls it lets out while half-open, and how many successes close it then.
    fn places(&self) -> u32 {
        self.settings.success_threshold().get()
    }

    fn judge(&mut self, mut trial: Trial, outcome: Outcome, now: &Now<'_>) {
        trial.in_flight = trial.in_flight.saturating_sub(1);
        match outcome {
            Outcome::Success => {
                trial.successes += 1;
                trial.last_news = now.get();
                if trial.successes >= self.places() {
                    self.enter(Phase::Closed, Reason::TrialSucceeded, trial.tally());
                    self.trips = 0;
                    return;
                }
            }
            Outcome::Failure => {
                let tally = Tally { calls: trial.successes + 1, failures: 1, slow: 0 };
                return self.trip(Reason::TrialFailed, tally, now.get());
            }
            Outcome::Ignored | Outcome::Cancelled => {}
        }
        self.phase = Phase::HalfOpen(trial);
    }

    fn trip(&mut self, reason: Reason, tally: Tally, at: Timestamp) {
        self.trips = self.trips.saturating_add(1);
        let until = at + self.delay();
        self.enter(Phase::Open { until }, reason, tally);
    }

    fn enter(&mut self, phase: Phase, reason: Reason, tally: Tally) {
        self.window.clear();
        self.phase = phase;
        self.change = Change { reason, tally };
    }
}

impl Strategy for Machine {
    fn state(&self) -> State {
        match self.phase {
            Phase::Closed => State::Closed,
            Phase::Open { until } => State::Open { until: Some(until) },
            Phase::HalfOpen(trial) => State::HalfOpen {
                until: self.full().then(|| trial.last_news + self.settings.half_open_permit_lease()),
            },
        }
    }

    fn state_at(&self, now: Timestamp) -> State {
        match self.state() {
            // Whether an open delay or a lease is over: all places are free then, and no deadline runs.
            state if state.until().is_some_and(|until| now >= until) => State::HalfOpen { until: None },
            state => state,
        }
    }

    fn tick(&mut self, now: &Now<'_>) -> Tick {
        let Some(due) = self.state().until().filter(|until| now.get() >= *until) else {
            return Tick::SameEpoch;
        };
        let (reason, tick) = match self.phase {
            Phase::HalfOpen(_) => (Reason::LeaseExpired, Tick::NewEpoch),
            _ => (Reason::DelayPassed, Tick::SameEpoch),
        };
        self.enter(Phase::HalfOpen(Trial::starting(due)), reason, Tally::default());
        tick
    }

    fn admit(&mut self, now: &Now<'_>) -> bool {
        let full = self.full();
        match &mut self.phase {
            Phase::Closed => true,
            Phase::Open { .. } => false,
            Phase::HalfOpen(_) if full => false,
            Phase::HalfOpen(trial) => {
                trial.in_flight += 1;
                trial.last_news = now.get();
                true
            }
        }
    }

    fn settle(&mut self, report: &Report, now: &Now<'_>) {
        match (self.phase, report.outcome) {
            (Phase::Closed, Outcome::Success) => self.count(false, now),
            (Phase::Closed, Outcome::Failure) => self.count(true, now),
            (Phase::HalfOpen(trial), outcome) => self.judge(trial, outcome, now),
            (Phase::Closed, _) | (Phase::Open { .. }, _) => {}
        }
    }

    fn full(&self) -> bool {
        matches!(self.phase, Phase::HalfOpen(trial) if trial.in_flight >= self.places())
    }

    fn steady(&self) -> bool {
        matches!(self.phase, Phase::Closed) && self.window.is_steady()
    }

    fn change(&self) -> Change {
        self.change
    }

    fn tally(&self, now: Timestamp) -> Tally {
        match self.phase {
            Phase::Closed => self.window.tally(),
            Phase::HalfOpen(trial) if self.state_at(now) == self.state() => trial.tally(),
            Phase::HalfOpen(_) | Phase::Open { .. } => Tally::default(),
        }
    }

    fn evidence(&self, now: Timestamp) -> Evidence {
        let state = self.state_at(now);
        Evidence {
            circuit: state.circuit(),
            remaining: state.until().map(|until| until.since(now)),
            trips: self.trips,
            samples: self.window.samples(),
        }
    }

    fn adopt(&mut self, evidence: &Evidence, now: Timestamp) {
        // An open or half-open circuit has tripped at least once, whatever its strategy counted.
        self.trips = evidence.trips.max(1);
        match evidence.circuit {
            Circuit::Closed => {
                self.trips = 0;
                self.window.adopt(&evidence.samples);
            }
            Circuit::Open => {
                let longest = self.delay();
                let until = now + evidence.remaining.unwrap_or(longest).min(longest);
                self.phase = Phase::Open { until };
            }
            Circuit::HalfOpen => self.phase = Phase::HalfOpen(Trial::starting(now)),
        }
    }

    fn detail(&self, _: Timestamp) -> Value {
        match self.phase {
            Phase::Closed => Value::Null,
            Phase::Open { .. } => {
                json!({ "testDelay": IsoDuration::from(self.delay()), "trips": self.trips })
            }
            Phase::HalfOpen(trial) => {
                json!({ "inFlight": trial.in_flight, "places": self.places(), "trips": self.trips })
            }
        }
    }
}

#[cfg(test)]
mod tests;
