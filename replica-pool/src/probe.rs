use std::{net::SocketAddr, sync::Arc};

use async_trait::async_trait;
use breaker_canary::Probe;
use tokio::net::TcpStream;

use crate::{Address, Replica};

/// A replica is well when it accepts a TCP connection. That proves little: it is for remotes of which nothing
/// else is known.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TcpProbe;

#[async_trait]
impl Probe<SocketAddr> for TcpProbe {
    async fn probe(&self, address: &SocketAddr) -> bool {
        TcpStream::connect(address).await.is_ok()
    }
}

/// A pool's probe, for the worker that probes its replicas.
pub(crate) struct ReplicaProbe<A>(pub(crate) Arc<dyn Probe<A>>);

#[async_trait]
impl<A: Address, H: Send + Sync + 'static> Probe<Replica<A, H>> for ReplicaProbe<A> {
    async fn probe(&self, replica: &Replica<A, H>) -> bool {
        self.0.probe(replica.address()).await
    }
}
