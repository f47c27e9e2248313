use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwapOption;
use breaker_core::{Breaker, Timestamp};

use crate::{
    Address, HealthStatus,
    health::{Health, HealthEpoch, Mark},
};

/// One remote: its address, its circuit, its health, and whatever a connector opened to it.
///
/// A replica that stays in its set over a refresh stays this very object, so a late result finds it.
pub struct Replica<A, H = ()> {
    address: A,
    breaker: Arc<Breaker>,
    health: Health,
    handle: ArcSwapOption<H>,
    /// When an answer of the gateway reset the circuit last, in nanoseconds; 0: never.
    reset_at: AtomicU64,
    validating: AtomicBool,
}

impl<A: Address, H> Replica<A, H> {
    pub(crate) fn new(address: A, breaker: Arc<Breaker>) -> Self {
        let health = Health::new(breaker.clock().now());
        Self {
            address,
            breaker,
            health,
            handle: ArcSwapOption::empty(),
            reset_at: AtomicU64::new(0),
            validating: AtomicBool::new(false),
        }
    }

    /// Where it lives.
    pub fn address(&self) -> &A {
        &self.address
    }

    /// Its circuit, to look at, or to take manual control of.
    pub fn breaker(&self) -> &Arc<Breaker> {
        &self.breaker
    }

    /// What is known about its address. A bad status is shown until something changes it, even when it is
    /// old enough to be no longer held against the replica.
    pub fn health(&self) -> HealthStatus {
        self.health.mark().status()
    }

    /// What a connector opened, if anything; dropped when the replica is found to be bad.
    pub fn handle(&self) -> Option<Arc<H>> {
        self.handle.load_full()
    }

    pub(crate) fn mark(&self) -> Mark {
        self.health.mark()
    }

    pub(crate) fn connected(&self, epoch: HealthEpoch) {
        // The clock is read only where there is news.
        if self.health.mark().status() != HealthStatus::Connected {
            self.health.connected(epoch, self.breaker.clock().now());
        }
    }

    pub(crate) fn opened(&self, epoch: HealthEpoch, handle: Arc<H>) {
        if self.health.mark().epoch() == epoch {
            self.handle.store(Some(handle));
        }
        self.connected(epoch);
    }

    pub(crate) fn failed(&self, epoch: HealthEpoch, bound: Duration) -> bool {
        let news = self.health.failed(epoch, self.breaker.clock().now(), bound);
        if news {
            self.handle.store(None);
        }
        news
    }

    /// The gateway named the address again. Says whether the replica waits for a validation now.
    pub(crate) fn confirmed(&self, seen: Mark, validating: bool) -> bool {
        self.health.confirmed(seen, validating, self.breaker.clock().now()) && validating
    }

    /// Whether nobody else is at it.
    pub(crate) fn begin_validation(&self) -> bool {
        !self.validating.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn end_validation(&self) {
        self.validating.store(false, Ordering::Release);
    }

    /// Resets the circuit if it has been open since `epoch` and no answer reset it within `bound`.
    pub(crate) fn reset_circuit(&self, epoch: u64, bound: Duration) -> bool {
        let now = self.breaker.clock().now();
        let last = self.reset_at.load(Ordering::Acquire);
        if last != 0 && now.since(Timestamp::from_nanos(last)) < bound {
            return false;
        }
        let reset = self.breaker.reset_if_open_since(epoch);
        if reset {
            self.reset_at.store(now.as_nanos().max(1), Ordering::Release);
        }
        reset
    }
}

impl<A: fmt::Debug, H> fmt::Debug for Replica<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replica")
            .field("address", &self.address)
            .field("health", &self.health.mark().status())
            .field("breaker", &self.breaker)
            .finish_non_exhaustive()
    }
}
