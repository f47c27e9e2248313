//! The replicas of a pool by address, over all its partitions.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use breaker_canary::Registration;
use breaker_core::Timestamp;

use crate::{Address, Replica, ReplicaSet};

/// An address that left and comes back within this time finds its old circuit: flapping heals nothing.
pub(crate) const REMEMBERED: Duration = Duration::from_secs(60);

struct Entry<A, H> {
    replica: Arc<Replica<A, H>>,
    /// In how many sets it is.
    uses: usize,
    left_at: Timestamp,
    /// Its place with the canary worker, while it is in a set.
    watch: Option<Arc<Registration<A>>>,
}

pub(crate) struct Directory<A, H> {
    entries: Mutex<HashMap<A, Entry<A, H>>>,
}

impl<A: Address, H> Directory<A, H> {
    pub(crate) fn new() -> Self {
        Self { entries: Mutex::new(HashMap::new()) }
    }

    /// The replica at `address`, for one more set.
    pub(crate) fn enter(
        &self,
        address: &A,
        make: impl FnOnce() -> Arc<Replica<A, H>>,
        watch: impl FnOnce(&Arc<Replica<A, H>>) -> Option<Registration<A>>,
    ) -> Arc<Replica<A, H>> {
        let mut entries = self.lock();
        let entry = entries.entry(address.clone()).or_insert_with(|| Entry {
            replica: make(),
            uses: 0,
            left_at: Timestamp::ZERO,
            watch: None,
        });
        if entry.uses == 0 {
            entry.watch = watch(&entry.replica).map(Arc::new);
        }
        entry.uses += 1;
        Arc::clone(&entry.replica)
    }

    /// One set less holds the replica at `address`.
    pub(crate) fn leave(&self, address: &A, now: Timestamp) {
        let mut entries = self.lock();
        if let Some(entry) = entries.get_mut(address) {
            entry.uses = entry.uses.saturating_sub(1);
            if entry.uses == 0 {
                (entry.left_at, entry.watch) = (now, None);
                entry.replica.drop_handle();
            }
        }
    }

    /// Forgets replicas that left too long ago.
    pub(crate) fn prune(&self, now: Timestamp) {
        self.lock().retain(|_, entry| entry.uses > 0 || now.since(entry.left_at) < REMEMBERED);
    }

    /// The places of a set's replicas with the canary worker.
    pub(crate) fn watches(&self, set: &ReplicaSet<A, H>) -> Vec<Arc<Registration<A>>> {
        let entries = self.lock();
        let watch = |replica: &Arc<Replica<A, H>>| entries.get(replica.address())?.watch.clone();
        set.replicas().iter().filter_map(watch).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<A, Entry<A, H>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Address, H> fmt::Debug for Directory<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Directory").field("entries", &self.lock().len()).finish()
    }
}
