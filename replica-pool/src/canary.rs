//! The canary worker of a pool: one for all its replicas.

use std::{fmt, net::SocketAddr, sync::Arc};

use async_trait::async_trait;
use breaker_core::Breaker;
use tokio::{net::TcpStream, runtime::Handle, sync::Notify};

/// Finds out whether a replica is well, by a small real request over the transport that calls use.
#[async_trait]
pub trait Probe<A>: Send + Sync + 'static {
    /// Whether the replica at `address` is well. Dropped when it takes too long; a panic counts as no.
    async fn is_healthy(&self, address: &A) -> bool;
}

/// A replica is well when it accepts a TCP connection. That proves little: it is for remotes of which nothing
/// else is known.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TcpProbe;

#[async_trait]
impl Probe<SocketAddr> for TcpProbe {
    async fn is_healthy(&self, address: &SocketAddr) -> bool {
        TcpStream::connect(address).await.is_ok()
    }
}

pub(crate) struct Watch;

pub(crate) struct Canaries<A> {
    probe: Arc<dyn Probe<A>>,
}

impl<A: crate::Address> Canaries<A> {
    pub(crate) fn new(probe: Arc<dyn Probe<A>>, _changed: Arc<Notify>, _runtime: &Handle) -> Self {
        Self { probe }
    }

    pub(crate) fn watch(&self, address: A, breaker: &Arc<Breaker>) -> Watch {
        let _ = (address, breaker, &self.probe);
        Watch
    }
}

impl<A> fmt::Debug for Canaries<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canaries").finish_non_exhaustive()
    }
}
