//! What a breaker keeps under its lock: the strategy, and the epoch it is in.

use std::{collections::VecDeque, sync::Weak, time::Duration};

use super::{
    attend::Attendant,
    gate::{Gate, Word},
};
use crate::{Circuit, Event, EventKind, Mode, Now, Outcome, Report, State, Strategy, Tick, Timestamp};

/// A strategy that is due again and again without getting anywhere is given up for this operation.
const MOST_STEPS: usize = 16;

/// What most circuits have nothing of most of the time.
#[derive(Debug, Default)]
struct Aside {
    /// What happened and was not told yet.
    events: VecDeque<Event>,
    /// See [`Snapshot`](super::Snapshot).
    stale: u64,
    would_reject: u64,
}

pub(super) struct Core {
    pub(super) strategy: Box<dyn Strategy>,
    /// Until when the [state](Self::state) lasts; `Timestamp::MAX`: no time ends it.
    until: Timestamp,
    circuit: Circuit,
    pub(super) mode: Mode,
    pub(super) epoch: u64,
    /// When the present epoch began.
    pub(super) since: Timestamp,
    /// Whether the strategy itself opened the circuit, rather than starting open.
    pub(super) tripped: bool,
    /// Someone may be waiting for what the last operation did.
    pub(super) wake: bool,
    /// Who is told so, besides those who wait.
    pub(super) attendant: Option<Weak<dyn Attendant>>,
    /// A word in every circuit, since few have any.
    aside: Option<Box<Aside>>,
    pub(super) draining: bool,
}

impl Core {
    pub(super) fn new(strategy: Box<dyn Strategy>, now: Timestamp) -> Self {
        let state = strategy.state();
        Self {
            until: state.until().unwrap_or(Timestamp::MAX),
            circuit: state.circuit(),
            strategy,
            mode: Mode::Automatic,
            epoch: 1,
            since: now,
            tripped: false,
            wake: false,
            attendant: None,
            aside: None,
            draining: false,
        }
    }

    /// What the strategy said after it was last called.
    pub(super) fn state(&self) -> State {
        let until = (self.until != Timestamp::MAX).then_some(self.until);
        match self.circuit {
            Circuit::Closed => State::Closed,
            Circuit::HalfOpen => State::HalfOpen { until },
            Circuit::Open => State::Open { until },
        }
    }

    fn hold(&mut self, state: State) {
        (self.circuit, self.until) = (state.circuit(), state.until().unwrap_or(Timestamp::MAX));
    }

    pub(super) fn circuit(&self) -> Circuit {
        self.circuit
    }

    pub(super) fn word(&self) -> Word {
        Word::new(self.epoch, self.mode, self.circuit)
            .steady(self.circuit == Circuit::Closed && self.strategy.steady())
            .full(self.circuit == Circuit::HalfOpen && self.strategy.full())
    }

    /// Closed under no manual control: calls are counted, and time changes nothing.
    pub(super) fn is_plainly_closed(&self) -> bool {
        matches!((self.mode, self.circuit), (Mode::Automatic, Circuit::Closed))
    }

    pub(super) fn publish(&self, gate: &Gate) {
        gate.publish(self.word(), self.state());
    }

    /// Does what is due by time, each step dated at its own deadline.
    pub(super) fn advance(&mut self, now: &Now<'_>) {
        for _ in 0..MOST_STEPS {
            let Some(due) = self.state().until().filter(|until| now.get() >= *until) else { return };
            let (before, tick) = (self.state(), self.strategy.tick(now));
            self.note(tick, || due);
            if self.state() == before && tick == Tick::SameEpoch {
                return;
            }
        }
    }

    pub(super) fn admit(&mut self, now: &Now<'_>) -> bool {
        match self.circuit {
            Circuit::Closed => true,
            Circuit::Open => false,
            Circuit::HalfOpen => {
                let admitted = self.strategy.admit(now);
                self.note(Tick::SameEpoch, || now.get());
                admitted
            }
        }
    }

    pub(super) fn settle(&mut self, outcome: Outcome, latency: Option<Duration>, now: &Now<'_>) {
        self.wake |= self.circuit == Circuit::HalfOpen;
        self.strategy.settle(&Report::new(outcome).with_latency(latency), now);
        self.note(Tick::SameEpoch, || now.get());
    }

    pub(super) fn probed(&mut self, healthy: bool, now: &Now<'_>) {
        self.strategy.probed(healthy, now);
        self.note(Tick::SameEpoch, || now.get());
    }

    /// Starts a new epoch if the strategy changed its state, and queues the event.
    pub(super) fn note(&mut self, tick: Tick, at: impl FnOnce() -> Timestamp) {
        let (from, state) = (self.circuit, self.strategy.state());
        let to = state.circuit();
        if from == to && tick == Tick::SameEpoch {
            self.hold(state);
            return;
        }
        // Asked before anything is noted: should it panic, the next operation finds the change still to be noted.
        let (at, change) = (at(), self.strategy.change());
        self.hold(state);
        self.tripped = to == Circuit::Open;
        self.new_epoch(at);
        self.push(
            at,
            if from == to {
                EventKind::StartedOver { state: to, reason: change.reason }
            } else {
                EventKind::Transition {
                    from,
                    to,
                    reason: change.reason,
                    tally: change.tally,
                    retry_at: state.until(),
                }
            },
        );
    }

    pub(super) fn new_epoch(&mut self, at: Timestamp) {
        self.epoch += 1;
        self.since = at;
        self.wake = true;
    }

    /// Puts a strategy in the place of the present one.
    pub(super) fn replace(&mut self, strategy: Box<dyn Strategy>, at: Timestamp) {
        self.strategy = strategy;
        self.hold(self.strategy.state());
        self.new_epoch(at);
    }

    pub(super) fn count_stale(&mut self) {
        self.aside.get_or_insert_default().stale += 1;
    }

    pub(super) fn count_would_reject(&mut self) {
        self.aside.get_or_insert_default().would_reject += 1;
    }

    /// Results of epochs that were over, and calls that passed only because the breaker was observing.
    pub(super) fn counts_aside(&self) -> (u64, u64) {
        self.aside.as_ref().map_or((0, 0), |aside| (aside.stale, aside.would_reject))
    }

    pub(super) fn has_events(&self) -> bool {
        self.aside.as_ref().is_some_and(|aside| !aside.events.is_empty())
    }

    pub(super) fn next_event(&mut self) -> Option<Event> {
        let aside = self.aside.as_mut()?;
        let event = aside.events.pop_front();
        if event.is_none() {
            aside.events = VecDeque::new();
            if self.counts_aside() == (0, 0) {
                self.aside = None;
            }
        }
        event
    }

    pub(super) fn push(&mut self, at: Timestamp, kind: EventKind) {
        self.aside.get_or_insert_default().events.push_back(Event {
            name: None,
            at,
            epoch: self.epoch,
            mode: self.mode,
            kind,
        });
    }
}
