//! How the pool reaches the world: the gateway for the map and the addresses, and a small real request to find
//! out whether a replica is there.

use std::{
    error::Error,
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use breaker_canary::Probe;
use replica_pool::{Connector, Gateway, GatewayError, PartitionGateway};

use crate::{
    gateway,
    keys::KeyMap,
    transport::Transport,
    wire::{Ask, Purpose, Request},
};

/// The store, seen from the client.
#[derive(Clone, Debug)]
pub struct Remote {
    gateway: SocketAddr,
    transport: Arc<Transport>,
    refreshes: Arc<AtomicU64>,
}

impl Remote {
    /// The store whose fetches of addresses are counted in `refreshes`.
    pub fn new(gateway: SocketAddr, transport: Arc<Transport>, refreshes: Arc<AtomicU64>) -> Self {
        Self { gateway, transport, refreshes }
    }

    /// Opens a connection and sends a request over it. A socket that accepts proves nothing: one that hangs
    /// accepts too.
    async fn knock(&self, address: SocketAddr) -> io::Result<()> {
        let ask = Ask { request: Request { id: u64::MAX, key: 0 }, purpose: Purpose::Probe };
        let status = self.transport.knock(address, ask).await?.status;
        status.served().map_err(|gone| io::Error::other(gone.to_string()))
    }
}

#[async_trait]
impl Gateway<SocketAddr, u32> for Remote {
    async fn addresses(&self, partition: &u32) -> Result<Vec<SocketAddr>, GatewayError> {
        self.refreshes.fetch_add(1, Ordering::Relaxed);
        gateway::ask_addresses(self.gateway, *partition).await.map_err(GatewayError::failed)
    }
}

#[async_trait]
impl PartitionGateway<u64, SocketAddr, u32> for Remote {
    async fn routing_map(&self) -> Result<KeyMap, GatewayError> {
        gateway::ask_map(self.gateway).await.map_err(GatewayError::failed)
    }
}

#[async_trait]
impl Connector<SocketAddr> for Remote {
    async fn connect(&self, address: &SocketAddr) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(self.knock(*address).await?)
    }
}

#[async_trait]
impl Probe<SocketAddr> for Remote {
    async fn probe(&self, address: &SocketAddr) -> bool {
        self.knock(*address).await.is_ok()
    }
}
