//! What the plain client knows of the store.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::try_join_all;
use tokio::sync::OwnedMutexGuard;

use crate::{gateway, keys::KeyMap};

/// A map with the addresses of each of its partitions.
#[derive(Debug)]
pub struct View {
    pub(super) map: KeyMap,
    partitions: BTreeMap<u32, Arc<Partition>>,
}

/// One partition.
#[derive(Debug)]
pub struct Partition {
    /// Its number.
    pub(super) number: u32,
    addresses: Mutex<Vec<SocketAddr>>,
    /// Held by the one refresh that is under way.
    refreshing: Arc<tokio::sync::Mutex<()>>,
}

impl View {
    /// What the gateway says first.
    pub(super) async fn first(gateway: SocketAddr) -> io::Result<Self> {
        let map = gateway::ask_map(gateway).await?;
        Self::of(map, &BTreeMap::new(), gateway).await
    }

    /// What comes after this one, if the gateway's map is newer.
    pub(super) async fn next(&self, gateway: SocketAddr) -> io::Result<Option<Self>> {
        let map = gateway::ask_map(gateway).await?;
        if map.version() <= self.map.version() {
            return Ok(None);
        }
        Ok(Some(Self::of(map, &self.partitions, gateway).await?))
    }

    /// `map` with the addresses of its partitions; those that are `known` are kept.
    async fn of(map: KeyMap, known: &BTreeMap<u32, Arc<Partition>>, gateway: SocketAddr) -> io::Result<Self> {
        let partitions = map.partitions().iter().map(|number| async move {
            match known.get(number) {
                Some(partition) => Ok((*number, Arc::clone(partition))),
                None => Ok::<_, io::Error>((*number, Partition::ask(gateway, *number).await?)),
            }
        });
        let partitions = try_join_all(partitions).await?.into_iter().collect();
        Ok(Self { map, partitions })
    }

    /// Who serves `key`.
    pub(super) fn partition(&self, key: u64) -> Option<&Arc<Partition>> {
        self.partitions.get(self.map.partition(&key))
    }
}

impl Partition {
    async fn ask(gateway: SocketAddr, number: u32) -> io::Result<Arc<Self>> {
        let addresses = Mutex::new(gateway::ask_addresses(gateway, number).await?);
        Ok(Arc::new(Self { number, addresses, refreshing: Arc::default() }))
    }

    /// What is held while the addresses are asked for; `None` while somebody does.
    pub(super) fn start_refresh(&self) -> Option<OwnedMutexGuard<()>> {
        Arc::clone(&self.refreshing).try_lock_owned().ok()
    }

    /// The known addresses.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// An empty answer replaces nothing.
    pub(super) fn replace(&self, addresses: Vec<SocketAddr>) {
        if !addresses.is_empty() {
            *self.addresses.lock().unwrap_or_else(PoisonError::into_inner) = addresses;
        }
    }
}
