//! All that ever happened to one replica, and what follows from it: worked out from the beginning each time.

use std::{collections::HashMap, fmt};

use breaker_core::Circuit;
use replica_pool::HealthStatus;

/// An open circuit is tried after that many milliseconds.
pub(super) const DELAY: u64 = 10_000;
/// How long a mark counts, and how long an answer that reset a circuit keeps others from it.
pub(super) const BOUND: u64 = 60_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A call of this number was admitted.
    Begun(u8),
    Succeeded(u8),
    /// It failed, and that says nothing of the address.
    Failed(u8),
    /// It failed in a way that speaks against the address.
    Marked(u8),
    Cancelled(u8),
    /// The gateway was asked.
    Asked,
    /// The answer named it again.
    Named {
        validating: bool,
    },
    /// A connection could be opened, or could not.
    Opened(bool),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    events: Vec<(u64, What)>,
    began: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Health {
    pub(super) status: HealthStatus,
    pub(super) at: u64,
    epoch: u64,
    changes: u64,
}

impl Health {
    fn become_(&mut self, status: HealthStatus, at: u64) {
        let unhealthy = |status| status == HealthStatus::Unhealthy;
        self.epoch += u64::from(unhealthy(self.status) != unhealthy(status));
        self.changes += 1;
        (self.status, self.at) = (status, at);
    }

    pub(super) fn is_overdue(&self, now: u64) -> bool {
        self.status == HealthStatus::Unhealthy && now >= self.at + BOUND
    }

    /// As it counts in the order.
    fn rank(&self, now: u64) -> u8 {
        match self.status {
            HealthStatus::Unhealthy if now < self.at + BOUND => 3,
            HealthStatus::UnhealthyPending if now < self.at + BOUND => 2,
            _ => 0,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Fuse {
    pub(super) circuit: Circuit,
    until: u64,
    epoch: u64,
    taken: bool,
    reset_at: Option<u64>,
}

impl Fuse {
    fn become_(&mut self, circuit: Circuit) {
        (self.circuit, self.taken) = (circuit, false);
        self.epoch += 1;
    }

    fn pass(&mut self, now: u64) {
        if self.circuit == Circuit::Open && now >= self.until {
            self.become_(Circuit::HalfOpen);
        }
    }

    fn settle(&mut self, now: u64, success: Option<bool>) {
        self.taken = false;
        match success {
            Some(false) => {
                self.become_(Circuit::Open);
                self.until = now + DELAY;
            }
            Some(true) if self.circuit == Circuit::HalfOpen => self.become_(Circuit::Closed),
            _ => {}
        }
    }

    pub(super) fn admits(&self) -> bool {
        self.circuit == Circuit::Closed || (self.circuit == Circuit::HalfOpen && !self.taken)
    }
}

impl Past {
    pub(super) fn new(now: u64) -> Self {
        Self { events: Vec::new(), began: now }
    }

    pub(super) fn add(&mut self, now: u64, what: What) {
        self.events.push((now, what));
    }

    pub(super) fn health(&self) -> Health {
        let mut health = Health { status: HealthStatus::Unknown, at: self.began, epoch: 0, changes: 0 };
        let (mut epochs, mut asked) = (HashMap::new(), 0);
        for (now, what) in &self.events {
            let of = |call: &u8| epochs.get(call).copied();
            let next = match what {
                What::Begun(call) => {
                    epochs.insert(*call, health.epoch);
                    continue;
                }
                What::Asked => {
                    asked = health.changes;
                    continue;
                }
                // A call that began in another epoch changes nothing.
                What::Succeeded(call) if of(call) == Some(health.epoch) => HealthStatus::Connected,
                What::Marked(call) if of(call) == Some(health.epoch) => HealthStatus::Unhealthy,
                // Nor does an answer to a question of before the last change.
                What::Named { .. } if health.changes != asked => continue,
                What::Named { .. } if health.status != HealthStatus::Unhealthy => continue,
                What::Named { validating: true } => HealthStatus::UnhealthyPending,
                What::Named { validating: false } => HealthStatus::Unknown,
                What::Opened(true) => HealthStatus::Connected,
                What::Opened(false) => HealthStatus::Unhealthy,
                _ => continue,
            };
            let renewed = next == HealthStatus::Unhealthy && *now >= health.at + BOUND;
            if next != health.status || renewed {
                health.become_(next, *now);
            }
        }
        health
    }

    pub(super) fn fuse(&self, now: u64) -> Fuse {
        let mut fuse = Fuse { circuit: Circuit::Closed, until: 0, epoch: 0, taken: false, reset_at: None };
        let (mut epochs, mut asked) = (HashMap::new(), 0);
        for (at, what) in &self.events {
            let at = *at;
            fuse.pass(at);
            let (call, success) = match what {
                What::Begun(call) => {
                    fuse.taken = fuse.circuit == Circuit::HalfOpen;
                    epochs.insert(*call, fuse.epoch);
                    continue;
                }
                What::Asked => {
                    asked = fuse.epoch;
                    continue;
                }
                What::Named { .. } => {
                    let early = fuse.reset_at.is_some_and(|reset| at < reset + BOUND);
                    if fuse.circuit == Circuit::Open && fuse.epoch == asked && !early {
                        fuse.become_(Circuit::Closed);
                        fuse.reset_at = Some(at);
                    }
                    continue;
                }
                What::Opened(_) => continue,
                What::Succeeded(call) => (call, Some(true)),
                What::Failed(call) | What::Marked(call) => (call, Some(false)),
                What::Cancelled(call) => (call, None),
            };
            if epochs.get(call) == Some(&fuse.epoch) {
                fuse.settle(at, success);
            }
        }
        fuse.pass(now);
        fuse
    }

    /// Its place in the order: smaller is asked earlier.
    pub(super) fn key(&self, now: u64) -> (u8, u64) {
        let fuse = self.fuse(now);
        let (circuit, retry) = match fuse.circuit {
            Circuit::Closed => (0, 0),
            Circuit::HalfOpen => (1, 0),
            Circuit::Open => (4, fuse.until),
        };
        (self.health().rank(now).max(circuit), retry)
    }
}

impl fmt::Display for Past {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.events.iter().try_for_each(|(at, what)| write!(f, " {at}:{what:?}"))
    }
}
