//! One replica of three has a fault, of each kind in turn.

use std::{net::SocketAddr, time::Duration};

use futures::future::join_all;

use crate::{
    client::{Client, Counts},
    net::{self, Namespace},
    proxy::Proxy,
    replica::Replica,
};

/// Longer than any attempt may take.
const LONG: Duration = Duration::from_secs(2);

/// Requests while the fault lasts.
const REQUESTS: u64 = 200;

struct Stage {
    /// The first one has the fault.
    replicas: Vec<Replica>,
    /// The way to the last one.
    proxy: Proxy,
    clients: [Client; 2],
    addresses: [SocketAddr; 3],
}

impl Stage {
    /// Three replicas, each of which serves; `None` where that can't be had, which is said.
    async fn set() -> Option<Self> {
        if let Some(why) = net::missing() {
            eprintln!("skipped, faults in network namespaces: {why}");
            return None;
        }
        let replicas: Vec<_> =
            (0..3).map(|index| Replica::start(Namespace::create(index).unwrap())).collect();
        let proxy = Proxy::start(replicas[2].address()).await;
        let addresses = [replicas[0].address(), replicas[1].address(), proxy.address];
        let clients = Client::each(&addresses).await;
        let stage = Self { replicas, proxy, clients, addresses };
        stage.await_all().await;
        Some(stage)
    }

    /// Until each client has been served by each replica.
    async fn await_all(&self) {
        join_all(self.clients.iter().map(|client| client.ask_until_served_by(&self.addresses))).await;
    }

    /// Requests of each client, while a fault lasts.
    async fn ask(&self) -> Vec<Counts> {
        join_all(self.clients.iter().map(|client| client.ask(REQUESTS))).await
    }

    /// The fault begins and ends. All requests are served; meanwhile `victim` is left alone for the most part; after it
    /// everybody serves.
    async fn endure(&self, fault: &str, victim: SocketAddr, begin: impl FnOnce(), end: impl FnOnce()) {
        begin();
        for counts in self.ask().await {
            eprintln!("{fault}, {victim}: {counts:?}");
            let asked = |address| counts.get(address).copied().unwrap_or_default();
            let others: usize = self.addresses.iter().filter(|address| **address != victim).map(asked).sum();
            // All three would be asked alike. It is tried again now and then, which the circuits must do.
            assert!(asked(&victim) * 8 < others, "{fault}: {counts:?}, the victim is {victim}");
        }
        end();
        self.await_all().await;
    }
}

#[tokio::test]
async fn a_pool_serves_every_request_leaves_the_faulty_replica_alone_and_takes_it_back() {
    let Some(stage) = Stage::set().await else { return };
    let replica = &stage.replicas[0];
    let (namespace, victim) = (&replica.namespace, stage.addresses[0]);
    let pass = || namespace.pass().unwrap();

    stage.endure("dropped", victim, || namespace.treat(&["-j", "DROP"]).unwrap(), pass).await;
    let reset = || namespace.treat(&["-j", "REJECT", "--reject-with", "tcp-reset"]).unwrap();
    stage.endure("reset", victim, reset, pass).await;
    let (down, up) = (|| namespace.link("down").unwrap(), || namespace.link("up").unwrap());
    stage.endure("link down", victim, down, up).await;
    stage.endure("stopped", victim, || replica.signal("STOP"), || replica.signal("CONT")).await;
    let (slow, fast) = (|| stage.proxy.hold_back(LONG), || stage.proxy.hold_back(Duration::ZERO));
    stage.endure("delayed", stage.addresses[2], slow, fast).await;

    // How much is lost is up to chance, and so is who is asked.
    namespace.treat(&["-m", "statistic", "--mode", "random", "--probability", "0.4", "-j", "DROP"]).unwrap();
    stage.ask().await;
    pass();
    stage.await_all().await;
}
