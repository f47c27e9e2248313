use std::{fmt, time::Duration};

use serde::Serialize;

use crate::Timestamp;

/// Why a call was not admitted, and when to come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[non_exhaustive]
pub struct Rejection {
    /// Why.
    pub reason: RejectionReason,
    /// When the circuit lets calls pass again by time alone; `None` when only a probe, a returned place or
    /// a person can change it. Earlier chances are not ruled out: await [`ready`](crate::Breaker::ready).
    pub retry_at: Option<Timestamp>,
}

impl Rejection {
    pub(crate) const fn new(reason: RejectionReason, retry_at: Option<Timestamp>) -> Self {
        Self { reason, retry_at }
    }

    /// The time from `now` to [`retry_at`](Self::retry_at).
    pub fn retry_after(&self, now: Timestamp) -> Option<Duration> {
        self.retry_at.map(|at| at.since(now))
    }
}

/// Why a call was not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RejectionReason {
    /// The circuit is open.
    Open,
    /// The circuit is half-open, and its places are taken.
    NoPlace,
    /// A person forced the circuit open.
    ForcedOpen,
}

impl fmt::Display for RejectionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Open => "the circuit is open",
            Self::NoPlace => "the circuit is half-open and its places are taken",
            Self::ForcedOpen => "the circuit is forced open",
        })
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reason)?;
        match (self.retry_at, self.reason) {
            (Some(at), _) => write!(f, " until {at} on its clock"),
            (None, RejectionReason::Open) => f.write_str(" until a probe finds the remote healthy"),
            (None, _) => Ok(()),
        }
    }
}
