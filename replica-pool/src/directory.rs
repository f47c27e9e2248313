//! The replicas of a pool by address, over all its partitions.

use std::{
    borrow::Borrow,
    collections::{HashSet, VecDeque},
    fmt,
    hash::{Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use breaker_core::Timestamp;

use crate::{Address, Replica, replica::Watch};

/// An address that left and comes back within this time finds its old circuit: flapping heals nothing.
pub(crate) const REMEMBERED: Duration = Duration::from_secs(60);

/// How long a replica stays, by the directory's book.
pub(crate) struct Stay<A, H> {
    /// In how many sets it is.
    uses: u32,
    left_at: Timestamp,
    /// Its place with the canary worker, while it is in a set.
    watch: Option<Watch<A, H>>,
}

impl<A, H> Stay<A, H> {
    pub(crate) const fn new() -> Self {
        Self { uses: 0, left_at: Timestamp::ZERO, watch: None }
    }

    pub(crate) fn watch(&self) -> Option<&Watch<A, H>> {
        self.watch.as_ref()
    }

    fn is_forgotten(&self, now: Timestamp) -> bool {
        self.uses == 0 && now.since(self.left_at) >= REMEMBERED
    }
}

pub(crate) struct Directory<A, H> {
    known: Mutex<Known<A, H>>,
}

struct Known<A, H> {
    entries: HashSet<Entry<A, H>>,
    /// Who left, in that order. Some have come back since, or left again.
    left: VecDeque<(Timestamp, A)>,
}

/// A replica, to be found by its address.
struct Entry<A, H>(Arc<Replica<A, H>>);

impl<A: Address, H> Borrow<A> for Entry<A, H> {
    fn borrow(&self) -> &A {
        self.0.address()
    }
}

impl<A: Address, H> Hash for Entry<A, H> {
    fn hash<S: Hasher>(&self, state: &mut S) {
        self.0.address().hash(state);
    }
}

impl<A: Address, H> PartialEq for Entry<A, H> {
    fn eq(&self, other: &Self) -> bool {
        self.0.address() == other.0.address()
    }
}

impl<A: Address, H> Eq for Entry<A, H> {}

impl<A: Address, H> Directory<A, H> {
    pub(crate) fn new() -> Self {
        Self { known: Mutex::new(Known { entries: HashSet::new(), left: VecDeque::new() }) }
    }

    /// The replica at `address`, for one more set.
    pub(crate) fn enter(
        &self,
        address: &A,
        make: impl FnOnce() -> Arc<Replica<A, H>>,
        watch: impl FnOnce(&Arc<Replica<A, H>>) -> Option<Watch<A, H>>,
    ) -> Arc<Replica<A, H>> {
        let mut known = self.lock();
        let replica = match known.entries.get(address) {
            Some(Entry(replica)) => Arc::clone(replica),
            None => {
                let replica = make();
                known.entries.insert(Entry(Arc::clone(&replica)));
                replica
            }
        };
        let mut stay = replica.stay();
        if stay.uses == 0 {
            stay.watch = watch(&replica);
        }
        stay.uses += 1;
        drop(stay);
        replica
    }

    /// One set less holds the replica at `address`.
    pub(crate) fn leave(&self, address: &A, now: Timestamp) {
        let mut known = self.lock();
        let Some(Entry(replica)) = known.entries.get(address) else { return };
        let mut stay = replica.stay();
        stay.uses = stay.uses.saturating_sub(1);
        if stay.uses == 0 {
            (stay.left_at, stay.watch) = (now, None);
            drop(stay);
            replica.drop_handle();
            known.left.push_back((now, address.clone()));
        }
    }

    /// Forgets replicas that left too long ago.
    pub(crate) fn prune(&self, now: Timestamp) {
        let mut known = self.lock();
        while let Some((_, address)) =
            known.left.pop_front_if(|(left_at, _)| now.since(*left_at) >= REMEMBERED)
        {
            if known.entries.get(&address).is_some_and(|Entry(replica)| replica.stay().is_forgotten(now)) {
                known.entries.remove(&address);
            }
        }
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
