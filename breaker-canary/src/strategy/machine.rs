//! The rules as a state machine.

mod due;

use std::sync::Arc;

use breaker_core::{
    Change, Circuit, Evidence, Now, Outcome, ProbePlan, Reason, Report, State, Strategy, Tally, Tick,
    Timestamp, config::IsoDuration, window::Window,
};
use serde_json::{Value, json};

use self::due::{Phase, Trial, deadline};
use super::rules::Rules;

#[derive(Debug)]
pub(super) struct Machine {
    rules: Arc<Rules>,
    /// Empty unless the circuit is closed.
    window: Window,
    phase: Phase,
    /// Why it is in this phase.
    reason: Reason,
    /// How often in a row it opened, which decides how often it wants canaries.
    trips: u32,
    /// The window came from elsewhere, and was not judged by these rules yet.
    adopted: bool,
}

impl Machine {
    pub(super) fn new(rules: Arc<Rules>, now: Timestamp) -> Self {
        let mut machine = Self {
            window: rules.window(),
            phase: Phase::Closed { decided: Tally::default() },
            reason: Reason::default(),
            trips: 0,
            adopted: false,
            rules,
        };
        if machine.rules.starts_open() {
            machine.trips = 1;
            machine.phase = machine.opened(now, Tally::default());
        }
        machine
    }

    #[inline]
    fn count(&mut self, failed: bool, slow: bool, now: &Now<'_>) {
        match &mut self.window {
            Window::Count(window) => {
                let grows = !window.is_full();
                window.record(failed, slow);
                // Among the last n calls one that is well makes no share greater, unless it is the one that makes them enough.
                let is_enough_now = || grows && self.rules.are_just_enough(window.calls());
                if !(failed || slow || self.adopted || is_enough_now()) {
                    return;
                }
            }
            window => window.record(failed, slow, now),
        }
        self.judge_window(now);
    }

    fn judge_window(&mut self, now: &Now<'_>) {
        self.adopted = false;
        let tally = self.window.tally(now);
        if let Some(reason) = self.rules.closed_verdict(tally) {
            self.trip(reason, tally, now.get());
        }
    }

    fn judge(&mut self, mut trial: Trial, failed: bool, slow: bool, now: &Now<'_>) {
        trial.tally.calls += 1;
        trial.tally.failures += u32::from(failed);
        trial.tally.slow += u32::from(slow);
        trial.last_news = now.get();
        if trial.tally.calls < self.rules.deciding_calls() {
            self.phase = Phase::HalfOpen(trial);
        } else if self.rules.fails_trial(trial.tally) {
            self.trip(Reason::TrialFailed, trial.tally, now.get());
        } else {
            self.enter(Phase::Closed { decided: trial.tally }, Reason::TrialSucceeded);
            self.trips = 0;
        }
    }

    fn trip(&mut self, reason: Reason, tally: Tally, at: Timestamp) {
        self.trips = self.trips.saturating_add(1);
        self.enter(self.opened(at, tally), reason);
    }

    fn enter(&mut self, phase: Phase, reason: Reason) {
        if self.is_closed() {
            self.window.clear();
        }
        (self.phase, self.reason) = (phase, reason);
    }

    fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed { .. })
    }
}

impl Strategy for Machine {
    fn state(&self) -> State {
        match &self.phase {
            Phase::Closed { .. } => State::Closed,
            phase => self.state_of(phase),
        }
    }

    fn state_at(&self, now: Timestamp) -> State {
        self.state_of(&self.at(now).0)
    }

    fn tick(&mut self, now: &Now<'_>) -> Tick {
        if self.state().until().is_none() {
            return Tick::SameEpoch;
        }
        let Some(due) = self.due(self.phase, now.get()) else {
            return Tick::SameEpoch;
        };
        self.trips = self.trips.saturating_add(due.trips);
        self.enter(due.phase, due.reason);
        if due.reason == Reason::LeaseExpired { Tick::NewEpoch } else { Tick::SameEpoch }
    }

