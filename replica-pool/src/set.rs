use std::{fmt, sync::Arc};

use breaker_core::Timestamp;

use crate::Replica;

/// The replicas of one partition at one moment. Never changed: a refresh makes another.
pub struct ReplicaSet<A, H = ()> {
    version: u64,
    replicas: Box<[Arc<Replica<A, H>>]>,
    /// Since when the set has been smaller than it should be.
    pub(crate) short_since: Option<Timestamp>,
}

impl<A, H> ReplicaSet<A, H> {
    pub(crate) fn new(
        version: u64,
        replicas: Vec<Arc<Replica<A, H>>>,
        short_since: Option<Timestamp>,
    ) -> Self {
        Self { version, replicas: replicas.into(), short_since }
    }

    /// Grows whenever a replica comes or goes. 0 before the first answer of the gateway.
    pub fn version(&self) -> u64 {
        self.version
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
