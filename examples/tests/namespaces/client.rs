//! A pool that asks the replicas, and counts whom.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, atomic::AtomicU64},
    time::Duration,
};

use examples::{
    gateway::{Book, Gateway, MAP, Reply},
    keys,
    remote::Remote,
    transport::{Transport, Watcher},
    wire::{Ask, Purpose, Request},
};
use futures::{StreamExt as _, stream};
use replica_pool::{PartitionedPool, config::Config};

/// What has not happened by then will not happen.
const PATIENCE: Duration = Duration::from_secs(120);

/// Requests at a time.
const BESIDE: usize = 4;

const STRATEGIES: [&str; 2] = [
    r#""strategy": "STATIC_THRESHOLD", "failureThreshold": 2, "successThreshold": 2, "testDelay": "1s""#,
    r#""strategy": "CANARY_RATE_THRESHOLD", "minimumNumberOfCalls": 4, "slidingWindowSize": 10,
       "permittedNumberOfCallsInHalfOpenState": 2, "canaryInterval": "300ms""#,
];

/// An attempt has half a second, and a request many attempts.
const POOL: &str = r#"{ "attemptTimeout": "500ms", "deadline": "30s", "unhealthyTimeout": "1s",
    "validation": { "enabled": true } }"#;

/// A pool with its connections.
#[derive(Debug)]
pub(crate) struct Client {
    strategy: &'static str,
    pool: PartitionedPool<u64, u32, SocketAddr>,
    transport: Arc<Transport>,
    attempts: Arc<Attempts>,
    _gateway: Gateway,
}

/// How many times each was asked by a request.
pub(crate) type Counts = BTreeMap<SocketAddr, usize>;

#[derive(Debug, Default)]
struct Attempts(Mutex<Counts>);

impl Watcher for Attempts {
    fn starts(&self, address: SocketAddr, purpose: Purpose) {
        if purpose == Purpose::Ordinary {
            *self.0.lock().unwrap().entry(address).or_default() += 1;
        }
    }
}

/// Names the same replicas always.
struct Replicas(Vec<SocketAddr>);

impl Book for Replicas {
    fn reply_to(&self, question: &str) -> Reply {
        if question == MAP {
            Reply::Line(keys::to_line(&keys::even(1)) + "\n")
        } else {
            Reply::addresses(&self.0)
        }
    }
}

impl Client {
    /// One for each strategy.
    pub(crate) async fn each(replicas: &[SocketAddr]) -> [Self; 2] {
        let [one, other] = STRATEGIES;
        [Self::start(one, replicas).await, Self::start(other, replicas).await]
    }

    async fn start(strategy: &'static str, replicas: &[SocketAddr]) -> Self {
        let gateway = Gateway::start(Arc::new(Replicas(replicas.to_vec())), Duration::ZERO).await.unwrap();
        let attempts = Arc::new(Attempts::default());
        let transport = Arc::new(Transport::watched(attempts.clone()));
        let remote = Remote::new(gateway.address(), Arc::clone(&transport), Arc::new(AtomicU64::new(0)));
        let text = format!(r#"{{ "circuitBreaker": {{ {strategy} }}, "replicaPool": {POOL} }}"#);
        let pool = PartitionedPool::builder(remote.clone())
            .config(Config::from_text("settings", text).unwrap())
            .connector(remote.clone())
            .probe(remote)
            .build()
            .unwrap();
        Self { strategy, pool, transport, attempts, _gateway: gateway }
    }

    /// Makes so many requests, all of which must be served. Says whom they asked.
    pub(crate) async fn ask(&self, requests: u64) -> Counts {
        self.attempts.0.lock().unwrap().clear();
        let requests = stream::iter(0..requests).map(|id| self.request(id)).buffer_unordered(BESIDE);
        let _: Vec<_> = requests.collect().await;
        std::mem::take(&mut self.attempts.0.lock().unwrap())
    }

    /// Makes requests, all of which must be served, until each of these has served one.
    pub(crate) async fn ask_until_served_by(&self, replicas: &[SocketAddr]) {
        let mut missing = replicas.to_vec();
        let served = async {
            for id in 0.. {
                let by = self.request(id).await;
                missing.retain(|replica| *replica != by);
                if missing.is_empty() {
                    return;
                }
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, served).await.is_ok();
        assert!(in_time, "{}: {missing:?} never serve again", self.strategy);
    }

    /// Says who served it.
    async fn request(&self, id: u64) -> SocketAddr {
        let call = self.pool.request(&0).idempotent(true);
        let ask = Ask { request: Request { id, key: 0 }, purpose: Purpose::Ordinary };
        let served = call.call(|attempt| async move {
            self.transport.exchange(*attempt.address(), ask).await.map(|_| *attempt.address())
        });
        served.await.unwrap_or_else(|error| panic!("{}: {error}", self.strategy))
    }
}
