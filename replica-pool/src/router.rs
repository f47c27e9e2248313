//! The present routing map, and the partitions that it leads to.

use std::{
    borrow::Borrow,
    collections::HashMap,
    fmt,
    hash::Hash,
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak},
    time::Duration,
};

use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use breaker_core::Clock;
use futures::future::join_all;
use tokio::time::timeout;

use crate::{
    Address, AllOpen, GatewayError, Lease, PartitionGateway, RefreshReason, Refreshed, RoutingMap,
    gateway::Source,
    partition::Partition,
    refresher::{Question, Refresher, Request},
    route::{Asked, Leg},
    shared::Shared,
    tasks::Tasks,
};

/// How long the partitions that follow a vanished one may look for their replicas before the map that leads
/// to them is taken into use all the same.
const HEAD_START: Duration = Duration::from_secs(5);

/// What keys are.
pub(crate) trait Key: Ord + Clone + fmt::Debug + Send + Sync + 'static {}
impl<K: Ord + Clone + fmt::Debug + Send + Sync + 'static> Key for K {}

/// What names a partition.
pub(crate) trait PartitionId: Eq + Hash + Clone + fmt::Debug + Send + Sync + 'static {}
impl<P: Eq + Hash + Clone + fmt::Debug + Send + Sync + 'static> PartitionId for P {}

/// Routes keys to partitions.
pub(crate) struct Router<K, P, A: Address, H: Send + Sync + 'static> {
    /// For the partitions, which tell it when they are no more.
    itself: Weak<Self>,
    shared: Arc<Shared<A, H>>,
    gateway: Arc<dyn PartitionGateway<K, A, P>>,
    table: ArcSwapOption<Table<K, P, A, H>>,
    refresher: Refresher,
}

/// A map with the partition of each of its ranges.
pub(crate) struct Table<K, P, A: Address, H: Send + Sync + 'static> {
    pub(crate) map: Arc<RoutingMap<K, P>>,
    cells: Box<[Arc<Cell<A, H>>]>,
}

/// A partition that costs next to nothing until it is used.
struct Cell<A, H> {
    partition: OnceLock<Arc<Partition<A, H>>>,
    /// True once the map no longer leads here. Held while the partition is made.
    vanished: Mutex<bool>,
}

impl<A: Address, H: Send + Sync + 'static> Cell<A, H> {
    fn new() -> Arc<Self> {
        Arc::new(Self { partition: OnceLock::new(), vanished: Mutex::new(false) })
    }

    #[inline]
    fn partition(&self, make: impl FnOnce() -> Arc<Partition<A, H>>) -> &Arc<Partition<A, H>> {
        self.partition.get().unwrap_or_else(|| self.first_use(make))
    }

    #[cold]
    fn first_use(&self, make: impl FnOnce() -> Arc<Partition<A, H>>) -> &Arc<Partition<A, H>> {
        let vanished = self.vanished.lock().unwrap_or_else(PoisonError::into_inner);
        let mut made = false;
        let partition = self.partition.get_or_init(|| {
            made = true;
            make()
        });
        match (made, *vanished) {
            // Whoever was routed by an older map finds it gone.
            (true, true) => partition.retire(),
            (true, false) => partition.begin(),
            (false, _) => {}
        }
        partition
    }

    fn vanish(&self) {
        let mut vanished = self.vanished.lock().unwrap_or_else(PoisonError::into_inner);
        *vanished = true;
        if let Some(partition) = self.partition.get() {
            partition.retire();
        }
    }

    fn is_used(&self) -> bool {
        self.partition.get().is_some()
    }
}

