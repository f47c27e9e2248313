//! The replicas of a pool by address, over all its partitions.

use std::{
    collections::{HashMap, VecDeque},
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
    known: Mutex<Known<A, H>>,
}

struct Known<A, H> {
    entries: HashMap<A, Entry<A, H>>,
    /// Who left, in that order. Some have come back since, or left again.
    left: VecDeque<(Timestamp, A)>,
}

impl<A: Address, H> Directory<A, H> {
    pub(crate) fn new() -> Self {
        Self { known: Mutex::new(Known { entries: HashMap::new(), left: VecDeque::new() }) }
    }

    /// The replica at `address`, for one more set.
    pub(crate) fn enter(
        &self,
        address: &A,
        make: impl FnOnce() -> Arc<Replica<A, H>>,
        watch: impl FnOnce(&Arc<Replica<A, H>>) -> Option<Registration<A>>,
    ) -> Arc<Replica<A, H>> {
        let mut known = self.lock();
        let entry = known.entries.entry(address.clone()).or_insert_with(|| Entry {
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
        let mut known = self.lock();
        let Some(entry) = known.entries.get_mut(address) else { return };
        entry.uses = entry.uses.saturating_sub(1);
        if entry.uses == 0 {
            (entry.left_at, entry.watch) = (now, None);
            entry.replica.drop_handle();
            known.left.push_back((now, address.clone()));
        }
    }

    /// Forgets replicas that left too long ago.
    pub(crate) fn prune(&self, now: Timestamp) {
        let mut known = self.lock();
        while let Some((_, address)) =
            known.left.pop_front_if(|(left_at, _)| now.since(*left_at) >= REMEMBERED)
        {
            let forgotten = |entry: &Entry<A, H>| entry.uses == 0 && now.since(entry.left_at) >= REMEMBERED;
            if known.entries.get(&address).is_some_and(forgotten) {
                known.entries.remove(&address);
            }
        }
    }

    /// The places of a set's replicas with the canary worker.
    pub(crate) fn watches(&self, set: &ReplicaSet<A, H>) -> Vec<Arc<Registration<A>>> {
        let known = self.lock();
        let watch = |replica: &Arc<Replica<A, H>>| known.entries.get(replica.address())?.watch.clone();
        set.replicas().iter().filter_map(watch).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Known<A, H>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Address, H> fmt::Debug for Directory<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Directory").field("entries", &self.lock().entries.len()).finish()
    }
}
