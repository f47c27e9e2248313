//! How a client sees a replica.

use std::net::SocketAddr;

use breaker_core::Circuit;
use replica_pool::HealthStatus;

/// One replica as the client sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaView {
    /// Where the client thinks it lives.
    pub address: SocketAddr,
    /// Its circuit.
    pub circuit: Circuit,
    /// Its health.
    pub health: HealthStatus,
}
