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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_says_why_and_what_ends_it() {
        let told = |reason, retry_at| Rejection::new(reason, retry_at).to_string();
        let at = Some(Timestamp::from_millis(1_500));
        assert_eq!(told(RejectionReason::Open, at), "the circuit is open until 1.5s on its clock");
        assert_eq!(
            told(RejectionReason::Open, None),
            "the circuit is open until a probe finds the remote healthy"
        );
        assert_eq!(told(RejectionReason::NoPlace, None), "the circuit is half-open and its places are taken");
        assert_eq!(told(RejectionReason::ForcedOpen, None), "the circuit is forced open");
    }

    #[test]
    fn the_wait_ends_at_the_retry_and_is_never_negative() {
        let rejection = Rejection::new(RejectionReason::Open, Some(Timestamp::from_secs(10)));
        assert_eq!(rejection.retry_after(Timestamp::from_secs(4)), Some(Duration::from_secs(6)));
        assert_eq!(rejection.retry_after(Timestamp::from_secs(11)), Some(Duration::ZERO));
        assert_eq!(Rejection::new(RejectionReason::Open, None).retry_after(Timestamp::ZERO), None);
    }
}
