use std::net::SocketAddr;

use async_trait::async_trait;
use breaker_canary::Probe;
use tokio::net::TcpStream;

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