    fn admit(&mut self, now: &Now<'_>) -> bool {
        match self.phase {
            Phase::Closed { .. } => true,
            Phase::Open { .. } => false,
            Phase::HalfOpen(trial) if self.is_full(&trial) => false,
            Phase::HalfOpen(trial) => {
                let last_news = now.get();
                self.phase = Phase::HalfOpen(Trial { taken: trial.taken + 1, last_news, ..trial });
                true
            }
        }
    }

    fn settle(&mut self, report: &Report, now: &Now<'_>) {
        let slow = report.latency.is_some_and(|latency| self.rules.is_slow(latency));
        let failed = match report.outcome {
            Outcome::Success => false,
            Outcome::Failure => true,
            Outcome::Ignored | Outcome::Cancelled => {
                if let Phase::HalfOpen(trial) = &mut self.phase {
                    trial.taken = trial.taken.saturating_sub(1);
                }
                return;
            }
        };
        match &self.phase {
            Phase::Closed { .. } => self.count(failed, slow, now),
            Phase::HalfOpen(trial) => self.judge(*trial, failed, slow, now),
            Phase::Open { .. } => {}
        }
    }

    fn probed(&mut self, healthy: bool, now: &Now<'_>) {
        if healthy && matches!(self.phase, Phase::Open { .. }) {
            self.enter(Phase::HalfOpen(Trial::starting(now.get())), Reason::ProbeHealthy);
        }
    }

    fn probe_plan(&self) -> Option<ProbePlan> {
        matches!(self.phase, Phase::Open { .. }).then(|| self.rules.probe_plan(self.trips))
    }

    fn full(&self) -> bool {
        matches!(self.phase, Phase::HalfOpen(trial) if self.is_full(&trial))
    }

    fn steady(&self) -> bool {
        self.is_closed() && !self.rules.counts_slow_calls() && self.window.is_steady()
    }

    fn wants_latency(&self) -> bool {
        self.rules.counts_slow_calls()
    }

    fn change(&self) -> Change {
        Change { reason: self.reason, tally: self.phase.decided() }
    }

    fn tally(&self, now: Timestamp) -> Tally {
        match self.at(now).0 {
            Phase::Closed { .. } => self.window.tally(&now.into()),
            Phase::HalfOpen(trial) => trial.tally,
            Phase::Open { .. } => Tally::default(),
        }
    }

    fn evidence(&self, now: Timestamp) -> Evidence {
        let (phase, trips) = self.at(now);
        let state = self.state_of(&phase);
        Evidence {
            circuit: state.circuit(),
            remaining: state.until().map(|until| until.since(now)),
            trips,
            samples: self.window.samples(&now.into()),
        }
    }

    fn adopt(&mut self, evidence: &Evidence, now: Timestamp) {
        // An open or half-open circuit has opened at least once, whatever its strategy counted.
        self.trips = evidence.trips.max(1);
        self.phase = match evidence.circuit {
            Circuit::Closed => {
                self.trips = 0;
                self.window.adopt(&evidence.samples, &now.into());
                self.adopted = true;
                Phase::Closed { decided: Tally::default() }
            }
            Circuit::Open => Phase::Open {
                until: self
                    .rules
                    .wait_in_open()
                    .and_then(|wait| deadline(now, evidence.remaining.unwrap_or(wait).min(wait))),
                decided: Tally::default(),
            },
            Circuit::HalfOpen => Phase::HalfOpen(Trial::starting(now)),
        };
    }

    fn detail(&self, now: Timestamp) -> Value {
        let (phase, trips) = self.at(now);
        match phase {
            Phase::Closed { .. } => Value::Null,
            Phase::Open { .. } => {
                let interval = self.rules.canary_interval(trips);
                json!({ "canaryInterval": IsoDuration::from(interval), "trips": trips })
            }
            Phase::HalfOpen(trial) => {
                json!({ "taken": trial.taken, "places": self.rules.permitted(), "trips": trips })
            }
        }
    }
}

#[cfg(test)]
mod tests;
