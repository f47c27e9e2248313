//! The client that uses the library: one replica pool for each partition.

mod judge;
mod remote;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::Context as _;
use async_trait::async_trait;
use replica_pool::{Attempt, HealthStatus, ReplicaPool, config::Config};

use super::{Client, Counters, ReplicaView, Surroundings};
use crate::wire::{Ask, Purpose, Request, Status};
use judge::{AttemptError, judge};
use remote::Remote;

/// A client with a pool.
#[derive(Debug)]
pub struct PoolClient {
    around: Surroundings,
    partitions: BTreeMap<u32, ReplicaPool<SocketAddr>>,
    refreshes: Arc<AtomicU64>,
    attempts_after_mark: AtomicU64,
}

impl PoolClient {
    /// Builds the pools and waits until each has addresses.
    ///
    /// # Errors
    ///
    /// When a pool can't be built as `config` says, or the gateway does not answer.
    pub async fn start(around: Surroundings, config: &Config) -> anyhow::Result<Self> {
        let refreshes = Arc::new(AtomicU64::new(0));
        let mut partitions = BTreeMap::new();
        for partition in around.keys.partitions() {
            let remote = Remote::new(&around, partition, Arc::clone(&refreshes));
            let pool = ReplicaPool::builder(remote.clone())
                .config(config.clone())
                .connector(remote.clone())
                .probe(remote)
                .build()?;
            partitions.insert(partition, pool);
        }
        for pool in partitions.values() {
            pool.ready().await.context("first look at the gateway")?;
        }
        Ok(Self { around, partitions, refreshes, attempts_after_mark: AtomicU64::new(0) })
    }

    async fn attempt(&self, attempt: Attempt<SocketAddr>, ask: Ask) -> Result<(), AttemptError> {
        if attempt.replica().health() == HealthStatus::Unhealthy {
            self.attempts_after_mark.fetch_add(1, Ordering::Relaxed);
        }
        match self.around.transport.exchange(*attempt.address(), ask).await?.status {
            Status::Served => Ok(()),
            Status::Gone => Err(AttemptError::Gone),
        }
    }
}

#[async_trait]
impl Client for PoolClient {
    async fn request(&self, request: Request) -> anyhow::Result<()> {
        let partition = self.around.keys.partition(request.key);
        let ask = Ask { request, partition, purpose: Purpose::Ordinary };
        let pool = self.partitions.get(&partition).context("no such partition")?;
        pool.request().idempotent(true).judge(judge).call(|attempt| self.attempt(attempt, ask)).await?;
        Ok(())
    }

    fn states(&self) -> Vec<ReplicaView> {
        let sets = self.partitions.values().map(ReplicaPool::replicas);
        sets.flat_map(|set| {
            let view = |replica: &Arc<replica_pool::Replica<SocketAddr>>| ReplicaView {
                address: *replica.address(),
                circuit: replica.breaker().status().circuit,
                health: replica.health(),
            };
            set.replicas().iter().map(view).collect::<Vec<_>>()
        })
        .collect()
    }

    fn counters(&self) -> Counters {
        Counters {
            refreshes: self.refreshes.load(Ordering::Relaxed),
            attempts_after_mark: Some(self.attempts_after_mark.load(Ordering::Relaxed)),
        }
    }
}
