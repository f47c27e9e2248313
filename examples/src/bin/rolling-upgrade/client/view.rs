//! How a client sees a replica.

use std::net::SocketAddr;

use serde::Serialize;

/// One replica as the client sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaView {
    /// Where the client thinks it lives.
    pub address: SocketAddr,
    /// Its circuit.
    pub circuit: Circuit,
    /// Its health.
    pub health: Health,
}

/// A circuit, as far as the picture goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Circuit {
    /// Healthy: calls pass.
    Closed,
    /// A few calls may pass.
    HalfOpen,
    /// Calls are refused.
    Open,
}

/// A replica's health, as far as the picture goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// Nothing is known.
    Unknown,
    /// A call succeeded.
    Connected,
    /// It was bad, and is looked at again.
    UnhealthyPending,
    /// A call failed: it does not live there.
    Unhealthy,
}
