//! The replicas of a pool by address, over all its partitions.

use std::{
    borrow::Borrow,
    collections::{HashSet, VecDeque},
    fmt,
    hash::{Hash, Hasher},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use breaker_core::Timestamp;

use crate::{Address, Replica};

/// An address that left and comes back within this time finds its old circuit: flapping heals nothing.
pub(crate) const REMEMBERED: Duration = Duration::from_secs(60);

/// How long a replica stays, by the directory's book, which is written under the directory's lock alone.
#[derive(Debug, Default)]
pub(crate) struct Stay {
    /// In how many sets it is.
    uses: AtomicU32,
    /// How often it has left the last of them, as far as that is remembered.
    departures: AtomicU32,
}

impl Stay {
    /// Says whether it was in none before.
    pub(crate) fn enter(&self) -> bool {
        self.uses.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// Says whether it is in none now. That is a departure.
    pub(crate) fn leave(&self) -> bool {
        let left = self.uses.load(Ordering::Relaxed).saturating_sub(1);
        self.uses.store(left, Ordering::Relaxed);
        if left == 0 {
            self.departures.fetch_add(1, Ordering::Relaxed);
        }
        left == 0
    }

    /// The oldest departure is too old to matter. Says whether the replica does not either: it was the last one.
    fn forget_departure(&self) -> bool {
        self.departures.fetch_sub(1, Ordering::Relaxed) == 1 && self.uses.load(Ordering::Relaxed) == 0
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

impl<A: Address, H: Send + Sync + 'static> Directory<A, H> {
    pub(crate) fn new() -> Self {
        Self { known: Mutex::new(Known { entries: HashSet::new(), left: VecDeque::new() }) }
    }

    /// The replica at `address`, for one more set.
    pub(crate) fn enter(&self, address: &A, make: impl FnOnce() -> Arc<Replica<A, H>>) -> Arc<Replica<A, H>> {
        let mut known = self.lock();
        let replica = match known.entries.get(address) {
            Some(Entry(replica)) => Arc::clone(replica),
            None => {
                let replica = make();
                known.entries.insert(Entry(Arc::clone(&replica)));
                replica
            }
        };
        replica.enter();
        replica
    }

    /// One set less holds the replica at `address`.
    pub(crate) fn leave(&self, address: &A, now: Timestamp) {
        let mut known = self.lock();
        let Some(Entry(replica)) = known.entries.get(address) else { return };
        if replica.leave() {
            known.left.push_back((now, address.clone()));
        }
    }

    /// Forgets replicas that left too long ago.
    pub(crate) fn prune(&self, now: Timestamp) {
        let mut known = self.lock();
        while let Some((_, address)) =
            known.left.pop_front_if(|(left_at, _)| now.since(*left_at) >= REMEMBERED)
        {
            if known.entries.get(&address).is_some_and(|Entry(replica)| replica.stay().forget_departure()) {
                known.entries.remove(&address);
            }
        }
    }
}

impl<A, H> Directory<A, H> {
    fn lock(&self) -> MutexGuard<'_, Known<A, H>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A, H> fmt::Debug for Directory<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Directory").field("entries", &self.lock().entries.len()).finish()
    }
}
