//! The replicas: real listeners on the loopback device, which can stop and come back elsewhere.

mod host;
mod server;
mod truth;

pub use host::{HostId, HostInfo, Way};
pub use truth::{Condition, Truth};

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use server::{Server, Service};

use crate::{clock::RunClock, ledger::Ledger};

/// All replicas of one run. Dropping it closes every socket.
#[derive(Debug)]
pub struct Cluster {
    hosts: Vec<HostInfo>,
    /// Each host's listeners; the last one is where it lives now. The earlier ones stay as they stopped.
    servers: Mutex<BTreeMap<HostId, Vec<Server>>>,
    service: Arc<Service>,
}

impl Cluster {
    /// Starts those of `hosts` that are there from the start.
    ///
    /// # Errors
    ///
    /// When a socket can't be opened.
    pub async fn start(hosts: Vec<HostInfo>, seed: u64, clock: Arc<RunClock>) -> io::Result<Self> {
        let service =
            Arc::new(Service { seed, clock, truth: Truth::default(), ledger: Ledger::new(hosts.len()) });
        let cluster = Self { hosts, servers: Mutex::default(), service };
        for host in cluster.hosts.iter().filter(|host| host.from_start) {
            cluster.come_up(host.id).await?;
        }
        Ok(cluster)
    }

    /// Who is there.
    pub fn hosts(&self) -> &[HostInfo] {
        &self.hosts
    }

    /// What is true of each address.
    pub fn truth(&self) -> &Truth {
        &self.service.truth
    }

    /// Which requests were served when.
    pub fn ledger(&self) -> &Ledger {
        &self.service.ledger
    }

    /// Where `host` lives now.
    pub fn address(&self, host: HostId) -> Option<SocketAddr> {
        self.locked(|servers| servers.get(&host)?.last().map(Server::address))
    }

    /// `host` stops where it lives, in this way, and its address stays like that.
    pub fn stop(&self, host: HostId, way: Way) {
        self.locked(|servers| {
            if let Some(server) = servers.get(&host).and_then(|of_host| of_host.last()) {
                self.service.truth.set(server.address(), Condition::Stopped(way));
                server.stop(way);
            }
        });
    }

    /// `host` serves at a new port, which is the answer.
    ///
    /// # Errors
    ///
    /// When the socket can't be opened.
    pub async fn come_up(&self, host: HostId) -> io::Result<SocketAddr> {
        let info = self.hosts.get(host.index()).ok_or(io::ErrorKind::NotFound)?;
        let server = Server::open(info, Arc::clone(&self.service)).await?;
        let address = server.address();
        self.locked(|servers| servers.entry(host).or_default().push(server));
        Ok(address)
    }

    fn locked<T>(&self, work: impl FnOnce(&mut BTreeMap<HostId, Vec<Server>>) -> T) -> T {
        work(&mut self.servers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
