//! What many clients do today: a random replica, another one when that fails, and a refresh in the
//! background on each failure, while the old addresses are served. The map is kept as well until a failure
//! says that it is old, and the caller is given that failure as it is.

mod view;

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::Context as _;
use async_trait::async_trait;
use tokio::time::timeout;

use super::{Client, Counters, Failure, Surroundings, failure::AttemptError};
use crate::{
    gateway,
    wire::{Ask, Gone, Purpose, Request},
};
use view::{Partition, View};

/// The client without a pool.
#[derive(Clone, Debug)]
pub struct PlainClient(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    around: Surroundings,
    view: Mutex<Arc<View>>,
    /// Held by the one refresh of the map that is under way.
    remapping: Arc<tokio::sync::Mutex<()>>,
    random: Mutex<fastrand::Rng>,
    refreshes: AtomicU64,
}

impl PlainClient {
    /// Asks the gateway for the map, and once for each partition.
    ///
    /// # Errors
    ///
    /// When the gateway does not answer.
    pub async fn start(around: Surroundings) -> anyhow::Result<Self> {
        let view = View::first(around.gateway).await.context("first look at the gateway")?;
        let random = Mutex::new(fastrand::Rng::with_seed(around.seed));
        Ok(Self(Arc::new(Inner {
            around,
            view: Mutex::new(Arc::new(view)),
            remapping: Arc::default(),
            random,
            refreshes: AtomicU64::new(0),
        })))
    }

    fn view(&self) -> Arc<View> {
        Arc::clone(&self.0.view.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The known addresses in a random order.
    fn candidates(&self, partition: &Partition) -> Vec<SocketAddr> {
        let mut addresses = partition.addresses();
        self.0.random.lock().unwrap_or_else(PoisonError::into_inner).shuffle(&mut addresses);
        addresses
    }

    async fn attempt(&self, address: SocketAddr, request: Request) -> Result<(), AttemptError> {
        let ask = Ask { request, purpose: Purpose::Ordinary };
        let exchange = self.0.around.transport.exchange(address, ask);
        match timeout(self.0.around.attempt_timeout, exchange).await {
            Ok(reply) => Ok(reply?.status.served()?),
            Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
        }
    }

    /// Asks for the addresses in the background, unless that is under way.
    fn refresh(&self, partition: &Arc<Partition>) {
        let Some(only_one) = partition.start_refresh() else { return };
        self.0.refreshes.fetch_add(1, Ordering::Relaxed);
        let (gateway, partition) = (self.0.around.gateway, Arc::clone(partition));
        tokio::spawn(async move {
            if let Ok(addresses) = gateway::ask_addresses(gateway, partition.number).await {
                partition.replace(addresses);
            }
            drop(only_one);
        });
    }

    /// Asks for the map in the background, unless that is under way or it is newer than what was `seen`.
    fn remap(&self, seen: &View) {
        let Ok(only_one) = Arc::clone(&self.0.remapping).try_lock_owned() else { return };
        let present = self.view();
        if present.map.version() > seen.map.version() {
            return;
        }
        let client = self.clone();
        tokio::spawn(async move {
            if let Ok(Some(next)) = present.next(client.0.around.gateway).await {
                *client.0.view.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
            }
            drop(only_one);
        });
    }
}

#[async_trait]
impl Client for PlainClient {
    async fn request(&self, request: Request) -> Result<(), Failure> {
        let view = self.view();
        let Some(partition) = view.partition(request.key) else {
            return Err(Failure { status: None, reason: "no replica is known".to_owned() });
        };
        let mut last = Failure { status: None, reason: "no replica is known".to_owned() };
        for address in self.candidates(partition) {
            let Err(error) = self.attempt(address, request).await else { return Ok(()) };
            self.refresh(partition);
            last = Failure { status: error.status(), reason: format!("the replica at {address}: {error}") };
            if matches!(error, AttemptError::Gone(Gone::Partition | Gone::Migrating)) {
                // An answer about the partition, which the other replicas would only repeat.
                self.remap(&view);
                break;
            }
        }
        Err(last)
    }

    fn counters(&self) -> Counters {
        Counters { refreshes: self.0.refreshes.load(Ordering::Relaxed), attempts_after_mark: None }
    }
}
