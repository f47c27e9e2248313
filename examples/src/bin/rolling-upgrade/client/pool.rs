//! The client that uses the library: one pool that is divided into partitions.

mod judge;

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::Context as _;
use async_trait::async_trait;
use examples::remote::Remote;
use replica_pool::{Attempt, HealthStatus, PartitionedPool, Replica, config::Config};

use super::{Client, Counters, Failure, ReplicaView, Surroundings, failure::AttemptError};
use crate::wire::{Ask, Purpose, Request};
use judge::judge;

/// A client with a pool.
#[derive(Debug)]
pub struct PoolClient {
    around: Surroundings,
    pool: PartitionedPool<u64, u32, SocketAddr>,
    refreshes: Arc<AtomicU64>,
    attempts_after_mark: AtomicU64,
}

impl PoolClient {
    /// Builds the pool and waits until it has a map, and addresses for each partition.
    ///
    /// # Errors
    ///
    /// When a pool can't be built as `config` says, or the gateway does not answer.
    pub async fn start(around: Surroundings, config: &Config) -> anyhow::Result<Self> {
        let refreshes = Arc::new(AtomicU64::new(0));
        let remote = Remote::new(around.gateway, Arc::clone(&around.transport), Arc::clone(&refreshes));
        let pool = PartitionedPool::builder(remote.clone())
            .config(config.clone())
            .connector(remote.clone())
            .probe(remote)
            .build()?;
        pool.ready().await.context("first look at the gateway")?;
        let map = pool.routing_map().context("no routing map")?;
        let partitions: Vec<_> =
            map.ranges().filter_map(|(keys, _)| pool.pool(&keys.from.unwrap_or(0))).collect();
        for partition in partitions {
            partition.ready().await.context("first look at the gateway")?;
        }
        Ok(Self { around, pool, refreshes, attempts_after_mark: AtomicU64::new(0) })
    }

    async fn attempt(&self, attempt: Attempt<SocketAddr>, request: Request) -> Result<(), AttemptError> {
        if attempt.replica().health() == HealthStatus::Unhealthy {
            self.attempts_after_mark.fetch_add(1, Ordering::Relaxed);
        }
        let ask = Ask { request, purpose: Purpose::Ordinary };
        Ok(self.around.transport.exchange(*attempt.address(), ask).await?.status.served()?)
    }
}

#[async_trait]
impl Client for PoolClient {
    async fn request(&self, request: Request) -> Result<(), Failure> {
        let call = self.pool.request(&request.key).idempotent(true).judge(judge);
        Ok(call.call(|attempt| self.attempt(attempt, request)).await?)
    }

    fn states(&self) -> Vec<ReplicaView> {
        let view = |replica: &Arc<Replica<SocketAddr>>| ReplicaView {
            address: *replica.address(),
            circuit: replica.breaker().status().circuit,
            health: replica.health(),
        };
        let pools = self.pool.used().into_iter();
        pools.flat_map(|(_, pool)| pool.replicas().replicas().iter().map(view).collect::<Vec<_>>()).collect()
    }

    fn counters(&self) -> Counters {
        Counters {
            refreshes: self.refreshes.load(Ordering::Relaxed),
            attempts_after_mark: Some(self.attempts_after_mark.load(Ordering::Relaxed)),
        }
    }
}
