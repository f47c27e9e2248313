//! What follows for the whole pool from the histories of its replicas.

use std::collections::BTreeMap;

use breaker_core::Circuit;
use replica_pool::HealthStatus;

use super::{
    NAMES,
    past::{BOUND, Past, What},
};
use crate::kit::Addr;

/// An address that left is remembered for so long.
const REMEMBERED: u64 = 60_000;

/// A pool as it must be.
pub(super) struct Model {
    pub(super) now: u64,
    pub(super) validating: bool,
    /// Everybody who is remembered, and when they left.
    pub(super) known: BTreeMap<Addr, (Past, Option<u64>)>,
    pub(super) set: Vec<Addr>,
    pub(super) version: u64,
    pub(super) well: [bool; NAMES.len()],
    /// The question under way: whether something failed that it can't know of.
    pub(super) asking: Option<bool>,
    /// Since when the next question is due.
    pub(super) owed_since: Option<u64>,
    /// The pool may ask, for reasons of its own that have gone by or are about to.
    pub(super) may_ask: bool,
    /// When it asks about circuits that are held open, unless somebody does before.
    pub(super) later: Option<u64>,
    /// The question that is due is the pool's own.
    pub(super) own: bool,
    pub(super) asked: usize,
    pub(super) opened: Vec<Addr>,
}

impl Model {
    pub(super) fn past(&mut self, at: Addr) -> &mut Past {
        &mut self.known.get_mut(at).unwrap().0
    }

    /// Somebody wants to know.
    pub(super) fn owe(&mut self) {
        self.owed_since = self.owed_since.or(Some(self.now));
        (self.own, self.later) = (false, None);
    }

    /// A call failed, and the circuit of its replica is open now.
    pub(super) fn held_open(&mut self) {
        if self.asking.is_none() && self.owed_since.is_none() {
            self.later = self.later.or(Some(self.now + BOUND));
        }
    }

    /// What time alone makes of the pool's own questions.
    pub(super) fn pass(&mut self) {
        let lost = self.has_lost_one();
        if self.own && !lost {
            // It may have been asked for already, or it never will be.
            (self.owed_since, self.own, self.may_ask) = (None, false, true);
        }
        if self.later.is_some_and(|later| self.now >= later) {
            (self.later, self.may_ask) = (None, true);
            if lost && self.asking.is_none() && self.owed_since.is_none() {
                (self.owed_since, self.own) = (Some(self.now), true);
            }
        }
    }

    fn has_lost_one(&self) -> bool {
        self.set.iter().any(|at| {
            let (past, _) = &self.known[at];
            let open = past.fuse(self.now).circuit == Circuit::Open;
            open || past.health().status == HealthStatus::Unhealthy
        })
    }

    /// A call or a connection marked a replica; `news` if it was not known.
    pub(super) fn marked(&mut self, seen: u64, at: Addr, news: bool) {
        if self.version > seen && !(news && self.set.contains(&at)) {
            return;
        }
        match &mut self.asking {
            Some(again) => *again |= news,
            None => self.owe(),
        }
    }

    /// The question under way has ended.
    pub(super) fn ended(&mut self) {
        let again = self.asking.take().unwrap();
        if again {
            self.owe();
        } else if self.has_lost_one() {
            (self.owed_since, self.own, self.later) = (Some(self.now), true, None);
        }
    }

    pub(super) fn answered(&mut self, names: &[Addr]) {
        let (now, validating) = (self.now, self.validating);
        for at in self.set.clone() {
            if names.contains(&at) {
                self.past(at).add(now, What::Named { validating });
            }
        }
        self.known.retain(|_, (_, left)| left.is_none_or(|left| now < left + REMEMBERED));
        let mut before = self.set.clone();
        before.sort_unstable();
        if before != names {
            for at in &self.set {
                self.known.get_mut(at).unwrap().1 = (!names.contains(at)).then_some(now);
            }
            for at in names {
                self.known.entry(at).or_insert_with(|| (Past::new(now), None)).1 = None;
            }
            self.set = names.to_vec();
            self.version += 1;
        }
    }

    /// Connections are opened to those who are pending.
    pub(super) fn validate(&mut self) {
        for at in self.set.clone() {
            let pending = self.known[at].0.health().status == HealthStatus::UnhealthyPending;
            if pending {
                let well = self.well[NAMES.iter().position(|name| *name == at).unwrap()];
                self.opened.push(at);
                let now = self.now;
                self.past(at).add(now, What::Opened(well));
                if !well {
                    self.marked(0, at, true);
                }
            }
        }
    }

    /// The set in its order, equals together.
    pub(super) fn tiers(&self) -> Vec<Vec<Addr>> {
        let mut tiers: BTreeMap<(u8, u64), Vec<Addr>> = BTreeMap::new();
        for at in &self.set {
            tiers.entry(self.known[at].0.key(self.now)).or_default().push(at);
        }
        tiers.into_values().collect()
    }
}
