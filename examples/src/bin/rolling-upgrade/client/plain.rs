//! What many clients do today: a random replica, another one when that fails, and a refresh in the
//! background on each failure, while the old addresses are served.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::{Context as _, anyhow};
use async_trait::async_trait;
use tokio::time::timeout;

use super::{Client, Counters, Surroundings};
use crate::{
    gateway,
    wire::{Ask, Purpose, Request, Status},
};

/// The client without a pool.
#[derive(Clone, Debug)]
pub struct PlainClient(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    around: Surroundings,
    partitions: BTreeMap<u32, Partition>,
    random: Mutex<fastrand::Rng>,
    refreshes: AtomicU64,
}

#[derive(Debug)]
struct Partition {
    addresses: Mutex<Vec<SocketAddr>>,
    /// Held by the one refresh that is under way.
    refreshing: Arc<tokio::sync::Mutex<()>>,
}

impl PlainClient {
    /// Asks the gateway once for each partition.
    ///
    /// # Errors
    ///
    /// When the gateway does not answer.
    pub async fn start(around: Surroundings) -> anyhow::Result<Self> {
        let mut partitions = BTreeMap::new();
        for partition in around.keys.partitions() {
            let addresses =
                gateway::ask(around.gateway, partition).await.context("first look at the gateway")?;
            let known = Partition { addresses: Mutex::new(addresses), refreshing: Arc::default() };
            partitions.insert(partition, known);
        }
        let random = Mutex::new(fastrand::Rng::with_seed(around.seed));
        Ok(Self(Arc::new(Inner { around, partitions, random, refreshes: AtomicU64::new(0) })))
    }

    /// The known addresses in a random order.
    fn candidates(&self, partition: u32) -> Vec<SocketAddr> {
        let mut addresses = self.0.partitions.get(&partition).map(Partition::addresses).unwrap_or_default();
        self.0.random.lock().unwrap_or_else(PoisonError::into_inner).shuffle(&mut addresses);
        addresses
    }

    async fn attempt(&self, address: SocketAddr, ask: Ask) -> io::Result<()> {
        let exchange = self.0.around.transport.exchange(address, ask);
        match timeout(self.0.around.attempt_timeout, exchange).await {
            Ok(Ok(reply)) if reply.status == Status::Served => Ok(()),
            Ok(Ok(_)) => Err(io::Error::other("the replica is gone")),
            Ok(Err(broken)) => Err(broken),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Starts a refresh in the background, unless one is under way.
    fn refresh(&self, partition: u32) {
        let Some(known) = self.0.partitions.get(&partition) else {
            return;
        };
        let Ok(only_one) = Arc::clone(&known.refreshing).try_lock_owned() else {
            return;
        };
        self.0.refreshes.fetch_add(1, Ordering::Relaxed);
        let client = self.clone();
        tokio::spawn(async move {
            let answer = gateway::ask(client.0.around.gateway, partition).await;
            if let (Ok(addresses), Some(known)) = (answer, client.0.partitions.get(&partition)) {
                known.replace(addresses);
            }
            drop(only_one);
        });
    }
}

#[async_trait]
impl Client for PlainClient {
    async fn request(&self, request: Request) -> anyhow::Result<()> {
        let partition = self.0.around.keys.partition(request.key);
        let ask = Ask { request, partition, purpose: Purpose::Ordinary };
        let mut last = anyhow!("no replica is known");
        for address in self.candidates(partition) {
            match self.attempt(address, ask).await {
                Ok(()) => return Ok(()),
                Err(error) => {
                    self.refresh(partition);
                    last = anyhow!(error).context(format!("the replica at {address}"));
                }
            }
        }
        Err(last)
    }

    fn counters(&self) -> Counters {
        Counters { refreshes: self.0.refreshes.load(Ordering::Relaxed), attempts_after_mark: None }
    }
}

impl Partition {
    fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// An empty answer replaces nothing.
    fn replace(&self, addresses: Vec<SocketAddr>) {
        if !addresses.is_empty() {
            *self.addresses.lock().unwrap_or_else(PoisonError::into_inner) = addresses;
        }
    }
}
