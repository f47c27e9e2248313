use std::{error::Error, fmt, future::Future, sync::Arc};

use fastrand::Rng;
use futures::future::join_all;
use serde::Serialize;

use crate::{
    Address, AllOpen, Attempt, CallError, Candidate, GatewayError, HealthStatus, IoJudge, Judge, Lease,
    RefreshReason, ReplicaSet, Request, candidates::Candidates, partition::Partition, refresher,
    route::Direct, shared::Shared,
};

/// Ends the background work of a pool with its last handle.
pub(crate) struct Owner<A: Address, H: Send + Sync + 'static> {
    pub(crate) shared: Arc<Shared<A, H>>,
}

impl<A: Address, H: Send + Sync + 'static> Drop for Owner<A, H> {
    fn drop(&mut self) {
        self.shared.shut_down();
    }
}

/// Several remotes that can do the same work: asks the healthiest first, goes on to the next when it fails,
/// and brings a recovered one back without hurting anyone.
///
/// A handle, cheap to clone. The background work ends with the last one.
///
/// `A` is what identifies a replica, `H` what its [`Connector`](crate::Connector) opens.
pub struct ReplicaPool<A: Address, H: Send + Sync + 'static = ()> {
    owner: Arc<Owner<A, H>>,
    pub(crate) partition: Arc<Partition<A, H>>,
}

impl<A: Address, H: Send + Sync + 'static> ReplicaPool<A, H> {
    pub(crate) fn new(owner: Arc<Owner<A, H>>, partition: Arc<Partition<A, H>>) -> Self {
        Self { owner, partition }
    }

    /// Makes a call with the pool's defaults: not idempotent, judged by [`IoJudge`]. For anything else
    /// start with a [`request`](Self::request).
    ///
    /// Cancel safe, see [`Request::call`].
    ///
    /// # Errors
    ///
    /// See [`CallError`].
    pub async fn call<T, E, Fut>(&self, body: impl FnMut(Attempt<A, H>) -> Fut) -> Result<T, CallError<E>>
    where
        E: Error + 'static,
        Fut: Future<Output = Result<T, E>>,
        IoJudge: Judge<T, E>,
    {
        self.request().call(body).await
    }

    /// A call to be made, with the pool's defaults for its limits.
    pub fn request(&self) -> Request<'_, Direct<'_, A, H>> {
        let shared = &self.partition.shared;
        Request::new(Direct(&self.partition), &shared.clock, &shared.config)
    }

    /// Begins an attempt at the best replica whose circuit admits one, for callers that make one attempt and find the next
    /// themselves. Waits for nothing, and allocates nothing as long as all is well. [Finish](Lease::finish) it with the
    /// verdict.
    ///
    /// A lease is cheapest while its thread holds few of them: beyond eight at a time each counts references.
    ///
    /// ```
    /// # use replica_pool::{AllOpen, FixedList, ReplicaPool, Verdict};
    /// # fn send(_: &str) -> Verdict { Verdict::SUCCESS }
    /// # fn example(pool: ReplicaPool<String>) -> Result<(), AllOpen> {
    /// let lease = pool.acquire()?;
    /// let verdict = send(lease.replica().address());
    /// lease.finish(&verdict);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AllOpen`] when no circuit admits a call, or no address is known yet; it names no replica then.
    #[inline]
    pub fn acquire(&self) -> Result<Lease<A, H>, AllOpen> {
        self.partition.acquire()
    }

    /// The `n` best candidates, the best first, for callers that run their own attempts (as quorum reads do).
    ///
    /// Nobody is left out: who asks for as many as there are gets them all, bad ones last. Fewer come only when
    /// there are fewer, and none before the first answer of the gateway.
    pub fn select(&self, n: usize) -> Vec<Candidate<A, H>> {
        let set = self.partition.set.load_full();
        let best = Candidates::all(&self.partition, &set).best(n, &mut Rng::new());
        best.into_iter().map(|index| Candidate::new(Arc::clone(&set), index)).collect()
    }

    /// The present replicas.
    pub fn replicas(&self) -> Arc<ReplicaSet<A, H>> {
        self.partition.set.load_full()
    }

    /// Completes when the pool has addresses.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    ///
    /// Why the gateway gave none, as soon as it has refused once.
    pub async fn ready(&self) -> Result<(), GatewayError> {
        if self.partition.fixed || !self.partition.set().replicas().is_empty() {
            return Ok(());
        }
        self.resolve(RefreshReason::NoAddresses).await
    }

    /// Asks for the addresses again, or joins whoever does, and waits for the answer.
    ///
    /// Cancel safe: the question goes on without its caller.
    ///
    /// # Errors
    ///
    /// Why the gateway gave none; the present set stays.
    pub async fn refresh(&self) -> Result<(), GatewayError> {
        self.resolve(RefreshReason::Asked).await
    }

    async fn resolve(&self, reason: RefreshReason) -> Result<(), GatewayError> {
        let seen = self.partition.set().version();
        match self.partition.refresh(seen, reason) {
            refresher::Request::Served => Ok(()),
            refresher::Request::Closed => Err(GatewayError::NoSuchPartition),
            refresher::Request::Run { number, .. } => {
                self.partition.refresher.wait(number).await.error.map_or(Ok(()), Err)
            }
        }
    }

    /// Opens a connection to every replica of unknown health, with the pool's connector, and waits for them: one for
    /// each core at a time, each for `attemptTimeout` at most. Says how many it opened. Without a connector it does
    /// nothing.
    ///
    /// Cancel safe: openings that have not ended are given up.
    pub async fn warm_up(&self) -> usize {
        let set = self.partition.set.load_full();
        let opened = join_all(set.replicas().iter().map(|replica| self.partition.warm_up(replica))).await;
        opened.into_iter().filter(|opened| *opened).count()
    }

    /// What a person would want to see of the pool. Changes nothing.
    pub fn snapshot(&self) -> PoolSnapshot {
        let set = self.partition.set();
        let replica = |replica: &Arc<crate::Replica<A, H>>| ReplicaSnapshot {
            address: replica.address().to_string(),
            health: replica.health(),
            circuit: replica.breaker().snapshot(),
        };
        PoolSnapshot {
            version: set.version(),
            validation_enabled: self.partition.shared.config.validation(),
            background_tasks: self.owner.shared.tasks.running(),
            replicas: set.replicas().iter().map(replica).collect(),
        }
    }
}

impl<A: Address, H: Send + Sync + 'static> Clone for ReplicaPool<A, H> {
    fn clone(&self) -> Self {
        Self { owner: Arc::clone(&self.owner), partition: Arc::clone(&self.partition) }
    }
}

impl<A: Address, H: Send + Sync + 'static> fmt::Debug for ReplicaPool<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplicaPool").field("set", &**self.partition.set()).finish_non_exhaustive()
    }
}

/// A pool at one moment. Serialises to JSON.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PoolSnapshot {
    /// The version of the set.
    pub version: u64,
    /// Whether replicas that failed are validated by opening connections.
    pub validation_enabled: bool,
    /// Questions to the gateway, validations and timers under way.
    pub background_tasks: usize,
    /// The replicas, in the gateway's order.
    pub replicas: Vec<ReplicaSnapshot>,
}

/// A replica at one moment.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReplicaSnapshot {
    /// Where it lives.
    pub address: String,
    /// What is known about the address.
    pub health: HealthStatus,
    /// Its circuit.
    pub circuit: breaker_core::Snapshot,
}