impl<K: Key, P: PartitionId, A: Address, H: Send + Sync + 'static> Router<K, P, A, H> {
    pub(crate) fn new(shared: Arc<Shared<A, H>>, gateway: Arc<dyn PartitionGateway<K, A, P>>) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            itself: Weak::clone(itself),
            shared,
            gateway,
            table: ArcSwapOption::empty(),
            refresher: Refresher::new(),
        })
    }

    pub(crate) fn shared(&self) -> &Arc<Shared<A, H>> {
        &self.shared
    }

    pub(crate) fn table(&self) -> Option<Arc<Table<K, P, A, H>>> {
        self.table.load_full()
    }

    /// Where `key` leads; `None` before the first map.
    pub(crate) fn leg<Q: Ord + ?Sized>(&self, key: &Q) -> Option<Leg<A, H>>
    where
        K: Borrow<Q>,
    {
        let table = self.table.load();
        let table = table.as_ref()?;
        let partition = Arc::clone(self.partition(table, table.map.index(key)));
        Some(Leg { partition, map_version: Some(table.map.version()) })
    }

    /// One attempt at the partition that serves `key`, on a way that counts no references; `None` before the first map.
    #[inline]
    pub(crate) fn acquire<Q: Ord + ?Sized>(&self, key: &Q) -> Option<Result<Lease<A, H>, AllOpen>>
    where
        K: Borrow<Q>,
    {
        let table = self.table.load();
        let table = table.as_ref()?;
        Some(self.partition(table, table.map.index(key)).acquire())
    }

    /// Asks for the map in the background, unless it is newer than version `seen`.
    pub(crate) fn ask_for_map(&self, seen: Option<u64>, reason: RefreshReason) -> Asked<'_> {
        let version = self.table.load().as_ref().map(|table| table.map.version());
        let request = match self.itself.upgrade() {
            _ if version > seen => Request::Served,
            Some(this) => this.start_refresh(reason, false),
            None => Request::Closed,
        };
        Asked { of: Refreshed::RoutingMap, refresher: &self.refresher, request }
    }

    fn partition<'t>(&self, table: &'t Table<K, P, A, H>, index: usize) -> &'t Arc<Partition<A, H>> {
        table.cells[index].partition(|| {
            let partition = table.map.partitions()[index].clone();
            let source = Routed { router: Weak::clone(&self.itself), partition };
            Partition::new(Arc::clone(&self.shared), Box::new(source))
        })
    }

    /// Partitions that are in use.
    pub(crate) fn used(&self) -> Vec<(P, Arc<Partition<A, H>>)> {
        let Some(table) = self.table() else { return Vec::new() };
        let ids = table.map.partitions().iter().cloned();
        let mut used: HashMap<P, Arc<Partition<A, H>>> = HashMap::new();
        used.extend(
            ids.zip(&table.cells).filter_map(|(id, cell)| Some((id, Arc::clone(cell.partition.get()?)))),
        );
        used.into_iter().collect()
    }

    /// Puts `map` in the place of an older one: partitions that stay keep what they have, those that follow a
    /// partition in use get a head start, and those that vanished end.
    async fn install(&self, map: RoutingMap<K, P>) -> bool {
        let old = self.table();
        if old.as_ref().is_some_and(|old| map.version() <= old.map.version()) {
            return false;
        }
        let mut cells: HashMap<&P, Arc<Cell<A, H>>> = HashMap::new();
        let before = || old.iter().flat_map(|old| old.map.partitions().iter().zip(&old.cells));
        let known: HashMap<&P, &Arc<Cell<A, H>>> = before().collect();
        let cell = |id| known.get(id).map_or_else(Cell::new, |cell| Arc::clone(cell));
        let row: Vec<_> = map
            .partitions()
            .iter()
            .map(|id| Arc::clone(cells.entry(id).or_insert_with(|| cell(id))))
            .collect();
        // In the order of their keys: the same events make the same history.
        let vanished: Vec<_> =
            before().filter(|(id, _)| !cells.contains_key(*id)).map(|(_, cell)| Arc::clone(cell)).collect();
        drop(cells);
        let table = Arc::new(Table { map: Arc::new(map), cells: row.into() });
        if let Some(old) = &old {
            self.give_head_start(old, &table).await;
        }
        self.table.store(Some(table));
        for cell in vanished {
            cell.vanish();
        }
        true
    }

    /// Looks for the replicas of new partitions whose keys a vanished partition served that was in use, so that
    /// requests need not wait for them.
    async fn give_head_start(&self, old: &Table<K, P, A, H>, new: &Table<K, P, A, H>) {
        let followers = new.map.ranges().enumerate().filter_map(|(index, (range, _))| {
            let cell = &new.cells[index];
            let first = range.from.as_ref().map_or(0, |from| old.map.index(from));
            let last = range.to.as_ref().map_or(old.cells.len(), |to| old.map.index_before(to));
            let follows = !cell.is_used()
                && old.cells[first..=last.min(old.cells.len() - 1)].iter().any(|cell| cell.is_used());
            follows.then(|| Arc::clone(self.partition(new, index)))
        });
        let found = followers.collect::<Vec<_>>().into_iter().map(|partition| async move {
            if let Request::Run { number, .. } = partition.start_refresh(RefreshReason::NoAddresses, false) {
                partition.refresher.wait(number).await;
            }
        });
        if timeout(HEAD_START, join_all(found)).await.is_err() {
            tracing::warn!("a new routing map is used before all of its partitions have replicas");
        }
    }
}

/// A partition that the map leads to, to ask the gateway for.
struct Routed<K, P, A: Address, H: Send + Sync + 'static> {
    router: Weak<Router<K, P, A, H>>,
    partition: P,
}

#[async_trait]
impl<K: Key, P: PartitionId, A: Address, H: Send + Sync + 'static> Source<A> for Routed<K, P, A, H> {
    async fn addresses(&self) -> Result<Vec<A>, GatewayError> {
        // The router is not kept while the gateway thinks.
        let gateway = self.router.upgrade().map(|router| Arc::clone(&router.gateway));
        gateway.ok_or(GatewayError::NoSuchPartition)?.addresses(&self.partition).await
    }

    fn fixed(&self) -> Option<Vec<A>> {
        self.router.upgrade()?.gateway.fixed(&self.partition)
    }

    fn is_routed(&self) -> bool {
        true
    }

    fn vanished(&self) {
        // Whoever tells this has not been retired: the present map still leads there.
        if let Some(router) = self.router.upgrade() {
            let version = router.table().map(|table| table.map.version());
            let _ = router.ask_for_map(version, RefreshReason::Gone);
        }
    }
}

impl<K: Key, P: PartitionId, A: Address, H: Send + Sync + 'static> Question for Router<K, P, A, H> {
    fn refresher(&self) -> &Refresher {
        &self.refresher
    }

    fn tasks(&self) -> &Tasks {
        &self.shared.tasks
    }

    fn clock(&self) -> &dyn Clock {
        &*self.shared.clock
    }

    async fn ask(self: &Arc<Self>) -> Result<bool, GatewayError> {
        let map = self.gateway.routing_map().await?;
        Ok(self.install(map).await)
    }
}
