//! Which replica to ask first: a pure read of circuits and health. Nobody is left out, and nothing is
//! changed; recovery comes from probes, trials and time.

use std::cmp::Ordering;

use breaker_core::{Circuit, Mode, Now, Status, Timestamp};
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
}

impl View {
    pub(crate) fn of<A: Address, H>(replica: &Replica<A, H>, now: &Now<'_>, config: &PoolConfig) -> Self {
        let bound = config.unhealthy_timeout();
        let mark = replica.mark();
        let (health, overdue) =
            if mark.is_ageless() { (mark.status(), false) } else { mark.read(now.get(), bound) };
        let suspected = match (replica.waiting(), config.suspect_after()) {
            (Some(waiting), Some(span)) => !waiting.is_idle() && waiting.is_silent(now.get(), span),
            _ => false,
        };
        let health = if suspected { HealthStatus::Unhealthy } else { health };
        Self { circuit: replica.breaker().status(), health, overdue }
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
        self.order == Order::Shuffled && self.trial_ratio > 0.0 && rng.f64() < self.trial_ratio
    }

    /// The candidate to ask next. Each view comes with the index of its replica and whether the replica has failed in this
    /// request.
    pub(crate) fn first(
        self,
        views: impl Iterator<Item = (usize, View, bool)>,
        rng: &mut Rng,
    ) -> Option<(usize, View)> {
        let (mut best, mut trial) = (Pick::default(), Pick::default());
        for (index, view, failed_here) in views {
            let key = view.key(failed_here, self.order);
            best.offer(key, index, view, self.order, rng);
            if view.is_on_trial() && !failed_here {
                trial.offer(key, index, view, self.order, rng);
            }
        }
        let best = best.chosen?;
        match trial.chosen {
            Some(trial) if trial.0 > best.0 && self.is_trial(rng) => Some((trial.1, trial.2)),
            _ => Some((best.1, best.2)),
        }
    }

    /// All candidates, the one to ask first in front.
    pub(crate) fn all(self, views: impl Iterator<Item = (usize, View)>, rng: &mut Rng) -> Vec<(usize, View)> {
        let mut keyed: Vec<_> =
            views.map(|(index, view)| (view.key(false, self.order), index, view)).collect();
        if self.order == Order::Shuffled {
            rng.shuffle(&mut keyed);
        }
        keyed.sort_by_key(|(key, ..)| *key);
        let trial = keyed.iter().position(|(_, _, view)| view.is_on_trial());
        if let Some(at) = trial
            && at > 0
            && self.is_trial(rng)
        {
            keyed[..=at].rotate_right(1);
        }
        keyed.into_iter().map(|(_, index, view)| (index, view)).collect()
    }
}

/// The best candidate so far; among equals each with the same chance, or the earliest.
#[derive(Default)]
struct Pick {
    chosen: Option<(Key, usize, View)>,
    equals: u32,
}

impl Pick {
    fn offer(&mut self, key: Key, index: usize, view: View, order: Order, rng: &mut Rng) {
        match self.chosen.map_or(Ordering::Less, |(best, ..)| key.cmp(&best)) {
            Ordering::Less => (self.chosen, self.equals) = (Some((key, index, view)), 1),
            Ordering::Greater => {}
            Ordering::Equal => {
                self.equals += 1;
                if order == Order::Shuffled && rng.u32(..self.equals) == 0 {
                    self.chosen = Some((key, index, view));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
