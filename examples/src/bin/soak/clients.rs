//! Who asks: four pools, and what their callers see.

mod patient;

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, atomic::AtomicU64},
};

use anyhow::Context as _;
use breaker_core::Circuit;
use examples::{
    remote::Remote,
    transport::Transport,
    wire::{Ask, Purpose, Reply, Request},
};
use replica_pool::{PartitionedPool, Replica, ReplicaPool, config::Config};

use crate::world::World;
use patient::Patient;

/// Nothing comes back by the lease of a half-open place, so that a place that was lost is missed.
const STRATEGIES: [(&str, &str); 2] = [
    (
        "static",
        r#"{ "strategy": "STATIC_THRESHOLD", "failureThreshold": 3, "successThreshold": 2, "testDelay": "1s",
             "halfOpenPermitLease": "30 days" }"#,
    ),
    (
        "canary",
        r#"{ "strategy": "CANARY_RATE_THRESHOLD", "minimumNumberOfCalls": 5, "slidingWindowSize": 20,
             "permittedNumberOfCallsInHalfOpenState": 3, "canaryInterval": "500ms", "canaryTimeout": "300ms",
             "halfOpenPermitLease": "30 days" }"#,
    ),
];

/// A rival comes later than anyone who is well answers: a trial that is overtaken counts against its replica.
const POOL: &str = r#"{ "attemptTimeout": "1s", "deadline": "15s", "unhealthyTimeout": "3s", "startupWait": "4s",
    "suspectAfter": "300ms", "hedgeAfter": "300ms", "validation": { "enabled": true } }"#;

/// One pool.
#[derive(Debug)]
pub struct Client {
    /// For readers.
    pub name: String,
    pool: Pool,
}

#[derive(Debug)]
enum Pool {
    Whole(ReplicaPool<SocketAddr>),
    Divided(PartitionedPool<u64, u32, SocketAddr>),
}

/// What a caller saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Served,
    /// Nobody whom the pool knew was well for long enough.
    Unserved,
    /// Somebody was. Says what the caller was told.
    Broken(String),
}

impl Client {
    /// All of them, each with addresses.
    pub async fn all(gateway: SocketAddr, transport: &Arc<Transport>) -> anyhow::Result<Vec<Self>> {
        let remote = Remote::new(gateway, Arc::clone(transport), Arc::new(AtomicU64::new(0)));
        let mut clients = Vec::new();
        for (strategy, block) in STRATEGIES {
            let text = format!(r#"{{ "circuitBreaker": {block}, "replicaPool": {POOL} }}"#);
            let config = Config::from_text(format!("settings of {strategy}"), text)?;
            let whole = ReplicaPool::builder(Patient(remote.clone()))
                .config(config.clone())
                .connector(remote.clone())
                .probe(remote.clone())
                .build()?;
            clients.push(Self { name: format!("{strategy}, one pool"), pool: Pool::Whole(whole) });
            let divided = PartitionedPool::builder(Patient(remote.clone()))
                .config(config)
                .connector(remote.clone())
                .probe(remote.clone())
                .build()?;
            divided.ready().await.context("the first map")?;
            clients.push(Self { name: format!("{strategy}, divided"), pool: Pool::Divided(divided) });
        }
        for client in &clients {
            for pool in client.pools() {
                pool.ready().await.context("the first addresses")?;
            }
        }
        Ok(clients)
    }

    /// One request, and what came of it.
    pub async fn request(&self, world: &World, transport: &Transport, request: Request) -> Ended {
        let Some(pool) = self.pool(request.key) else { return Ended::Broken("there is no map".to_owned()) };
        let known: Vec<_> = pool.replicas().replicas().iter().map(|replica| *replica.address()).collect();
        let began = world.now();
        let ask = Ask { request, purpose: Purpose::Ordinary };
        let result = match &self.pool {
            Pool::Whole(pool) => {
                let call = pool.request().idempotent(true);
                call.call(|attempt| exchange(transport, *attempt.address(), ask)).await
            }
            Pool::Divided(pool) => {
                let call = pool.request(&request.key).idempotent(true);
                call.call(|attempt| exchange(transport, *attempt.address(), ask)).await
            }
        };
        match result {
            Ok(_) => Ended::Served,
            Err(error) => match world.who_could_serve(&known, began) {
                None => Ended::Unserved,
                Some(replica) => Ended::Broken(format!("{}: {replica} could have, but: {error}", self.name)),
            },
        }
    }

    /// Asks for all addresses again. Says whether they came.
    pub async fn refresh(&self) -> bool {
        let mut came = true;
        for pool in self.pools() {
            came &= pool.refresh().await.is_ok();
        }
        came
    }

    /// How many circuits are not closed.
    pub fn not_closed(&self) -> usize {
        let is_closed = |replica: &Replica<SocketAddr>| replica.breaker().status().circuit == Circuit::Closed;
        let not_closed = |pool: &ReplicaPool<SocketAddr>| {
            pool.replicas().replicas().iter().filter(|replica| !is_closed(replica)).count()
        };
        self.pools().iter().map(not_closed).sum()
    }

    fn pool(&self, key: u64) -> Option<ReplicaPool<SocketAddr>> {
        match &self.pool {
            Pool::Whole(pool) => Some(pool.clone()),
            Pool::Divided(pool) => pool.pool(&key),
        }
    }

    /// The pools of all keys.
    fn pools(&self) -> Vec<ReplicaPool<SocketAddr>> {
        let keys: &[u64] = match self.pool {
            Pool::Whole(_) => &[0],
            Pool::Divided(_) => &[0, u64::MAX],
        };
        keys.iter().filter_map(|key| self.pool(*key)).collect()
    }
}

/// Otherwise a replica that is back would fail once for each connection that ended when it stopped.
async fn exchange(transport: &Transport, address: SocketAddr, ask: Ask) -> io::Result<Reply> {
    let reply = transport.exchange(address, ask).await;
    if reply.is_err() {
        transport.close_idle_to(address);
    }
    reply
}
