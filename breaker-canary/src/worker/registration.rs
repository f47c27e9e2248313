use std::{
    convert::Infallible,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use breaker_core::Breaker;
use tokio::sync::{Notify, oneshot};

use super::{crew::Crew, watch::Watch};

/// A circuit that a worker attends to, until this is dropped.
pub struct Registration<T> {
    entry: Arc<Entry<T>>,
    /// Tells the worker when it is dropped.
    _alive: oneshot::Sender<Infallible>,
}

/// What a registration and the worker share. The worker holds it weakly.
pub(super) struct Entry<T> {
    pub(super) target: T,
    pub(super) breaker: Arc<Breaker>,
    rounds: AtomicU64,
    first_round_done: AtomicBool,
    done: Notify,
}

impl<T> Registration<T> {
    pub(super) fn new(target: T, breaker: Arc<Breaker>, crew: Arc<Crew<T>>) -> (Self, Watch<T>) {
        let entry = Arc::new(Entry {
            target,
            breaker,
            rounds: AtomicU64::new(0),
            first_round_done: AtomicBool::new(false),
            done: Notify::new(),
        });
        let (alive, gone) = oneshot::channel();
        let watch = Watch::new(Arc::downgrade(&entry), gone, crew);
        (Self { entry, _alive: alive }, watch)
    }

    /// What the probe is given.
    pub fn target(&self) -> &T {
        &self.entry.target
    }

    /// The circuit's breaker.
    pub fn breaker(&self) -> &Arc<Breaker> {
        &self.entry.breaker
    }

    /// How many rounds of probes have ended with a verdict.
    pub fn rounds(&self) -> u64 {
        self.entry.rounds.load(Ordering::Acquire)
    }

    /// Whether there is nothing to wait for any more: the first round has ended, or was not needed since the
    /// circuit was found not to be open, or will never come since the worker has ended.
    pub fn first_round_done(&self) -> bool {
        self.entry.first_round_done.load(Ordering::Acquire)
    }

    /// Completes when the [first round is done](Self::first_round_done).
    ///
    /// Cancel safe.
    pub async fn first_round(&self) {
        loop {
            let done = self.entry.done.notified();
            if self.first_round_done() {
                return;
            }
            done.await;
        }
    }
}

impl<T> Entry<T> {
    pub(super) fn end_round(&self) {
        self.rounds.fetch_add(1, Ordering::AcqRel);
        self.end_first_round();
    }

    pub(super) fn end_first_round(&self) {
        if !self.first_round_done.swap(true, Ordering::AcqRel) {
            self.done.notify_waiters();
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Registration<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("target", self.target())
            .field("breaker", self.breaker())
            .field("rounds", &self.rounds())
            .field("first_round_done", &self.first_round_done())
            .finish()
    }
}
