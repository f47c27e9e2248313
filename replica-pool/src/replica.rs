use std::{
    fmt,
    future::Future,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwapOption;
use breaker_canary::{Attended, Notes};
use breaker_core::{Attendant, Breaker, Timestamp};

use crate::{
    Address, HealthStatus,
    directory::Stay,
    health::{Health, HealthEpoch, Mark},
    kin::Kin,
    waiting::Waiting,
};

/// One remote: its address, its circuit, its health, and whatever a connector opened to it.
///
/// A replica that stays in its set over a refresh stays this very object, so a late result finds it.
// In this order in memory: what every healthy pick reads lies together. There may be so many replicas that none is in a cache.
#[repr(C)]
pub struct Replica<A, H = ()> {
    health: Health,
    /// The calls that wait for it, where the settings look at them.
    waiting: Option<Box<Waiting>>,
    breaker: Breaker,
    kin: Arc<Kin<A, H>>,
    handle: ArcSwapOption<H>,
    /// When an answer of the gateway reset the circuit last, in nanoseconds; 0: never.
    reset_at: AtomicU64,
    stay: Stay,
    notes: Notes,
    opening: AtomicBool,
    address: A,
}

impl<A: Address, H: Send + Sync + 'static> Replica<A, H> {
    pub(crate) fn new(
        address: A,
        breaker: Breaker,
        waiting: Option<Box<Waiting>>,
        kin: Arc<Kin<A, H>>,
    ) -> Arc<Self> {
        let health = Health::new(breaker.clock().now());
        let this = Arc::new(Self {
            address,
            breaker,
            health,
            handle: ArcSwapOption::empty(),
            reset_at: AtomicU64::new(0),
            opening: AtomicBool::new(false),
            waiting,
            kin,
            notes: Notes::new(),
            stay: Stay::default(),
        });
        let attendant: Weak<Self> = Arc::downgrade(&this);
        this.breaker.attend(attendant);
        this
    }

    /// In one more set from now on. To be called under the directory's lock.
    pub(crate) fn enter(self: &Arc<Self>) {
        if self.stay.enter()
            && let Some(canaries) = &self.kin.canaries
        {
            canaries.attend(self);
        }
    }

    /// In one set less. Says whether that was the last one. To be called under the directory's lock.
    pub(crate) fn leave(&self) -> bool {
        let was_last = self.stay.leave();
        if was_last {
            if let Some(canaries) = &self.kin.canaries {
                canaries.dismiss(self);
            }
            self.drop_handle();
        }
        was_last
    }

    /// Completes when the first probes of its circuit are through; `None` if nobody need wait for them.
    pub(crate) fn first_round(self: &Arc<Self>) -> Option<impl Future<Output = ()> + Send + use<A, H>> {
        let canaries = self.kin.canaries.as_ref()?;
        (!canaries.first_round_done(self)).then(|| canaries.first_round(self))
    }
}

impl<A: Address, H> Replica<A, H> {
    /// Where it lives.
    pub fn address(&self) -> &A {
        &self.address
    }

    /// Its circuit, to look at, or to take manual control of.
    pub fn breaker(&self) -> &Breaker {
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

    /// By the directory's book.
    pub(crate) fn stay(&self) -> &Stay {
        &self.stay
    }

    /// Closed under no manual control, with nothing against it: of the first rank whatever the settings are. Others may be
    /// too.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.breaker.passes() && self.health.mark().is_ageless() && self.waiting.is_none()
    }

    pub(crate) fn waiting(&self) -> Option<&Waiting> {
        self.waiting.as_deref()
    }

    pub(crate) fn mark(&self) -> Mark {
        self.health.mark()
    }

    pub(crate) fn connected(&self, epoch: HealthEpoch) {
        // The clock is read only where there is news. Who is better than before needs no look at everybody: picks look at whom
        // they pick.
        if self.health.mark().status() != HealthStatus::Connected {
            self.health.connected(epoch, self.breaker.clock().now());
        }
    }

    /// Keeps the handle that `open` makes, unless the replica became unhealthy or ceased to be since `epoch`.
    pub(crate) fn keep(&self, epoch: HealthEpoch, open: impl FnOnce() -> Arc<H>) {
        if self.health.mark().epoch() != epoch {
            return;
        }
        let handle = Some(open());
        self.handle.store(handle.clone());
        // Whoever marks the replica takes the handle away after that: they find this one, or the mark is seen here.
        if self.health.mark().epoch() != epoch {
            self.handle.compare_and_swap(&handle, None);
        }
    }

    pub(crate) fn drop_handle(&self) {
        self.handle.store(None);
    }

    pub(crate) fn failed(&self, epoch: HealthEpoch, bound: Duration) -> bool {
        let news = self.health.failed(epoch, self.breaker.clock().now(), bound);
        if news {
            self.kin.changes.note();
            self.drop_handle();
        }
        news
    }

    /// No connection could be opened. Says whether it was marked: not if anything is known of it that was not
    /// when the opening began.
    pub(crate) fn refuted(&self, seen: Mark) -> bool {
        let news = self.health.refuted(seen, self.breaker.clock().now());
        if news {
            self.kin.changes.note();
            self.drop_handle();
        }
        news
    }

    /// The gateway named the address again.
    pub(crate) fn confirmed(&self, seen: Mark, validating: bool) {
        if self.health.confirmed(seen, validating, self.breaker.clock().now()) {
            self.kin.changes.note();
        }
    }

    /// Begins to open a connection, unless someone else is at it.
    pub(crate) fn begin_opening(&self) -> bool {
        !self.opening.swap(true, Ordering::AcqRel)
    }

    /// A swap, so that who comes next sees that nobody is at it, or its mark is seen from here on.
    pub(crate) fn end_opening(&self) {
        self.opening.swap(false, Ordering::AcqRel);
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

impl<A: Address, H: Send + Sync + 'static> Attended for Replica<A, H> {
    fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    fn notes(&self) -> &Notes {
        &self.notes
    }
}

impl<A: Address, H: Send + Sync + 'static> Attendant for Replica<A, H> {
    fn circuit_changed(self: Arc<Self>) {
        if let Some(canaries) = &self.kin.canaries {
            canaries.changed(Arc::clone(&self));
        }
    }

    /// Rendered when it is told: a text for each of many replicas takes more than its address.
    fn name(&self) -> Option<Arc<str>> {
        Some(self.address.to_string().into())
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

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use breaker_core::config::NonResilient;

    use super::*;

    #[test]
    fn a_replica_takes_little_room() {
        assert!(size_of::<Replica<SocketAddr>>() <= 200, "{}", size_of::<Replica<SocketAddr>>());
    }

    #[test]
    fn a_handle_is_kept_only_while_the_epoch_lasts_in_which_it_was_opened() {
        const BOUND: Duration = Duration::from_secs(60);
        let breaker = Breaker::builder(NonResilient::default()).build().unwrap();
        let replica = Replica::<u8, u8>::new(1, breaker, None, Arc::new(Kin::new(None)));
        let epoch = replica.mark().epoch();
        replica.keep(epoch, || Arc::new(1));
        assert_eq!(replica.handle().as_deref(), Some(&1));
        replica.keep(epoch, || {
            // Marked by someone else just before this one is put in place.
            replica.failed(epoch, BOUND);
            Arc::new(2)
        });
        assert_eq!(replica.handle(), None);
        replica.keep(epoch, || Arc::new(3));
        assert_eq!(replica.handle(), None);
    }
}
