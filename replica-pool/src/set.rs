use std::{
    fmt,
    sync::{Arc, Weak},
};

use arc_swap::Guard;
use breaker_core::Timestamp;

use crate::{Replica, outlook::Outlook, partition::Partition};

/// The replicas of one partition at one moment. Never changed: a refresh makes another.
// In this order in memory: what every call reads lies together.
#[repr(C)]
pub struct ReplicaSet<A, H = ()> {
    pub(crate) outlook: Outlook,
    replicas: Box<[Arc<Replica<A, H>>]>,
    version: u64,
    /// Since when the set has been smaller than it should be; `Timestamp::MAX`: it is not.
    short_since: Timestamp,
    /// Whose replicas they are.
    home: Weak<Partition<A, H>>,
    /// The addresses can't change.
    fixed: bool,
}

impl<A, H> ReplicaSet<A, H> {
    /// The set of a partition that knows no addresses yet.
    pub(crate) fn empty(home: Weak<Partition<A, H>>, fixed: bool) -> Self {
        Self {
            version: 0,
            replicas: Box::default(),
            short_since: Timestamp::MAX,
            home,
            fixed,
            outlook: Outlook::default(),
        }
    }

    /// The one that comes after `self`.
    pub(crate) fn followed_by(
        &self,
        version: u64,
        replicas: Vec<Arc<Replica<A, H>>>,
        short_since: Option<Timestamp>,
    ) -> Self {
        let (home, fixed) = (Weak::clone(&self.home), self.fixed);
        let short_since = short_since.unwrap_or(Timestamp::MAX);
        Self { version, replicas: replicas.into(), short_since, home, fixed, outlook: Outlook::default() }
    }

    /// Grows whenever a replica comes or goes. 0 before the first answer of the gateway.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Since when the set has been smaller than it should be.
    pub(crate) fn short_since(&self) -> Option<Timestamp> {
        (self.short_since != Timestamp::MAX).then_some(self.short_since)
    }

    /// The replicas, in the gateway's order.
    pub fn replicas(&self) -> &[Arc<Replica<A, H>>] {
        &self.replicas
    }
}

impl<A: fmt::Debug, H> fmt::Debug for ReplicaSet<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplicaSet")
            .field("version", &self.version)
            .field("replicas", &self.replicas)
            .finish_non_exhaustive()
    }
}

/// A replica, in the set in which it was found. Holds the set as its reader does, which counts no references as long as a
/// thread holds few.
pub(crate) struct Place<A, H> {
    set: Guard<Arc<ReplicaSet<A, H>>>,
    index: usize,
}

impl<A, H> Place<A, H> {
    pub(crate) fn new(set: Guard<Arc<ReplicaSet<A, H>>>, index: usize) -> Self {
        Self { set, index }
    }

    pub(crate) fn shared(set: &Arc<ReplicaSet<A, H>>, index: usize) -> Self {
        Self::new(Guard::from_inner(Arc::clone(set)), index)
    }

    pub(crate) fn set(&self) -> &Arc<ReplicaSet<A, H>> {
        &self.set
    }

    pub(crate) fn replica(&self) -> &Arc<Replica<A, H>> {
        &self.set.replicas[self.index]
    }

    /// The version of the set.
    pub(crate) fn version(&self) -> u64 {
        self.set.version
    }

    /// Whether nothing is learnt of its address.
    pub(crate) fn is_fixed(&self) -> bool {
        self.set.fixed
    }

    /// `None` once the pool is gone.
    pub(crate) fn partition(&self) -> Option<Arc<Partition<A, H>>> {
        self.set.home.upgrade()
    }
}
