//! Where addresses come from.

mod dns;
mod fixed;

use std::{error::Error, sync::Arc};

use async_trait::async_trait;

use crate::RoutingMap;

pub use dns::DnsName;
pub use fixed::FixedList;

/// Answers which addresses serve a partition, with the **whole** set. `P` names a partition; a pool without
/// partitions asks for `()`.
#[async_trait]
pub trait Gateway<A, P = ()>: Send + Sync + 'static {
    /// The addresses that serve `partition`, each once, in the order of preference if there is one.
    ///
    /// It runs in the background and may take its time: calls are served the present set meanwhile. It is
    /// dropped after 30 s.
    ///
    /// # Errors
    ///
    /// [`GatewayError::NoSuchPartition`] when the gateway knows that there is none; [`GatewayError::Failed`]
    /// when it can't say. Neither takes the present set away.
    async fn addresses(&self, partition: &P) -> Result<Vec<A>, GatewayError>;

    /// The addresses, when they are known and can never change: then the gateway is never asked, and
    /// replicas are ordered by their circuits alone. Default: `None`.
    fn fixed(&self, partition: &P) -> Option<Vec<A>> {
        let _ = partition;
        None
    }
}

/// A gateway to a store that is divided into partitions by key.
#[async_trait]
pub trait PartitionGateway<K, A, P>: Gateway<A, P> {
    /// Which partition serves which keys.
    ///
    /// It runs in the background; it is dropped after 30 s.
    ///
    /// # Errors
    ///
    /// [`GatewayError::Failed`] when the gateway can't say. That does not take the present map away, and
    /// neither does a map of a lower version.
    async fn routing_map(&self) -> Result<RoutingMap<K, P>, GatewayError>;
}

/// Why a gateway did not answer with addresses.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// The gateway knows that the partition does not exist (any more).
    #[error("the gateway knows no such partition")]
    NoSuchPartition,
    /// The gateway answered with no address at all.
    #[error("the gateway answered with an empty set of addresses")]
    Empty,
    /// The gateway did not answer in time.
    #[error("the gateway did not answer within 30 s")]
    TimedOut,
    /// The gateway's code panicked.
    #[error("the gateway panicked")]
    Panicked,
    /// The gateway could not be asked.
    #[error("the gateway could not be asked: {0}")]
    Failed(#[source] Arc<dyn Error + Send + Sync>),
}

impl GatewayError {
    /// An error that asking brought.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(Arc::from(error.into()))
    }
}

/// A gateway with the partition to ask it for.
#[async_trait]
pub(crate) trait Source<A>: Send + Sync {
    async fn addresses(&self) -> Result<Vec<A>, GatewayError>;
    fn fixed(&self) -> Option<Vec<A>>;

    /// Whether a routing map leads to the partition.
    fn is_routed(&self) -> bool {
        false
    }

    /// The gateway no longer knows the partition, or its replicas say that it is elsewhere.
    fn vanished(&self) {}
}

pub(crate) struct Bound<P, G: ?Sized> {
    pub(crate) partition: P,
    pub(crate) gateway: Arc<G>,
}

#[async_trait]
impl<A, P, G> Source<A> for Bound<P, G>
where
    A: Send,
    P: Send + Sync + 'static,
    G: Gateway<A, P> + ?Sized,
{
    async fn addresses(&self) -> Result<Vec<A>, GatewayError> {
        self.gateway.addresses(&self.partition).await
    }

    fn fixed(&self) -> Option<Vec<A>> {
        self.gateway.fixed(&self.partition)
    }
}
