//! A divided store that tests change under the pool's feet. Time is tokio's, paused.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use replica_pool::{
    Attempt, CallError, Gateway, GatewayError, Gone, KeyRange, PartitionGateway, PartitionedPool, RoutingMap,
    Unavailable, Verdict, config::Config, io_verdict,
};
use tokio::time::sleep;

pub(crate) type Addr = &'static str;
pub(crate) type Id = &'static str;
pub(crate) type Pool = PartitionedPool<u32, Id, Addr>;

/// What a replica says when it does not serve a key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum No {
    #[error("410: {0}")]
    Gone(Gone),
    #[error(transparent)]
    Io(#[from] io::Error),
}

pub(crate) fn judge(result: &Result<Addr, No>) -> Verdict {
    match result {
        Ok(_) => Verdict::SUCCESS,
        Err(No::Gone(Gone::Partition)) => Verdict::PARTITION_GONE,
        Err(No::Gone(Gone::Splitting)) => Verdict::SPLITTING,
        Err(No::Gone(Gone::Migrating)) => Verdict::MIGRATING,
        Err(No::Gone(_)) => Verdict::REPLICA_GONE,
        Err(No::Io(error)) => io_verdict(error.kind()),
    }
}

/// The truth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    pub(crate) version: u64,
    /// Where each partition starts and which it is, ascending, the first at 0.
    pub(crate) starts: Vec<(u32, Id)>,
    pub(crate) addresses: HashMap<Id, Vec<Addr>>,
    /// Replicas that refuse connections.
    pub(crate) down: Vec<Addr>,
    /// Replicas of partitions that are no more, which serve on for a while.
    pub(crate) lingering: Vec<Addr>,
    /// Replicas that answer with this, whatever they are asked.
    pub(crate) says: HashMap<Addr, Gone>,
}

impl Truth {
    pub(crate) fn map(&self) -> RoutingMap<u32, Id> {
        let ends = self.starts.iter().skip(1).map(|(start, _)| Some(*start)).chain([None]);
        let ranges = self.starts.iter().zip(ends).enumerate();
        let range = |(i, ((from, id), to)): (usize, (&(u32, Id), Option<u32>))| {
            (KeyRange::new((i > 0).then_some(*from), to), *id)
        };
        RoutingMap::new(self.version, ranges.map(range)).unwrap()
    }

    pub(crate) fn id_of(&self, key: u32) -> Id {
        self.starts.iter().rev().find(|(start, _)| *start <= key).unwrap().1
    }

    /// `from` becomes `parts`, the first of which starts where it did.
    pub(crate) fn split(&mut self, from: Id, parts: &[(u32, Id, &[Addr])]) {
        let at = self.starts.iter().position(|(_, id)| *id == from).unwrap();
        let start = self.starts[at].0;
        let first = parts[0].1;
        self.starts
            .splice(at..=at, parts.iter().map(|(key, id, _)| (if *id == first { start } else { *key }, *id)));
        self.addresses.remove(from);
        self.addresses.extend(parts.iter().map(|(_, id, addresses)| (*id, addresses.to_vec())));
        self.version += 1;
    }

