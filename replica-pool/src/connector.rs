use std::{error::Error, net::SocketAddr};

use async_trait::async_trait;
use tokio::net::TcpStream;

/// Opens a connection to a replica, to find out whether it is there.
#[async_trait]
pub trait Connector<A, H = ()>: Send + Sync + 'static {
    /// Opens a connection. What it gives is kept as the replica's [handle](crate::Replica::handle) until the
    /// replica is found to be bad.
    ///
    /// It is dropped after the pool's `attemptTimeout`.
    ///
    /// # Errors
    ///
    /// Whatever kept the connection from being opened; the replica is unhealthy then.
    async fn connect(&self, address: &A) -> Result<H, Box<dyn Error + Send + Sync>>;
}

/// Opens a TCP connection and closes it again.
///
/// A socket that accepts proves that something listens there, not that it answers: where the protocol has a
/// handshake, write a connector that goes through it.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TcpConnector;

#[async_trait]
impl Connector<SocketAddr> for TcpConnector {
    async fn connect(&self, address: &SocketAddr) -> Result<(), Box<dyn Error + Send + Sync>> {
        TcpStream::connect(address).await?;
        Ok(())
    }
}

#[async_trait]
impl Connector<SocketAddr, TcpStream> for TcpConnector {
    async fn connect(&self, address: &SocketAddr) -> Result<TcpStream, Box<dyn Error + Send + Sync>> {
        Ok(TcpStream::connect(address).await?)
    }
}
