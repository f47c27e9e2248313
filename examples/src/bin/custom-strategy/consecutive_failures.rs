//! The strategy and its settings: all that its author writes, and nothing of it knows of threads.

use std::num::NonZeroU32;

use breaker_core::{
    Change, Circuit, Evidence, Now, Outcome, Reason, Report, State, Strategy, Tally, Tick, Timestamp,
    config::{IsoDuration, StrategyConfig, Violations},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings, as a file has them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ConsecutiveFailures {
    /// So many failures in a row open the circuit.
    failures_in_a_row: NonZeroU32,
    /// An open circuit lets one call try the remote after this time.
    #[schemars(extend("exclusiveMinimum" = 0))]
    retry_after: IsoDuration,
}

impl Default for ConsecutiveFailures {
    fn default() -> Self {
        Self { failures_in_a_row: NonZeroU32::MIN.saturating_add(4), retry_after: IsoDuration::from_secs(20) }
    }
}

impl StrategyConfig for ConsecutiveFailures {
    const NAME: &'static str = "CONSECUTIVE_FAILURES";
    type Keys = Self;

    fn from_keys(keys: Self) -> Result<Self, Violations> {
        Ok(keys)
    }

    fn build(&self, _: Timestamp) -> Box<dyn Strategy> {
        Box::new(Machine { settings: *self, state: State::Closed, streak: 0, change: Change::default() })
    }
}

/// The rules.
#[derive(Debug)]
struct Machine {
    settings: ConsecutiveFailures,
    /// Half-open has a deadline while the one call is out.
    state: State,
    /// Failures in a row.
    streak: u32,
    change: Change,
}

const HALF_OPEN: State = State::HalfOpen { until: None };

impl Machine {
    fn enter(&mut self, state: State, reason: Reason) {
        let failures = if state.circuit() == Circuit::Open { self.streak } else { 0 };
        let tally = Tally { calls: failures, failures, slow: 0 };
        (self.state, self.change) = (state, Change { reason, tally });
    }

    fn later(&self, now: Timestamp) -> Option<Timestamp> {
        Some(now + self.settings.retry_after.get())
    }
}

impl Strategy for Machine {
    fn state(&self) -> State {
        self.state
    }

    fn tick(&mut self, now: &Now<'_>) -> Tick {
        match self.state {
            State::Open { until: Some(at) } if now.get() >= at => self.enter(HALF_OPEN, Reason::DelayPassed),
            State::HalfOpen { until: Some(at) } if now.get() >= at => {
                // The one call was not heard of for as long as that: another one may try.
                self.enter(HALF_OPEN, Reason::LeaseExpired);
                return Tick::NewEpoch;
            }
            _ => {}
        }
        Tick::SameEpoch
    }

    fn admit(&mut self, now: &Now<'_>) -> bool {
        let free = !self.full();
        if free {
            self.state = State::HalfOpen { until: self.later(now.get()) };
        }
        free
    }

    fn settle(&mut self, report: &Report, now: &Now<'_>) {
        let closed = self.state == State::Closed;
        match report.outcome {
            Outcome::Success => {
                self.streak = 0;
                self.enter(State::Closed, Reason::TrialSucceeded);
            }
            Outcome::Failure => {
                self.streak = self.streak.saturating_add(1);
                if !closed || self.streak >= self.settings.failures_in_a_row.get() {
                    let reason = if closed { Reason::Failures } else { Reason::TrialFailed };
                    self.enter(State::Open { until: self.later(now.get()) }, reason);
                }
            }
            Outcome::Ignored | Outcome::Cancelled if closed => {}
            Outcome::Ignored | Outcome::Cancelled => self.state = HALF_OPEN,
        }
    }

    fn full(&self) -> bool {
        matches!(self.state, State::HalfOpen { until: Some(_) })
    }

    fn steady(&self) -> bool {
        self.streak == 0
    }

    fn change(&self) -> Change {
        self.change
    }

    fn adopt(&mut self, evidence: &Evidence, now: Timestamp) {
        self.state = match evidence.circuit {
            Circuit::Closed => State::Closed,
            Circuit::HalfOpen => HALF_OPEN,
            // The rest of the delay, and no more than these settings would wait.
            Circuit::Open => {
                let retry = self.settings.retry_after.get();
                State::Open { until: Some(now + evidence.remaining.unwrap_or(retry).min(retry)) }
            }
        };
    }
}

#[cfg(test)]
mod tests;
