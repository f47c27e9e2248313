//! A world of remotes and a gateway that tests hold by the strings. Time is tokio's, paused.

use std::{
    collections::HashMap,
    future::{Future, pending},
    io,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use breaker_canary::{Probe, TokioClock};
use breaker_core::{Circuit, Clock, Tally, Timestamp};
use replica_pool::{
    Attempt, CallError, Connector, Gateway, GatewayError, HealthStatus, Lease, PoolBuilder, ReplicaPool,
    Unpartitioned, Verdict, config::Config, io_verdict,
};
use tokio::{sync::Notify, time::sleep};

pub(crate) type Addr = &'static str;

/// How a remote behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remote {
    Well,
    Slow(Duration),
    Refuses,
    Resets,
    /// Resets the connection some time after it took the request.
    ResetsAfter(Duration),
    Hangs,
    SaysGone,
    /// Answers with an error that has nothing to do with the connection.
    Fails,
    Panics,
}

/// What a remote says when it does not say yes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("gone")]
    Gone,
    #[error("overloaded")]
    Overloaded,
    #[error(transparent)]
    Io(#[from] io::Error),
}

#[derive(Debug, Default)]
pub(crate) struct World {
    remotes: Mutex<HashMap<Addr, Remote>>,
    visits: Mutex<Vec<Addr>>,
    probes: Mutex<Vec<Addr>>,
    opened: Mutex<Vec<Addr>>,
    probing: Crowd,
    opening: Crowd,
}

/// How many are at something at a time.
#[derive(Debug, Default)]
struct Crowd {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Crowd {
    fn enter(&self) -> impl Drop + '_ {
        struct Leaves<'a>(&'a AtomicUsize);
        impl Drop for Leaves<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        Leaves(&self.now)
    }
}

impl World {
    pub(crate) fn set(&self, address: Addr, remote: Remote) {
        self.remotes.lock().unwrap().insert(address, remote);
    }

    fn of(&self, address: Addr) -> Remote {
        self.remotes.lock().unwrap().get(address).copied().unwrap_or(Remote::Well)
    }

    async fn act(&self, address: Addr) -> Result<Addr, Trouble> {
        match self.of(address) {
            Remote::Well => Ok(address),
            Remote::Slow(time) => {
                sleep(time).await;
                Ok(address)
            }
            Remote::Refuses => Err(io::Error::from(io::ErrorKind::ConnectionRefused).into()),
            Remote::Resets => Err(io::Error::from(io::ErrorKind::ConnectionReset).into()),
            Remote::ResetsAfter(time) => {
                sleep(time).await;
                Err(io::Error::from(io::ErrorKind::ConnectionReset).into())
            }
            Remote::Hangs => pending().await,
            Remote::SaysGone => Err(Trouble::Gone),
            Remote::Fails => Err(Trouble::Overloaded),
            Remote::Panics => panic!("{address} panics"),
        }
    }

    /// The body of a call.
    pub(crate) async fn serve(self: Arc<Self>, attempt: Attempt<Addr>) -> Result<Addr, Trouble> {
        self.visits.lock().unwrap().push(attempt.address());
        self.act(attempt.address()).await
    }

    pub(crate) fn visits(&self) -> Vec<Addr> {
        self.visits.lock().unwrap().clone()
    }

    pub(crate) fn visits_to(&self, address: Addr) -> usize {
        self.visits.lock().unwrap().iter().filter(|visited| **visited == address).count()
    }

    pub(crate) fn forget_visits(&self) {
        self.visits.lock().unwrap().clear();
    }

    pub(crate) fn probes_of(&self, address: Addr) -> usize {
        self.probes.lock().unwrap().iter().filter(|probed| **probed == address).count()
    }

    pub(crate) fn most_probing(&self) -> usize {
        self.probing.most.load(Ordering::SeqCst)
    }

    pub(crate) fn most_opening(&self) -> usize {
        self.opening.most.load(Ordering::SeqCst)
    }

    pub(crate) fn opened(&self) -> Vec<Addr> {
        self.opened.lock().unwrap().clone()
    }
}

/// Probes and connects as calls do.
#[derive(Clone, Debug)]
pub(crate) struct Transport(pub(crate) Arc<World>);

#[async_trait]
impl Probe<Addr> for Transport {
    async fn probe(&self, address: &Addr) -> bool {
        self.0.probes.lock().unwrap().push(address);
        let _probing = self.0.probing.enter();
        self.0.act(address).await.is_ok()
    }
}

