//! Asking for the addresses of one partition, and putting the answer in place.

use std::{
    collections::HashSet,
    sync::{Arc, PoisonError},
};

use breaker_core::Clock;

use crate::{
    Address, GatewayError, HealthStatus, Replica,
    config::Order,
    health::Mark,
    order::is_held_open,
    partition::{Partition, SHORT},
    refresher::{Question, Refresher, Wish},
    tasks::Tasks,
};

/// What was known of a replica when the question was asked.
struct Seen<A, H> {
    replica: Arc<Replica<A, H>>,
    mark: Mark,
    epoch: u64,
}

impl<A: Address, H> Seen<A, H> {
    fn of(replica: &Arc<Replica<A, H>>) -> Self {
        Self { mark: replica.mark(), epoch: replica.breaker().epoch(), replica: Arc::clone(replica) }
    }
}

impl<A: Address, H: Send + Sync + 'static> Question for Partition<A, H> {
    fn refresher(&self) -> &Refresher {
        &self.refresher
    }

    fn tasks(&self) -> &Tasks {
        &self.shared.tasks
    }

    fn clock(&self) -> &dyn Clock {
        &*self.shared.clock
    }

    /// A replica that was found to be bad may live elsewhere by now, and as long as its circuit is open no call will find out.
    fn wish(&self) -> Wish {
        let mut wish = Wish::Nothing;
        for replica in self.set().replicas() {
            let breaker = replica.breaker();
            let held_open = is_held_open(&breaker.status());
            if replica.health() == HealthStatus::Unhealthy || (held_open && breaker.is_tripped()) {
                return Wish::Soon;
            }
            if held_open {
                // It has just begun so: there is no evidence against it yet.
                wish = Wish::After(self.shared.config.unhealthy_timeout());
            }
        }
        wish
    }

    async fn ask(self: &Arc<Self>) -> Result<bool, GatewayError> {
        let seen: Vec<_> = self.set().replicas().iter().map(Seen::of).collect();
        let addresses = match self.source.addresses().await {
            Ok(addresses) if !addresses.is_empty() => addresses,
            Ok(_) if self.is_routed() => return Err(self.vanished()),
            Err(GatewayError::NoSuchPartition) => return Err(self.vanished()),
            Ok(_) => return Err(GatewayError::Empty),
            Err(error) => return Err(error),
        };
        self.confirm(&seen, &addresses);
        let changed = self.replace(&addresses);
        if self.shared.config.validation() {
            self.validate_pending(self.set().replicas());
        }
        Ok(changed)
    }
}

impl<A: Address, H: Send + Sync + 'static> Partition<A, H> {
    /// The gateway named replicas that are known: what they were held to before the question is forgiven.
    fn confirm(&self, seen: &[Seen<A, H>], addresses: &[A]) {
        let (named, config) = (addresses.iter().collect::<HashSet<_>>(), &self.shared.config);
        for Seen { replica, mark, epoch } in seen.iter().filter(|seen| named.contains(seen.replica.address()))
        {
            replica.confirmed(*mark, config.validation());
            if config.reset_circuits_on_refresh() {
                replica.reset_circuit(*epoch, config.unhealthy_timeout());
            }
        }
    }

    /// Makes `addresses` the set. Says whether replicas came or went.
    pub(crate) fn replace(&self, addresses: &[A]) -> bool {
        let retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
        if *retired {
            return false;
        }
        let (shared, now) = (&self.shared, self.now());
        let old = self.set.load_full();
        let mut named = HashSet::new();
        let addresses: Vec<_> = addresses.iter().filter(|address| named.insert(*address)).collect();
        let same_order = addresses.iter().copied().eq(old.replicas().iter().map(|replica| replica.address()));
        let changed = addresses.len() != old.replicas().len()
            || !old.replicas().iter().all(|replica| named.contains(replica.address()));
        shared.directory.prune(now);
        let short = shared.config.target_replicas().is_some_and(|target| addresses.len() < target);
        // An answer that is still too short starts the time anew.
        let short_since =
            short.then(|| old.short_since().filter(|since| now.since(*since) < SHORT).unwrap_or(now));
        let as_before = same_order || shared.config.order() == Order::Shuffled;
        if !changed && as_before && short_since == old.short_since() {
            return false;
        }
        // Those who stay enter before they leave, so that nothing of theirs ends in between.
        let replicas: Vec<_> = addresses.into_iter().map(|address| shared.enter(address)).collect();
        for replica in old.replicas() {
            shared.directory.leave(replica.address(), now);
        }
        let version = old.version() + u64::from(changed);
        self.set.store(Arc::new(old.followed_by(version, replicas, short_since)));
        shared.circuits_changed.notify_waiters();
        changed
    }

    /// The partition is no more: asks no more, and lets go of its replicas. Calls under way go on with what
    /// they have.
    pub(crate) fn retire(&self) {
        self.refresher.stop();
        let mut retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut *retired, true) {
            let now = self.now();
            for replica in self.set.load().replicas() {
                self.shared.directory.leave(replica.address(), now);
            }
        }
    }
}
