//! Which replica to ask first: a pure read of circuits and health. Nobody is left out, and nothing is
//! changed; recovery comes from probes, trials and time.

use std::cmp::Ordering;

use breaker_core::{Circuit, Mode, Now, RejectionReason, Status, Timestamp};
use fastrand::Rng;

use crate::{
    Address, HealthStatus, Replica,
    config::{Order, PoolConfig},
};

/// Forced open: behind everything else.
const LAST: u8 = 5;
const OPEN: u8 = 4;
const FAILED_HERE: u8 = 3;

/// What selection saw of one replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) circuit: Status,
    pub(crate) health: HealthStatus,
    /// It was unhealthy for so long that the gateway should be asked again.
    pub(crate) overdue: bool,
    /// When its mark will no longer be held against it; zero as long as the gateway should be asked for that.
    pub(crate) forgiven_at: Timestamp,
}

impl View {
    pub(crate) fn of<A: Address, H>(replica: &Replica<A, H>, now: &Now<'_>, config: &PoolConfig) -> Self {
        let bound = config.unhealthy_timeout();
        let mark = replica.mark();
        let (health, overdue, forgiven_at) = if mark.is_ageless() {
            (mark.status(), false, Timestamp::MAX)
        } else {
            let (health, overdue) = mark.read(now.get(), bound);
            let forgiven_at = match (health == mark.status(), overdue) {
                (true, _) => mark.at() + bound,
                (false, true) => Timestamp::ZERO,
                (false, false) => Timestamp::MAX,
            };
            (health, overdue, forgiven_at)
        };
        let suspected = match (replica.waiting(), config.suspect_after()) {
            (Some(waiting), Some(span)) => !waiting.is_idle() && waiting.is_silent(now.get(), span),
            _ => false,
        };
        let health = if suspected { HealthStatus::Unhealthy } else { health };
        Self { circuit: replica.breaker().status(), health, overdue, forgiven_at }
    }

    /// Until when it ranks and looks as now unless a change is counted; zero where it may change at any time.
    pub(crate) fn settled_until(&self) -> Timestamp {
        let circuit = match (self.circuit.mode, self.circuit.circuit) {
            (Mode::Automatic, Circuit::HalfOpen) => Timestamp::ZERO,
            (Mode::Automatic, Circuit::Open) => self.circuit.until.unwrap_or(Timestamp::MAX),
            _ => Timestamp::MAX,
        };
        circuit.min(self.forgiven_at)
    }

    /// 0 for one that is to be asked first.
    pub(crate) fn rank(&self, order: Order) -> u8 {
        self.key(false, order).rank
    }

    /// Whether a call may be sent to it to find out whether it is well again.
    fn is_on_trial(&self) -> bool {
        self.circuit.mode == Mode::Automatic
            && self.circuit.circuit == Circuit::HalfOpen
            && !self.circuit.full
            && self.health.rank() == 0
    }

    fn key(&self, failed_here: bool, order: Order) -> Key {
        let circuit = match (self.circuit.mode, self.circuit.circuit) {
            (Mode::ForcedOpen, _) => LAST,
            (Mode::Disabled | Mode::ObserveOnly, _) | (Mode::Automatic, Circuit::Closed) => 0,
            // In a list, a server that is on trial keeps its place.
            (Mode::Automatic, Circuit::HalfOpen) => u8::from(order == Order::Shuffled || self.circuit.full),
            (Mode::Automatic, Circuit::Open) => OPEN,
        };
        let here = if failed_here { FAILED_HERE } else { 0 };
        let rank = circuit.max(self.health.rank()).max(here);
        let retry_at =
            if circuit == OPEN { self.circuit.until.unwrap_or(Timestamp::MAX) } else { Timestamp::ZERO };
        Key { rank, retry_at }
    }
}

/// Whether no call can find out where a replica with this circuit lives, should it move. Once the delay is over, calls do.
pub(crate) fn is_held_open(circuit: &Status) -> bool {
    circuit.refusal() == Some(RejectionReason::Open)
}

/// Smaller is asked earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    rank: u8,
    retry_at: Timestamp,
}

/// The rules by which one request orders its candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) order: Order,
    /// The share of requests that try a half-open replica first; 0 for all but the first attempt of a
    /// request.
    pub(crate) trial_ratio: f64,
}

impl Rules {
    fn is_trial(self, rng: &mut Rng) -> bool {
        self.order == Order::Shuffled && rng.f64() < self.trial_ratio
    }

    /// The candidate to ask next. Each view comes with the index of its replica and whether the replica has failed in this
    /// request.
    pub(crate) fn first(
        self,
        views: impl Iterator<Item = (usize, View, bool)>,
        rng: &mut Rng,
    ) -> Option<usize> {
        let (mut best, mut trial) = (Pick::default(), Pick::default());
        for (index, view, failed_here) in views {
            let key = view.key(failed_here, self.order);
            best.offer(key, index, self.order, rng);
            if view.is_on_trial() && !failed_here {
                trial.offer(key, index, self.order, rng);
            }
        }
        let best = best.chosen?;
        match trial.chosen {
            Some(trial) if self.is_trial(rng) => Some(trial.1),
            _ => Some(best.1),
        }
    }

    /// The `n` best candidates, the one to ask first in front.
    pub(crate) fn best(
        self,
        n: usize,
        views: impl Iterator<Item = (usize, View)>,
        rng: &mut Rng,
    ) -> Vec<usize> {
        let mut keyed: Vec<_> =
            views.map(|(index, view)| (view.key(false, self.order), index, view)).collect();
        if self.order == Order::Shuffled {
            rng.shuffle(&mut keyed);
        }
        // Among equals the order is kept: that of the list, or of chance.
        let mut ranked: Vec<_> = (0..keyed.len()).collect();
        let by = |place: &usize| (keyed[*place].0, *place);
        let Some(last) = n.min(ranked.len()).checked_sub(1) else { return Vec::new() };
        ranked.select_nth_unstable_by_key(last, by);
        let on_trial = |place: &&usize| keyed[**place].2.is_on_trial();
        let trial = ranked.iter().filter(on_trial).min_by_key(|place| by(place)).copied();
        ranked.truncate(n);
        ranked.sort_unstable_by_key(by);
        if let Some(trial) = trial
            && self.is_trial(rng)
        {
            let at = ranked.iter().position(|place| *place == trial).unwrap_or(last);
            ranked[at] = trial;
            ranked[..=at].rotate_right(1);
        }
        ranked.into_iter().map(|place| keyed[place].1).collect()
    }
}

/// The best candidate so far; among equals each with the same chance, or the earliest.
#[derive(Default)]
struct Pick {
    chosen: Option<(Key, usize)>,
    equals: u32,
}

impl Pick {
    fn offer(&mut self, key: Key, index: usize, order: Order, rng: &mut Rng) {
        match self.chosen.map_or(Ordering::Less, |(best, ..)| key.cmp(&best)) {
            Ordering::Less => (self.chosen, self.equals) = (Some((key, index)), 1),
            Ordering::Greater => {}
            Ordering::Equal => {
                self.equals += 1;
                if order == Order::Shuffled && rng.u32(..self.equals) == 0 {
                    self.chosen = Some((key, index));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