#[async_trait]
impl Connector<Addr> for Transport {
    async fn connect(&self, address: &Addr) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.0.opened.lock().unwrap().push(address);
        let _opening = self.0.opening.enter();
        self.0.act(address).await?;
        Ok(())
    }
}

/// What a gateway does with a question.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Names(Vec<Addr>),
    Fails,
    NoSuchPartition,
    Hangs,
    Panics,
}

#[derive(Debug, Default)]
struct Desk {
    answer: Mutex<Option<Answer>>,
    delay: Mutex<Duration>,
    asked: Mutex<Vec<Timestamp>>,
    clock: TokioClock,
    held: Mutex<bool>,
    /// How many questions are answered although they are held.
    passes: AtomicUsize,
    released: Notify,
}

/// A gateway that answers as it is told, from the next question on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registry(Arc<Desk>);

impl Registry {
    pub(crate) fn naming(addresses: &[Addr]) -> Self {
        let registry = Self::default();
        registry.answer(Answer::Names(addresses.to_vec()));
        registry
    }

    pub(crate) fn answer(&self, answer: Answer) {
        *self.0.answer.lock().unwrap() = Some(answer);
    }

    pub(crate) fn names(&self, addresses: &[Addr]) {
        self.answer(Answer::Names(addresses.to_vec()));
    }

    pub(crate) fn takes(&self, delay: Duration) {
        *self.0.delay.lock().unwrap() = delay;
    }

    /// Questions are heard, but not answered until [`release`](Self::release).
    pub(crate) fn hold(&self) {
        *self.0.held.lock().unwrap() = true;
    }

    pub(crate) fn release(&self) {
        *self.0.held.lock().unwrap() = false;
        self.0.released.notify_waiters();
    }

    /// One question is answered, although they are held.
    pub(crate) fn release_one(&self) {
        self.0.passes.fetch_add(1, Ordering::SeqCst);
        self.0.released.notify_waiters();
    }

    pub(crate) fn asked(&self) -> usize {
        self.0.asked.lock().unwrap().len()
    }

    /// The times between its last `n` questions, in seconds.
    pub(crate) fn gaps(&self, n: usize) -> Vec<f64> {
        let asked = self.0.asked.lock().unwrap();
        let gaps: Vec<_> = asked.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64()).collect();
        gaps[gaps.len() - n..].to_vec()
    }
}

#[async_trait]
impl Gateway<Addr> for Registry {
    async fn addresses(&self, (): &()) -> Result<Vec<Addr>, GatewayError> {
        self.0.asked.lock().unwrap().push(self.0.clock.now());
        let delay = *self.0.delay.lock().unwrap();
        sleep(delay).await;
        loop {
            let released = self.0.released.notified();
            let pass = |passes: usize| passes.checked_sub(1);
            let passes = self.0.passes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, pass);
            if !*self.0.held.lock().unwrap() || passes.is_ok() {
                break;
            }
            released.await;
        }
        let answer = self.0.answer.lock().unwrap().clone();
        match answer {
            Some(Answer::Names(addresses)) => Ok(addresses),
            Some(Answer::NoSuchPartition) => Err(GatewayError::NoSuchPartition),
            Some(Answer::Hangs) => pending().await,
            Some(Answer::Panics) => panic!("the gateway panics"),
            Some(Answer::Fails) | None => Err(GatewayError::failed("503")),
        }
    }
}

/// A pool over a world, with the settings of a file.
pub(crate) struct Bench {
    pub(crate) world: Arc<World>,
    pub(crate) gateway: Registry,
    pub(crate) pool: ReplicaPool<Addr>,
}

impl Bench {
    /// Settings as a file has them; a probe and a connector that act as calls do.
    pub(crate) async fn new(addresses: &[Addr], settings: &str) -> Self {
        Self::with(addresses, settings, |builder| builder).await
    }

    pub(crate) async fn with(
        addresses: &[Addr],
        settings: &str,
        also: impl FnOnce(
            PoolBuilder<Addr, (), Unpartitioned<Addr>>,
        ) -> PoolBuilder<Addr, (), Unpartitioned<Addr>>,
    ) -> Self {
        let bench = Self::build(Registry::naming(addresses), settings, also);
        bench.pool.ready().await.unwrap();
        bench
    }

