//! Asking the gateway for addresses: one question at a time, in the background.

use std::{
    collections::HashSet,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use breaker_core::{GrowingDelay, Timestamp};
use futures::FutureExt;
use tokio::{sync::watch, time};

use crate::{
    Address, GatewayError, Replica, ReplicaSet, config::Order, diagnostics::RefreshReason, health::Mark,
    partition::Partition,
};

const GATEWAY_TIMEOUT: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// What became of a request for fresh addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// The set is newer than what the caller saw, or can't change: there is nothing to wait for.
    Served,
    /// The question of this number answers it.
    Run { number: u64, started: bool },
}

/// How a question ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ended {
    /// The number of the last question that has ended; 0 before the first.
    pub(crate) number: u64,
    /// Why it brought no addresses.
    pub(crate) error: Option<GatewayError>,
}

/// When a partition may ask its gateway, and how that went.
#[derive(Debug)]
pub(crate) struct Refresher {
    state: Mutex<State>,
    ended: watch::Sender<Ended>,
}

#[derive(Debug)]
struct State {
    /// Questions begun so far; the present one's number while running.
    begun: u64,
    running: bool,
    /// Something failed after the present question was asked: ask once more.
    again: bool,
    forced: bool,
    pause: GrowingDelay,
    /// No question before this.
    not_before: Timestamp,
}

impl Refresher {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                begun: 0,
                running: false,
                again: false,
                forced: false,
                pause: GrowingDelay::new(FIRST_PAUSE, LONGEST_PAUSE),
                not_before: Timestamp::ZERO,
            }),
            ended: watch::Sender::new(Ended::default()),
        }
    }

    /// Waits until question `number` has ended. Cancel safe.
    pub(crate) async fn wait(&self, number: u64) -> Ended {
        let mut ended = self.ended.subscribe();
        let reached = ended.wait_for(|ended| ended.number >= number).await;
        reached.map(|ended| ended.clone()).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was known of a replica when the question was asked.
struct Seen<A, H> {
    replica: Arc<Replica<A, H>>,
    mark: Mark,
    epoch: u64,
}

impl<A: Address, H: Send + Sync + 'static> Partition<A, H> {
    /// Starts a question, or joins the one under way; `news` if something failed that it can't know of.
    pub(crate) fn start_refresh(self: &Arc<Self>, reason: RefreshReason, news: bool) -> Request {
        let mut state = self.refresher.lock();
        state.forced |= reason.is_forced();
        if state.running {
            state.again |= news;
            return Request::Run { number: state.begun, started: false };
        }
        let this = Arc::clone(self);
        if !self.shared.tasks.spawn(async move { this.run().await }) {
            return Request::Served;
        }
        state.running = true;
        state.begun += 1;
        if self.now() >= state.not_before + state.pause.current() {
            // It has been quiet for long enough: what went before is no reason to wait.
            state.pause.reset();
        }
        Request::Run { number: state.begun, started: true }
    }

    async fn run(self: Arc<Self>) {
        loop {
            let not_before = self.refresher.lock().not_before;
            time::sleep(not_before.since(self.now())).await;
            // What is asked for from here on, and failed before, this question answers.
            self.refresher.lock().again = false;
            let answer = self.ask().await;
            let mut state = self.refresher.lock();
            let forced = std::mem::take(&mut state.forced);
            let changed = match &answer {
                Ok(changed) => *changed,
                Err(error) => {
                    tracing::warn!(%error, "addresses could not be refreshed");
                    false
                }
            };
            if changed || (answer.is_ok() && !forced) {
                state.pause.reset();
            } else {
                state.not_before = self.now() + jitter(state.pause.trip());
            }
            let ended = Ended { number: state.begun, error: answer.err() };
            let again = std::mem::take(&mut state.again);
            if again {
                state.forced = true;
                state.begun += 1;
            }
            state.running = again;
            drop(state);
            self.refresher.ended.send_replace(ended);
            if !again {
                return;
            }
        }
    }

    /// Asks, and puts the answer in place. Says whether replicas came or went.
    async fn ask(self: &Arc<Self>) -> Result<bool, GatewayError> {
        let seen: Vec<_> = self.set().replicas().iter().map(Seen::of).collect();
        let question = AssertUnwindSafe(self.source.addresses()).catch_unwind();
        let addresses = match time::timeout(GATEWAY_TIMEOUT, question).await {
            Ok(Ok(answer)) => answer?,
            Ok(Err(_)) => return Err(GatewayError::Panicked),
            Err(_) => return Err(GatewayError::TimedOut),
        };
        if addresses.is_empty() {
            return Err(GatewayError::Empty);
        }
        let named: HashSet<_> = addresses.iter().collect();
        let config = &self.shared.config;
        for Seen { replica, mark, epoch } in &seen {
            if named.contains(replica.address()) {
                replica.confirmed(*mark, config.validation());
                if config.reset_circuits_on_refresh() {
                    replica.reset_circuit(*epoch, config.unhealthy_timeout());
                }
            }
        }
        let changed = self.replace(&addresses);
        if config.validation() {
            self.validate_pending(self.set().replicas());
        }
        Ok(changed)
    }

    /// Makes `addresses` the set. Says whether replicas came or went.
    pub(crate) fn replace(&self, addresses: &[A]) -> bool {
        let (shared, now) = (&self.shared, self.now());
        let old = self.set.load_full();
        let mut named = HashSet::new();
        let addresses: Vec<_> = addresses.iter().filter(|address| named.insert(*address)).collect();
        let same_order = addresses.iter().copied().eq(old.replicas().iter().map(|replica| replica.address()));
        let changed = addresses.len() != old.replicas().len()
            || !old.replicas().iter().all(|replica| named.contains(replica.address()));
        if !changed && (same_order || shared.config.order() == Order::Shuffled) {
            return false;
        }
        shared.directory.prune(now);
        // Those who stay enter before they leave, so that nothing of theirs ends in between.
        let replicas: Vec<_> = addresses.into_iter().map(|address| shared.enter(address)).collect();
        for replica in old.replicas() {
            shared.directory.leave(replica.address(), now);
        }
        let short = shared.config.target_replicas().is_some_and(|target| replicas.len() < target);
        let short_since = short.then(|| old.short_since.unwrap_or(now));
        self.set.store(Arc::new(ReplicaSet::new(old.version() + u64::from(changed), replicas, short_since)));
        shared.circuits_changed.notify_waiters();
        changed
    }
}

impl<A: Address, H> Seen<A, H> {
    fn of(replica: &Arc<Replica<A, H>>) -> Self {
        Self { mark: replica.mark(), epoch: replica.breaker().epoch(), replica: Arc::clone(replica) }
    }
}

/// `span` and up to a fifth more or less.
fn jitter(span: Duration) -> Duration {
    span.mul_f64(0.8 + 0.4 * fastrand::f64())
}
