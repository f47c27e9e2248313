//! Does not wait for a gateway that hangs.

use std::{future::Future, net::SocketAddr, time::Duration};

use async_trait::async_trait;
use examples::{keys::KeyMap, remote::Remote};
use replica_pool::{Gateway, GatewayError, PartitionGateway};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(2);

/// The gateway, asked for a moment. Without partitions, its partition 0 is all there is.
#[derive(Clone, Debug)]
pub(super) struct Patient(pub(super) Remote);

#[async_trait]
impl Gateway<SocketAddr> for Patient {
    async fn addresses(&self, (): &()) -> Result<Vec<SocketAddr>, GatewayError> {
        soon(self.0.addresses(&0)).await
    }
}

#[async_trait]
impl Gateway<SocketAddr, u32> for Patient {
    async fn addresses(&self, partition: &u32) -> Result<Vec<SocketAddr>, GatewayError> {
        soon(self.0.addresses(partition)).await
    }
}

#[async_trait]
impl PartitionGateway<u64, SocketAddr, u32> for Patient {
    async fn routing_map(&self) -> Result<KeyMap, GatewayError> {
        soon(self.0.routing_map()).await
    }
}

async fn soon<T>(answer: impl Future<Output = Result<T, GatewayError>>) -> Result<T, GatewayError> {
    timeout(PATIENCE, answer).await.unwrap_or_else(|late| Err(GatewayError::failed(late)))
}
