//! The clients that are compared, and what they share.

mod failure;
mod meter;
mod plain;
mod pool;
mod view;

pub use failure::Failure;
pub use meter::Meter;
pub use plain::PlainClient;
pub use pool::PoolClient;
pub use view::ReplicaView;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use examples::{transport::Transport, wire::Request};

/// A client of the store: what the harness drives and watches.
#[async_trait]
pub trait Client: Send + Sync {
    /// Does one request, with as many attempts as it takes; `Err` is what its caller would see.
    async fn request(&self, request: Request) -> Result<(), Failure>;

    /// How the client sees each replica now. Asked every 50 ms; empty for a client that keeps no such view.
    fn states(&self) -> Vec<ReplicaView> {
        Vec::new()
    }

    /// What only the client can count.
    fn counters(&self) -> Counters;
}

/// What a client counted over its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Fetches of addresses from the gateway that were begun.
    pub refreshes: u64,
    /// Ordinary attempts at a replica that was marked bad, before a probe, a validation, an answer of the
    /// gateway or the bound brought it back. `None` for a client that marks nothing.
    pub attempts_after_mark: Option<u64>,
}

/// What every client is made from.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Where the gateway listens.
    pub gateway: SocketAddr,
    /// What one attempt may take.
    pub attempt_timeout: Duration,
    /// Decides the client's random choices.
    pub seed: u64,
    /// The connections; counts every attempt.
    pub transport: Arc<Transport>,
}