    pub(crate) fn build(
        gateway: Registry,
        settings: &str,
        also: impl FnOnce(
            PoolBuilder<Addr, (), Unpartitioned<Addr>>,
        ) -> PoolBuilder<Addr, (), Unpartitioned<Addr>>,
    ) -> Self {
        let world = Arc::new(World::default());
        let config = Config::from_text("test.json", settings).unwrap();
        let transport = Transport(Arc::clone(&world));
        let builder = ReplicaPool::builder(gateway.clone())
            .config(config)
            .probe(transport.clone())
            .connector(transport);
        Self { world, gateway, pool: also(builder).build().unwrap() }
    }

    /// One idempotent call. Says who answered.
    pub(crate) async fn call(&self) -> Result<Addr, CallError<Trouble>> {
        let world = Arc::clone(&self.world);
        let request = self.pool.request().idempotent(true).judge(judge);
        request.call(move |attempt| Arc::clone(&world).serve(attempt)).await
    }

    /// Calls, all of which must succeed. Says who answered each.
    pub(crate) async fn calls(&self, n: usize) -> Vec<Addr> {
        let mut answers = Vec::with_capacity(n);
        for _ in 0..n {
            answers.push(self.call().await.unwrap());
        }
        answers
    }

    /// The addresses in the order in which they would be asked.
    pub(crate) fn order(&self) -> Vec<Addr> {
        self.pool.select(usize::MAX).iter().map(|candidate| *candidate.replica().address()).collect()
    }

    pub(crate) fn replica(&self, address: Addr) -> Arc<replica_pool::Replica<Addr>> {
        let set = self.pool.replicas();
        Arc::clone(set.replicas().iter().find(|replica| *replica.address() == address).unwrap())
    }

    /// The body of a call.
    pub(crate) fn body(&self) -> impl FnMut(Attempt<Addr>) -> Answering + use<> {
        let world = Arc::clone(&self.world);
        move |attempt| Box::pin(Arc::clone(&world).serve(attempt))
    }

    /// Calls until somebody has come to `address`.
    pub(crate) async fn visit(&self, address: Addr) {
        while self.world.visits_to(address) == 0 {
            self.call().await.unwrap();
        }
    }

    /// An attempt at `address` that is under way.
    pub(crate) fn begin(&self, address: Addr) -> Lease<Addr> {
        let candidates = self.pool.select(usize::MAX);
        let candidate = candidates.iter().find(|candidate| *candidate.replica().address() == address);
        candidate.unwrap().begin().unwrap()
    }

    /// Has one attempt at `address` fail, with nothing said about the address.
    pub(crate) fn fail(&self, address: Addr) {
        self.begin(address).finish(&Verdict::FAILURE);
    }

    /// Has one attempt at `address` find nobody there.
    pub(crate) fn mark(&self, address: Addr) {
        self.begin(address).finish(&Verdict::UNREACHABLE);
    }

    pub(crate) fn health(&self, address: Addr) -> HealthStatus {
        self.replica(address).health()
    }

    pub(crate) fn circuit(&self, address: Addr) -> Circuit {
        self.replica(address).breaker().state().circuit()
    }

    pub(crate) fn tally(&self, address: Addr) -> Tally {
        self.replica(address).breaker().snapshot().tally
    }

    pub(crate) fn addresses(&self) -> Vec<Addr> {
        self.pool.replicas().replicas().iter().map(|replica| *replica.address()).collect()
    }
}

pub(crate) type Answering = Pin<Box<dyn Future<Output = Result<Addr, Trouble>> + Send>>;

/// The verdicts on what [`World`] answers.
pub(crate) fn judge(result: &Result<Addr, Trouble>) -> Verdict {
    match result {
        Ok(_) => Verdict::SUCCESS,
        Err(Trouble::Gone) => Verdict::REPLICA_GONE,
        Err(Trouble::Overloaded) => Verdict::FAILURE,
        Err(Trouble::Io(error)) => io_verdict(error.kind()),
    }
}

pub(crate) const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

pub(crate) const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Lets every task run that can, without moving time by more than a nanosecond or so.
pub(crate) async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

/// Measures tokio's time from now.
pub(crate) fn stopwatch() -> impl Fn() -> Duration {
    let clock = TokioClock::new();
    move || clock.now().since(Timestamp::ZERO)
}
