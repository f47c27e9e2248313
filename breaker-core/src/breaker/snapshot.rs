use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::Breaker;
use crate::{Circuit, Evidence, Mode, RejectionReason, State, Tally, Timestamp, sync::lock};

/// What decides whether a call would pass now: enough to order candidates by, read without changing
/// anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// The state, as it is due now.
    pub circuit: Circuit,
    /// Who decides.
    pub mode: Mode,
    /// Half-open with no place free.
    pub full: bool,
    /// When time alone changes the state; `None`: never.
    pub until: Option<Timestamp>,
}

impl Status {
    /// Why a call would be rejected; `None` when it would pass.
    pub fn refusal(&self) -> Option<RejectionReason> {
        match (self.mode, self.circuit) {
            (Mode::ForcedOpen, _) => Some(RejectionReason::ForcedOpen),
            (Mode::Disabled | Mode::ObserveOnly, _) => None,
            (Mode::Automatic, Circuit::Open) => Some(RejectionReason::Open),
            (Mode::Automatic, Circuit::HalfOpen) => self.full.then_some(RejectionReason::NoPlace),
            (Mode::Automatic, Circuit::Closed) => None,
        }
    }
}

impl Status {
    fn under_control(self) -> Self {
        match self.mode {
            Mode::ForcedOpen => Self { circuit: Circuit::Open, full: false, until: None, ..self },
            Mode::Disabled => Self { circuit: Circuit::Closed, full: false, until: None, ..self },
            Mode::Automatic | Mode::ObserveOnly => self,
        }
    }
}

/// Everything about a breaker that a person would want to see.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// The breaker's name, if it has one.
    pub name: Option<Arc<str>>,
    /// The strategy's name.
    pub strategy: &'static str,
    /// The strategy's state, as it is due at [`at`](Self::at), whoever decides.
    pub state: State,
    /// Who decides.
    pub mode: Mode,
    /// Counts the states that the circuit was in.
    pub epoch: u64,
    /// When the present epoch began.
    pub since: Timestamp,
    /// When the snapshot was taken.
    pub at: Timestamp,
    /// The counts of the present window.
    pub tally: Tally,
    /// Results that came after the state they belonged to had ended, since the breaker was built.
    pub stale: u64,
    /// Calls that passed only because the breaker was [observing](Mode::ObserveOnly).
    pub would_reject: u64,
    /// Whatever else the strategy shows.
    pub detail: Value,
}

impl Breaker {
    /// The state, as it is due now: an open circuit whose delay has passed is half-open. Forced open reads
    /// as open, disabled as closed. Changes nothing.
    pub fn state(&self) -> State {
        let status = self.status();
        match status.circuit {
            Circuit::Closed => State::Closed,
            Circuit::HalfOpen => State::HalfOpen { until: status.until },
            Circuit::Open => State::Open { until: status.until },
        }
    }

    /// Whether the circuit is closed and its strategy decides: every call passes. The cheapest look at a circuit.
    #[inline]
    pub fn passes(&self) -> bool {
        self.gate.word().passes()
    }

    /// What decides whether a call would pass now. Changes nothing, and takes a lock only when a change of
    /// state is due, or being made.
    pub fn status(&self) -> Status {
        if let Some((word, deadline)) = self.gate.read()
            && deadline.is_none_or(|at| !self.setup.clock.has_come(at))
        {
            return Status {
                circuit: word.circuit(),
                mode: word.mode(),
                full: word.is_full(),
                until: deadline,
            }
            .under_control();
        }
        let core = lock(&self.core);
        let now = self.setup.clock.now();
        let state = core.strategy.state_at(now);
        // What is due begins with all places free, unless someone has entered it in the meantime.
        let due = core.state().until().is_some_and(|at| now >= at);
        let full = !due && core.word().is_full();
        let until = state.until().filter(|at| *at > now);
        Status { circuit: state.circuit(), mode: core.mode, full, until }.under_control()
    }

    /// Whether the circuit is open because its strategy opened it, rather than because it started so or was
    /// forced.
    pub fn is_tripped(&self) -> bool {
        let word = self.gate.word();
        word.circuit() == Circuit::Open && word.mode() == Mode::Automatic && lock(&self.core).tripped
    }

    /// Everything about the breaker. Changes nothing.
    pub fn snapshot(&self) -> Snapshot {
        let name = self.name();
        let core = lock(&self.core);
        let at = self.setup.clock.now();
        let (stale, would_reject) = core.counts_aside();
        Snapshot {
            name,
            strategy: self.setup.blueprint.name(),
            state: core.strategy.state_at(at),
            mode: core.mode,
            epoch: core.epoch,
            since: core.since,
            at,
            tally: core.strategy.tally(at),
            stale,
            would_reject,
            detail: core.strategy.detail(at),
        }
    }

    /// What is known about the remote, to be [adopted](super::BreakerBuilder::adopt) by another breaker.
    pub fn evidence(&self) -> Evidence {
        let core = lock(&self.core);
        core.strategy.evidence(self.setup.clock.now())
    }
}
