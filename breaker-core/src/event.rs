//! What a breaker tells of itself.

use std::{fmt, sync::Arc};

use serde::Serialize;

use crate::{Circuit, Reason, Tally, Timestamp};

/// Who decides whether calls pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
#[expect(clippy::exhaustive_enums, reason = "callers may match all of them")]
pub enum Mode {
    /// The strategy.
    #[default]
    Automatic,
    /// Nobody passes until [`release`](crate::Breaker::release).
    ForcedOpen,
    /// Everybody passes, and nothing is recorded.
    Disabled,
    /// Everybody passes, and the strategy says what it would have done.
    ObserveOnly,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Automatic => "automatic",
            Self::ForcedOpen => "forced_open",
            Self::Disabled => "disabled",
            Self::ObserveOnly => "observe_only",
        })
    }
}

/// Something that happened to a circuit. Every event starts a new epoch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Event {
    /// The breaker's name, if it has one.
    pub name: Option<Arc<str>>,
    /// When it happened. A transition that was due by time happened at its deadline, not when it was
    /// noticed.
    pub at: Timestamp,
    /// The epoch that it started.
    pub epoch: u64,
    /// Who decides from then on. In [`Mode::ObserveOnly`] transitions are what would have happened.
    pub mode: Mode,
    /// What happened.
    pub kind: EventKind,
}

/// What happened to a circuit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The strategy changed its state.
    #[non_exhaustive]
    Transition {
        /// The state before.
        from: Circuit,
        /// The state from now on.
        to: Circuit,
        /// Why.
        reason: Reason,
        /// The calls that decided it.
        tally: Tally,
        /// When time alone changes the state again; `None`: never.
        retry_at: Option<Timestamp>,
    },
    /// The strategy began its present state anew; the calls that were out no longer count.
    #[non_exhaustive]
    StartedOver {
        /// The state, before and after.
        state: Circuit,
        /// Why.
        reason: Reason,
    },
    /// Someone took or gave up manual control.
    #[non_exhaustive]
    ModeChanged {
        /// Who decided before.
        from: Mode,
    },
    /// The strategy was put into its start state and forgot everything.
    #[non_exhaustive]
    Reset {
        /// The state before.
        from: Circuit,
        /// The start state.
        to: Circuit,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            EventKind::Transition { from, to, reason, tally, .. } => {
                write!(f, "{from} -> {to}: {reason}")?;
                match (tally.calls, tally.slow) {
                    (0, _) => Ok(()),
                    (calls, 0) => write!(f, " ({} of {calls} failed)", tally.failures),
                    (calls, slow) => write!(f, " ({} failed and {slow} slow of {calls})", tally.failures),
                }
            }
            EventKind::StartedOver { state, reason } => write!(f, "{state} over again: {reason}"),
            EventKind::ModeChanged { from } => write!(f, "{from} -> {}", self.mode),
            EventKind::Reset { from, to } => write!(f, "{from} -> {to}: reset"),
        }
    }
}

/// Receives a breaker's events: in order, each once, one at a time, outside the breaker's lock.
///
/// It runs on the thread of whoever used the breaker, so it should be quick. It may call the breaker; events that it
/// causes come after the present one. A panic is caught and logged.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn on_event(&self, event: &Event);
}

impl<F: Fn(&Event) + Send + Sync> Observer for F {
    fn on_event(&self, event: &Event) {
        self(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(mode: Mode, kind: EventKind) -> String {
        Event { name: None, at: Timestamp::ZERO, epoch: 2, mode, kind }.to_string()
    }

    fn opened(calls: u32, failures: u32, slow: u32) -> String {
        let tally = Tally { calls, failures, slow };
        let (from, to, reason) = (Circuit::Closed, Circuit::Open, Reason::SlowCalls);
        told(Mode::Automatic, EventKind::Transition { from, to, reason, tally, retry_at: None })
    }

    #[test]
    fn a_transition_tells_the_numbers_that_decided_it() {
        assert_eq!(opened(0, 0, 0), "closed -> open: too many slow calls");
        assert_eq!(opened(4, 3, 0), "closed -> open: too many slow calls (3 of 4 failed)");
        assert_eq!(opened(4, 1, 2), "closed -> open: too many slow calls (1 failed and 2 slow of 4)");
    }

    #[test]
    fn what_else_happens_is_told_in_a_line() {
        let over = EventKind::StartedOver { state: Circuit::HalfOpen, reason: Reason::LeaseExpired };
        assert_eq!(told(Mode::Automatic, over), "half_open over again: the half-open lease expired");
        let changed = EventKind::ModeChanged { from: Mode::Automatic };
        assert_eq!(told(Mode::ForcedOpen, changed), "automatic -> forced_open");
        let reset = EventKind::Reset { from: Circuit::Open, to: Circuit::Closed };
        assert_eq!(told(Mode::Disabled, reset), "open -> closed: reset");
    }
}
