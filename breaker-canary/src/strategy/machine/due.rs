//! Phases, and what time alone makes of them. Nothing here changes anything: reading the state and committing what is due
//! are the same computation.

use std::time::Duration;

use breaker_core::{Reason, State, Tally, Timestamp};

use super::Machine;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    Closed { decided: Tally },
    Open { until: Option<Timestamp>, decided: Tally },
    HalfOpen(Trial),
}

impl Phase {
    /// The calls that brought it about. A half-open phase is always due to time or to a probe.
    pub(super) fn decided(&self) -> Tally {
        match self {
            Self::Closed { decided } | Self::Open { decided, .. } => *decided,
            Self::HalfOpen(_) => Tally::default(),
        }
    }
}

/// What the half-open calls have shown so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trial {
    pub(super) since: Timestamp,
    /// Places that are gone: to calls that are out, and to those that had a result.
    pub(super) taken: u32,
    pub(super) tally: Tally,
    /// When a place was last taken or a result last came in.
    pub(super) last_news: Timestamp,
}

impl Trial {
    pub(super) fn starting(at: Timestamp) -> Self {
        Self { since: at, taken: 0, tally: Tally::default(), last_news: at }
    }
}

/// What time alone does next to a phase.
pub(super) struct Due {
    pub(super) phase: Phase,
    pub(super) reason: Reason,
    /// How often the circuit opened.
    pub(super) trips: u32,
}

impl Machine {
    pub(super) fn opened(&self, at: Timestamp, decided: Tally) -> Phase {
        Phase::Open { until: self.rules.wait_in_open().and_then(|wait| deadline(at, wait)), decided }
    }

    pub(super) fn state_of(&self, phase: &Phase) -> State {
        match phase {
            Phase::Closed { .. } => State::Closed,
            Phase::Open { until, .. } => State::Open { until: *until },
            Phase::HalfOpen(trial) => State::HalfOpen {
                until: match self.rules.max_wait_in_half_open() {
                    Some(longest) => deadline(trial.since, longest),
                    None if self.is_full(trial) => deadline(trial.last_news, self.rules.lease()),
                    None => None,
                },
            },
        }
    }

    pub(super) fn is_full(&self, trial: &Trial) -> bool {
        trial.taken >= self.rules.permitted()
    }

    /// The next thing that is due by `now`.
    pub(super) fn due(&self, phase: Phase, now: Timestamp) -> Option<Due> {
        let at = self.state_of(&phase).until().filter(|until| now >= *until)?;
        let half_open = Phase::HalfOpen(Trial::starting(at));
        Some(match phase {
            Phase::Closed { .. } => return None,
            Phase::Open { .. } => Due { phase: half_open, reason: Reason::DelayPassed, trips: 0 },
            Phase::HalfOpen(trial) => match self.rules.max_wait_in_half_open() {
                None => Due { phase: half_open, reason: Reason::LeaseExpired, trips: 0 },
                Some(longest) => self.half_open_too_long(trial.tally, at, longest, now),
            },
        })
    }

    /// Opens at `at`. A circuit that nobody uses goes on from open to half-open to open: of all those cycles that
    /// would be over by `now`, this makes one long open state, which ends when the last of them would have.
    fn half_open_too_long(&self, calls: Tally, at: Timestamp, longest: Duration, now: Timestamp) -> Due {
        let mut due = Due { phase: self.opened(at, calls), reason: Reason::HalfOpenTooLong, trips: 1 };
        if let (Phase::Open { until: Some(until), .. }, Some(wait)) =
            (&mut due.phase, self.rules.wait_in_open())
        {
            let cycle = wait.saturating_add(longest).as_nanos();
            let cycles = now.since(*until).as_nanos() / cycle;
            // Both fit, since the cycles are over by `now`.
            *until = *until + Duration::from_nanos(u64::try_from(cycles * cycle).unwrap_or(u64::MAX));
            due.trips = u32::try_from(cycles).unwrap_or(u32::MAX).saturating_add(1);
        }
        due
    }

    /// The phase that `now` finds, and how often in a row the circuit has opened by then.
    pub(super) fn at(&self, now: Timestamp) -> (Phase, u32) {
        let (mut phase, mut trips) = (self.phase, self.trips);
        while let Some(due) = self.due(phase, now) {
            phase = due.phase;
            trips = trips.saturating_add(due.trips);
        }
        (phase, trips)
    }
}

/// `None` when it would lie past the end of time.
pub(super) fn deadline(from: Timestamp, span: Duration) -> Option<Timestamp> {
    Some(from + span).filter(|at| *at < Timestamp::MAX)
}
