//! What the types promise to callers that spawn.

use std::{
    error::Error,
    future::Future,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use breaker_core::Event;
use replica_pool::{
    Address, Attempt, CallError, Candidate, Diagnostics, Gateway, GatewayError, Lease, PartitionedPool,
    Replica, ReplicaPool, ReplicaSet, Verdict,
};

use crate::kit::{Addr, Bench, Trouble, judge};

fn shared<T: Send + Sync + 'static>() {}

#[test]
fn everything_can_be_shared() {
    shared::<ReplicaPool<Addr, String>>();
    shared::<PartitionedPool<u64, Addr, Addr, String>>();
    shared::<Replica<Addr, String>>();
    shared::<ReplicaSet<Addr, String>>();
    shared::<Candidate<Addr, String>>();
    shared::<Lease<Addr, String>>();
    shared::<Attempt<Addr, String>>();
    shared::<CallError<Trouble>>();
    shared::<Diagnostics>();
}

/// A library over any pool: what it returns can be spawned, whatever the types are.
#[expect(clippy::manual_async_fn, reason = "what the future promises is what is tested")]
fn first<A, H, T, E>(
    pool: ReplicaPool<A, H>,
    mut answer: impl FnMut(Attempt<A, H>) -> Result<T, E> + Send + 'static,
) -> impl Future<Output = Result<T, CallError<E>>> + Send + 'static
where
    A: Address,
    H: Send + Sync + 'static,
    T: Send + 'static,
    E: Error + Send + 'static,
{
    async move {
        let judge = |result: &Result<T, E>| if result.is_ok() { Verdict::SUCCESS } else { Verdict::FAILURE };
        let mut seen = Diagnostics::default();
        let request = pool.request().idempotent(true).judge(judge).diagnostics(&mut seen);
        request.call(|attempt| std::future::ready(answer(attempt))).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_can_be_spawned_by_generic_and_by_plain_callers() {
    let bench = Bench::new(&["A"], "{}").await;
    let generic = first(bench.pool.clone(), |attempt| Ok::<_, Trouble>(*attempt.address()));
    assert_eq!(tokio::spawn(generic).await.unwrap().unwrap(), "A");
    let plain = async move { bench.pool.request().judge(judge).call(bench.body()).await };
    assert_eq!(tokio::spawn(plain).await.unwrap().unwrap(), "A");
}

#[tokio::test(start_paused = true)]
async fn a_body_may_borrow_and_change_what_is_around_the_call() {
    let bench = Bench::new(&["A"], "{}").await;
    let mut asked = Vec::new();
    let call = bench.pool.call(|attempt| {
        asked.push(*attempt.address());
        std::future::ready(Ok::<_, std::io::Error>(()))
    });
    call.await.unwrap();
    assert_eq!(asked, ["A"]);
}

#[tokio::test(start_paused = true)]
async fn a_set_shows_its_version_and_its_replicas() {
    let bench = Bench::new(&["A"], "{}").await;
    let shown = format!("{:?}", bench.pool.replicas());
    let begins =
        r#"ReplicaSet { version: 1, replicas: [Replica { address: "A", health: Unknown, breaker: Breaker {"#;
    assert!(shown.starts_with(begins), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn an_event_bears_the_address_of_its_replica() {
    let told: Arc<Mutex<Vec<Option<Arc<str>>>>> = Arc::default();
    let log = Arc::clone(&told);
    let note = move |event: &Event| log.lock().unwrap().push(event.name.clone());
    let bench = Bench::with(&["R1", "R2"], "{}", |builder| builder.observer(Arc::new(note))).await;
    bench.replica("R2").breaker().force_open();
    assert_eq!(*told.lock().unwrap(), [Some("R2".into())]);
    assert_eq!(bench.replica("R1").breaker().name(), Some("R1".into()));
}

/// An address of a type of one's own, whose hashes are all the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Clash(u8);

impl std::hash::Hash for Clash {
    fn hash<S: std::hash::Hasher>(&self, _: &mut S) {}
}

impl std::fmt::Display for Clash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Fifty of them.
struct Fifty;

#[async_trait]
impl Gateway<Clash> for Fifty {
    async fn addresses(&self, (): &()) -> Result<Vec<Clash>, GatewayError> {
        Ok((0..50).map(Clash).collect())
    }
}

#[tokio::test(start_paused = true)]
async fn replicas_are_told_apart_by_their_addresses_and_not_by_their_hashes() {
    let settings = r#"{ "replicaPool": { "order": "listed", "targetReplicas": 100 } }"#;
    let config = replica_pool::config::Config::from_text("test.json", settings).unwrap();
    let pool = ReplicaPool::<Clash>::builder(Fifty).config(config).build().unwrap();
    pool.ready().await.unwrap();
    let before = pool.replicas();
    // An answer that is too short for ten minutes makes a new set.
    tokio::time::advance(std::time::Duration::from_secs(600)).await;
    pool.refresh().await.unwrap();
    let after = pool.replicas();
    assert!(!Arc::ptr_eq(&before, &after));
    assert_eq!((before.replicas().len(), after.replicas().len()), (50, 50));
    for (index, (before, after)) in before.replicas().iter().zip(after.replicas()).enumerate() {
        assert_eq!(usize::from(after.address().0), index);
        assert!(Arc::ptr_eq(before, after), "{index}");
    }
}

#[tokio::test]
async fn a_tcp_probe_finds_whoever_accepts_connections() {
    use breaker_canary::Probe;
    use tokio::net::{TcpListener, TcpSocket};
    let probe = replica_pool::TcpProbe::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    assert!(probe.probe(&listener.local_addr().unwrap()).await);
    // It has the port, and does not listen.
    let deaf = TcpSocket::new_v4().unwrap();
    deaf.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    assert!(!probe.probe(&deaf.local_addr().unwrap()).await);
}