    fn serve(&self, address: Addr, key: u32) -> Result<Addr, No> {
        if self.down.contains(&address) {
            return Err(io::Error::from(io::ErrorKind::ConnectionRefused).into());
        }
        if let Some(gone) = self.says.get(address) {
            return Err(No::Gone(*gone));
        }
        if self.lingering.contains(&address) {
            return Ok(address);
        }
        if self.addresses.get(self.id_of(key)).is_some_and(|addresses| addresses.contains(&address)) {
            return Ok(address);
        }
        let serves_any = self.addresses.values().any(|addresses| addresses.contains(&address));
        Err(No::Gone(if serves_any || self.version > 1 { Gone::Partition } else { Gone::Replica }))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Desk {
    pub(crate) truth: Mutex<Truth>,
    /// What the gateway answers with while it is set: the truth of some time ago.
    pub(crate) belief: Mutex<Option<Truth>>,
    pub(crate) fails: Mutex<bool>,
    /// Empty feeds instead of "not found".
    pub(crate) feeds: Mutex<bool>,
    pub(crate) takes: Mutex<Duration>,
    pub(crate) maps_asked: AtomicUsize,
    pub(crate) addresses_asked: AtomicUsize,
    pub(crate) visits: Mutex<Vec<(u32, Addr)>>,
}

impl Desk {
    fn believed(&self) -> Truth {
        self.belief.lock().unwrap().clone().unwrap_or_else(|| self.truth.lock().unwrap().clone())
    }

    async fn think(&self) -> Result<(), GatewayError> {
        let takes = *self.takes.lock().unwrap();
        sleep(takes).await;
        if *self.fails.lock().unwrap() { Err(GatewayError::failed("503")) } else { Ok(()) }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Store(pub(crate) Arc<Desk>);

#[async_trait]
impl Gateway<Addr, Id> for Store {
    async fn addresses(&self, partition: &Id) -> Result<Vec<Addr>, GatewayError> {
        self.0.addresses_asked.fetch_add(1, Ordering::SeqCst);
        let believed = self.0.believed();
        self.0.think().await?;
        match believed.addresses.get(partition) {
            Some(addresses) => Ok(addresses.clone()),
            None if *self.0.feeds.lock().unwrap() => Ok(Vec::new()),
            None => Err(GatewayError::NoSuchPartition),
        }
    }
}

#[async_trait]
impl PartitionGateway<u32, Addr, Id> for Store {
    async fn routing_map(&self) -> Result<RoutingMap<u32, Id>, GatewayError> {
        self.0.maps_asked.fetch_add(1, Ordering::SeqCst);
        // Answered as of when it was asked: by the time it arrives, it may be old.
        let believed = self.0.believed();
        self.0.think().await?;
        Ok(believed.map())
    }
}

/// A store of partitions `low` (keys below 100, replicas a and b) and `high` (c and d), and a pool over it.
pub(crate) struct Bench {
    pub(crate) store: Store,
    pub(crate) pool: Pool,
}

pub(crate) type Outcome = Result<Addr, CallError<No>>;

impl Bench {
    pub(crate) async fn new(settings: &str) -> Self {
        let store = Store::default();
        *store.0.truth.lock().unwrap() = Truth {
            version: 1,
            starts: vec![(0, "low"), (100, "high")],
            addresses: HashMap::from([("low", vec!["a", "b"]), ("high", vec!["c", "d"])]),
            ..Truth::default()
        };
        Self::over(store, settings).await
    }

    pub(crate) async fn over(store: Store, settings: &str) -> Self {
        let config = Config::from_text("test.json", settings).unwrap();
        let pool = PartitionedPool::builder(store.clone()).config(config).build().unwrap();
        pool.ready().await.unwrap();
        Self { store, pool }
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Truth)) {
        change(&mut self.store.0.truth.lock().unwrap());
    }

    /// The gateway goes on saying what is true now.
    pub(crate) fn gateway_lags(&self) {
        let truth = self.store.0.truth.lock().unwrap().clone();
        *self.store.0.belief.lock().unwrap() = Some(truth);
    }

    pub(crate) fn gateway_catches_up(&self) {
        *self.store.0.belief.lock().unwrap() = None;
    }

    pub(crate) fn gateway_takes(&self, span: Duration) {
        *self.store.0.takes.lock().unwrap() = span;
    }

    pub(crate) fn asked(&self) -> (usize, usize) {
        (self.store.0.maps_asked.load(Ordering::SeqCst), self.store.0.addresses_asked.load(Ordering::SeqCst))
    }

    pub(crate) fn body(
        &self,
        key: u32,
    ) -> impl Fn(Attempt<Addr>) -> std::future::Ready<Result<Addr, No>> + Send + use<> {
        let desk = Arc::clone(&self.store.0);
        move |attempt| {
            desk.visits.lock().unwrap().push((key, attempt.address()));
            std::future::ready(desk.truth.lock().unwrap().serve(attempt.address(), key))
        }
    }

    pub(crate) async fn call(&self, key: u32) -> Outcome {
        self.pool.request(&key).judge(judge).call(self.body(key)).await
    }

    pub(crate) async fn unavailable(&self, key: u32) -> Unavailable<No> {
        match self.call(key).await {
            Err(CallError::Unavailable(unavailable)) => unavailable,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn visits(&self) -> Vec<(u32, Addr)> {
        std::mem::take(&mut *self.store.0.visits.lock().unwrap())
    }
}
