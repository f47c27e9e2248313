//! How the pool reaches the world: the gateway for addresses, and a small real request to find out whether a
//! replica is there.

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
use replica_pool::{Connector, Gateway, GatewayError};

use crate::{
    client::{Surroundings, Transport},
    gateway,
    wire::{Ask, Purpose, Request, Status},
};

/// One partition, seen from the client.
#[derive(Clone, Debug)]
pub struct Remote {
    gateway: SocketAddr,
    partition: u32,
    transport: Arc<Transport>,
    refreshes: Arc<AtomicU64>,
}

impl Remote {
    /// `partition`, whose fetches are counted in `refreshes`.
    pub fn new(around: &Surroundings, partition: u32, refreshes: Arc<AtomicU64>) -> Self {
        Self { gateway: around.gateway, partition, transport: Arc::clone(&around.transport), refreshes }
    }

    /// Opens a connection and sends a request over it. A socket that accepts proves nothing: one that hangs
    /// accepts too.
    async fn knock(&self, address: SocketAddr) -> io::Result<()> {
        let request = Request { id: u64::MAX, key: 0 };
        let ask = Ask { request, partition: self.partition, purpose: Purpose::Probe };
        match self.transport.knock(address, ask).await?.status {
            Status::Served => Ok(()),
            Status::Gone => Err(io::Error::other("the replica is gone")),
        }
    }
}

#[async_trait]
impl Gateway<SocketAddr> for Remote {
    async fn addresses(&self, (): &()) -> Result<Vec<SocketAddr>, GatewayError> {
        self.refreshes.fetch_add(1, Ordering::Relaxed);
        let addresses = gateway::ask(self.gateway, self.partition).await.map_err(GatewayError::failed)?;
        if addresses.is_empty() { Err(GatewayError::NoSuchPartition) } else { Ok(addresses) }
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
