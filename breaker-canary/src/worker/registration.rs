use std::{
    fmt,
    future::Future,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use breaker_core::{Attendant, Breaker};

use super::line::{Line, News};

/// A circuit that a worker attends to, until this is dropped.
pub struct Registration<T> {
    entry: Arc<Entry<T>>,
}

/// What a registration and the worker share. The worker holds it weakly, but for moments.
pub(super) struct Entry<T> {
    pub(super) target: T,
    pub(super) breaker: Arc<Breaker>,
    pub(super) number: u64,
    line: Arc<Line<T>>,
    rounds: AtomicU64,
    /// The worker has been told to look, and has not looked yet.
    told: AtomicBool,
    first_round_done: AtomicBool,
    /// Whether the circuit was open when the worker looked last. Its own, so that it need not remember closed circuits.
    seen_open: AtomicBool,
}

impl<T: Send + Sync + 'static> Registration<T> {
    pub(super) fn new(target: T, breaker: Arc<Breaker>, line: Arc<Line<T>>) -> Self {
        let entry = Arc::new(Entry {
            target,
            breaker,
            number: line.next_number(),
            line,
            rounds: AtomicU64::new(0),
            told: AtomicBool::new(false),
            first_round_done: AtomicBool::new(false),
            // A circuit that is open when it is looked at first has been so from the start.
            seen_open: AtomicBool::new(true),
        });
        let attendant: Weak<Entry<T>> = Arc::downgrade(&entry);
        entry.breaker.attend(attendant);
        entry.ask_for_a_look();
        Self { entry }
    }
}

impl<T> Registration<T> {
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
        self.entry.is_first_round_done()
    }

    /// Completes when the [first round is done](Self::first_round_done). Does not keep the registration.
    ///
    /// Cancel safe.
    pub fn first_round(&self) -> impl Future<Output = ()> + Send + use<T>
    where
        T: Send + Sync,
    {
        let entry = Arc::downgrade(&self.entry);
        let line = Arc::clone(&self.entry.line);
        async move {
            loop {
                // Listening comes before looking, so that nothing is missed.
                let news = line.first_rounds().notified();
                if entry.upgrade().is_none_or(|entry| entry.is_first_round_done()) {
                    return;
                }
                news.await;
            }
        }
    }
}

impl<T> Drop for Registration<T> {
    fn drop(&mut self) {
        self.entry.line.tell(News::Gone(self.entry.number));
        // Whoever waits for it waits for nothing.
        self.entry.end_first_round();
    }
}

impl<T> Entry<T> {
    fn ask_for_a_look(self: &Arc<Self>) {
        if !self.told.swap(true, Ordering::AcqRel) {
            self.line.tell(News::LookAt(Arc::clone(self)));
        }
    }

    /// The worker is about to look: what changes from now on is news again.
    pub(super) fn begin_look(&self) {
        self.told.store(false, Ordering::Release);
    }

    /// Notes whether the circuit is open now, and says whether it was when this was noted last.
    pub(super) fn was_open(&self, is_open: bool) -> bool {
        self.seen_open.swap(is_open, Ordering::Relaxed)
    }

    pub(super) fn end_round(&self) {
        self.rounds.fetch_add(1, Ordering::AcqRel);
        self.end_first_round();
    }

    pub(super) fn end_first_round(&self) {
        if !self.first_round_done.swap(true, Ordering::AcqRel) {
            self.line.first_rounds().notify_waiters();
        }
    }

    fn is_first_round_done(&self) -> bool {
        self.first_round_done.load(Ordering::Acquire) || self.line.has_ended()
    }
}

impl<T: Send + Sync> Attendant for Entry<T> {
    fn circuit_changed(self: Arc<Self>) {
        self.ask_for_a_look();
    }
}

impl<T: fmt::Debug> fmt::Debug for Registration<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("target", self.target())
            .field("breaker", self.breaker())
            .field("rounds", &self.rounds())
            .field("first_round_done", &self.entry.first_round_done.load(Ordering::Acquire))
            .finish()
    }
}
