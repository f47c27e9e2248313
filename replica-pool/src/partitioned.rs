use std::{borrow::Borrow, error::Error, fmt, future::Future, sync::Arc};

use crate::{
    Address, AllOpen, Attempt, BuildError, ByKey, CallError, GatewayError, IoJudge, Judge, Lease,
    PartitionGateway, PoolBuilder, RefreshReason, ReplicaPool, Request, RoutingMap,
    pool::Owner,
    refresher,
    refresher::Question,
    router::{Key, PartitionId, Router},
};

/// A store that is divided into partitions by key, each served by replicas of its own.
///
/// A request is routed by its key to the partition that serves it, and there it is a call to a
/// [`ReplicaPool`]. When the partition turns out to be gone, splitting or migrating, the routing map is
/// refreshed and the request is routed again; what cannot be found again in time ends as
/// [`Unavailable`](crate::Unavailable).
///
/// A handle, cheap to clone. Partitions cost next to nothing until they are used; those that vanish from the map
/// end with it. An address that serves several partitions is one replica with one circuit.
///
/// `K` is the type of the keys (`Ord + Clone + Debug + Send + Sync + 'static`), `P` of what names a partition
/// (`Eq + Hash + Clone + Debug + Send + Sync + 'static`), `A` of what identifies a replica, `H` of what its
/// [`Connector`](crate::Connector) opens.
pub struct PartitionedPool<K, P, A: Address, H: Send + Sync + 'static = ()> {
    owner: Arc<Owner<A, H>>,
    router: Arc<Router<K, P, A, H>>,
}

/// Where the routing map and the addresses of a divided pool come from.
pub struct Partitioned<K, P, A>(Arc<dyn PartitionGateway<K, A, P>>);

impl<K, P, A> fmt::Debug for Partitioned<K, P, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Partitioned")
    }
}

#[expect(private_bounds, reason = "the bounds are short names for std's traits")]
impl<K: Key, P: PartitionId, A: Address, H: Send + Sync + 'static> PartitionedPool<K, P, A, H> {
    /// A pool of the partitions and replicas that `gateway` names.
    pub fn builder(gateway: impl PartitionGateway<K, A, P>) -> PoolBuilder<A, H, Partitioned<K, P, A>> {
        PoolBuilder::new(Partitioned(Arc::new(gateway)))
    }

    /// Makes a call to whoever serves `key`, with the pool's defaults: not idempotent, judged by [`IoJudge`].
    /// For anything else start with a [`request`](Self::request).
    ///
    /// Cancel safe, see [`Request::call`].
    ///
    /// # Errors
    ///
    /// See [`CallError`].
    pub async fn call<Q, T, E, Fut>(
        &self,
        key: &Q,
        body: impl FnMut(Attempt<A, H>) -> Fut,
    ) -> Result<T, CallError<E>>
    where
        K: Borrow<Q>,
        Q: Ord + Sync + ?Sized,
        E: Error + 'static,
        Fut: Future<Output = Result<T, E>>,
        IoJudge: Judge<T, E>,
    {
        self.request(key).call(body).await
    }

    /// A call to be made to whoever serves `key`, with the pool's defaults for its limits.
    pub fn request<'a, Q>(&'a self, key: &'a Q) -> Request<'a, ByKey<'a, K, P, A, H, Q>>
    where
        K: Borrow<Q>,
        Q: Ord + Sync + ?Sized,
    {
        let shared = self.router.shared();
        Request::new(ByKey { router: &self.router, key }, &shared.clock, &shared.config)
    }

    /// Begins an attempt at the best replica of the partition that serves `key` now, as [`ReplicaPool::acquire`] does. Cheaper
    /// than by [`pool`](Self::pool), which makes a handle. It does not follow the key when its partition turns out to be
    /// gone: [`request`](Self::request) does.
    ///
    /// # Errors
    ///
    /// [`AllOpen`] when no circuit admits a call; it names no replica before the first routing map and the first addresses.
    #[inline]
    pub fn acquire<Q>(&self, key: &Q) -> Result<Lease<A, H>, AllOpen>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.router.acquire(key).unwrap_or_else(|| {
            let _ = self.router.ask_for_map(None, RefreshReason::NoAddresses);
            Err(AllOpen::new(Vec::new(), self.router.shared().clock.now()))
        })
    }

    /// The pool of the partition that serves `key` now; `None` before the first routing map. It does not
    /// follow the key when the map changes.
    pub fn pool<Q>(&self, key: &Q) -> Option<ReplicaPool<A, H>>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let leg = self.router.leg(key)?;
        Some(ReplicaPool::new(Arc::clone(&self.owner), leg.partition))
    }

    /// The pools of the partitions that have been used, in no order.
    pub fn used(&self) -> Vec<(P, ReplicaPool<A, H>)> {
        let pool = |(id, partition)| (id, ReplicaPool::new(Arc::clone(&self.owner), partition));
        self.router.used().into_iter().map(pool).collect()
    }

    /// The present routing map; `None` before the first answer of the gateway.
    pub fn routing_map(&self) -> Option<Arc<RoutingMap<K, P>>> {
        self.router.table().map(|table| Arc::clone(&table.map))
    }

    /// Completes when the pool has a routing map.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    ///
    /// Why the gateway gave none, as soon as it has refused once.
    pub async fn ready(&self) -> Result<(), GatewayError> {
        self.resolve(None, RefreshReason::NoAddresses).await
    }

    /// Asks for the routing map again, or joins whoever does, and waits for the answer.
    ///
    /// Cancel safe: the question goes on without its caller.
    ///
    /// # Errors
    ///
    /// Why the gateway gave none; the present map stays.
    pub async fn refresh(&self) -> Result<(), GatewayError> {
        let seen = self.router.table().map(|table| table.map.version());
        self.resolve(seen, RefreshReason::Asked).await
    }

    async fn resolve(&self, seen: Option<u64>, reason: RefreshReason) -> Result<(), GatewayError> {
        match self.router.ask_for_map(seen, reason).request {
            refresher::Request::Served => Ok(()),
            refresher::Request::Closed => Err(GatewayError::NoSuchPartition),
            refresher::Request::Run { number, .. } => {
                self.router.refresher().wait(number).await.error.map_or(Ok(()), Err)
            }
        }
    }
}

#[expect(private_bounds, reason = "the bounds are short names for std's traits")]
impl<K: Key, P: PartitionId, A: Address, H: Send + Sync + 'static> PoolBuilder<A, H, Partitioned<K, P, A>> {
    /// The pool, at once. The routing map is asked for in the background; calls wait for the first one, and
    /// so does [`ready`](PartitionedPool::ready).
    ///
    /// # Errors
    ///
    /// See [`BuildError`].
    pub fn build(self) -> Result<PartitionedPool<K, P, A, H>, BuildError> {
        let (owner, Partitioned(gateway)) = self.owner()?;
        let router = Router::new(Arc::clone(&owner.shared), gateway);
        let _ = router.start_refresh(RefreshReason::NoAddresses, false);
        Ok(PartitionedPool { owner, router })
    }
}

impl<K, P, A: Address, H: Send + Sync + 'static> Clone for PartitionedPool<K, P, A, H> {
    fn clone(&self) -> Self {
        Self { owner: Arc::clone(&self.owner), router: Arc::clone(&self.router) }
    }
}

impl<K, P, A: Address, H: Send + Sync + 'static> fmt::Debug for PartitionedPool<K, P, A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartitionedPool").finish_non_exhaustive()
    }
}
