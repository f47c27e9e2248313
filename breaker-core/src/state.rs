//! The words that breakers and strategies share: states, outcomes, reports, tallies and reasons.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The state of a circuit: closed is healthy, open refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "a circuit has three states; callers may match them all")]
pub enum State {
    /// Calls pass.
    Closed,
    /// A limited number of calls pass, to find out whether the remote is well again.
    HalfOpen {
        /// When time alone ends this state (or starts it over); `None`: never.
        until: Option<Timestamp>,
    },
    /// Calls are rejected.
    Open {
        /// When calls may pass again; `None`: only a healthy probe ends this state.
        until: Option<Timestamp>,
    },
}

impl State {
    /// The state without its deadline.
    pub const fn circuit(self) -> Circuit {
        match self {
            Self::Closed => Circuit::Closed,
            Self::HalfOpen { .. } => Circuit::HalfOpen,
            Self::Open { .. } => Circuit::Open,
        }
    }

    /// When time alone ends this state; `None`: never.
    pub const fn until(self) -> Option<Timestamp> {
        match self {
            Self::Closed => None,
            Self::HalfOpen { until } | Self::Open { until } => until,
        }
    }
}

/// A [`State`] without its deadline, as logs, traces and evidence have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "a circuit has three states; callers may match them all")]
pub enum Circuit {
    /// Calls pass.
    #[default]
    Closed,
    /// A limited number of calls pass.
    HalfOpen,
    /// Calls are rejected.
    Open,
}

impl fmt::Display for Circuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Closed => "closed",
            Self::HalfOpen => "half_open",
            Self::Open => "open",
        })
    }
}

/// What became of a call that was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "strategies must consider every outcome")]
pub enum Outcome {
    /// The remote did its work.
    Success,
    /// The remote failed to.
    Failure,
    /// A verdict that says nothing about the remote, such as a bad request. Its half-open place comes
    /// back, and nothing else changes.
    Ignored,
    /// The call was given up before there was a verdict. Its half-open place comes back, and nothing else
    /// changes.
    Cancelled,
}

/// What a strategy is told of a call that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// What became of the call.
    pub outcome: Outcome,
    /// How long the call took; `None` unless the strategy [wants it](crate::Strategy::wants_latency) or the
    /// caller measured it.
    pub latency: Option<Duration>,
}

impl Report {
    /// A report of a call of unknown duration.
    pub const fn new(outcome: Outcome) -> Self {
        Self { outcome, latency: None }
    }

    /// The same report with the call's duration.
    #[must_use]
    pub const fn with_latency(mut self, latency: Option<Duration>) -> Self {
        self.latency = latency;
        self
    }
}

/// Counts of settled calls, ignored and cancelled ones left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "three plain counts, built by every strategy")]
pub struct Tally {
    /// All of them.
    pub calls: u32,
    /// Those that failed.
    pub failures: u32,
    /// Those that were slow, failed or not.
    pub slow: u32,
}

impl Tally {
    /// The share of failed calls in percent; `None` when there were no calls. For people: decisions
    /// compare whole numbers.
    pub fn failure_rate(self) -> Option<f64> {
        (self.calls > 0).then(|| f64::from(self.failures) * 100.0 / f64::from(self.calls))
    }
}

/// Why a circuit changed its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The strategy gave none.
    #[default]
    Unspecified,
    /// Too many failures.
    Failures,
    /// Too many slow calls.
    SlowCalls,
    /// The half-open calls did well.
    TrialSucceeded,
    /// The half-open calls did badly.
    TrialFailed,
    /// The delay of the open state has passed.
    DelayPassed,
    /// A probe found the remote healthy.
    ProbeHealthy,
    /// All half-open places were taken, and nothing was heard of them for the length of the lease.
    LeaseExpired,
    /// The longest allowed time in half-open has passed.
    HalfOpenTooLong,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Unspecified => "unspecified",
            Self::Failures => "too many failures",
            Self::SlowCalls => "too many slow calls",
            Self::TrialSucceeded => "half-open calls succeeded",
            Self::TrialFailed => "half-open calls failed",
            Self::DelayPassed => "the open delay has passed",
            Self::ProbeHealthy => "a probe found the remote healthy",
            Self::LeaseExpired => "the half-open lease expired",
            Self::HalfOpenTooLong => "half-open for too long",
        })
    }
}

/// A strategy's last change of state: why, and by which numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "built by every strategy")]
pub struct Change {
    /// Why the state changed.
    pub reason: Reason,
    /// The calls that decided it.
    pub tally: Tally,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_failure_rate_is_the_share_of_all_calls_in_percent() {
        let tally = Tally { calls: 8, failures: 3, slow: 5 };
        assert_eq!(tally.failure_rate(), Some(37.5));
        assert_eq!(Tally::default().failure_rate(), None, "no calls, no share");
    }

    #[test]
    fn circuits_and_reasons_pad_as_words_do() {
        assert_eq!(format!("[{:>9}]", Circuit::HalfOpen), "[half_open]");
        assert_eq!(format!("[{:<6}]", Circuit::Open), "[open  ]");
        assert_eq!(format!("[{:13}]", Reason::Unspecified), "[unspecified  ]");
        assert_eq!(Reason::SlowCalls.to_string(), "too many slow calls");
    }
}
