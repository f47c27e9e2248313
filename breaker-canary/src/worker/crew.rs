//! What all circuits of a worker share.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::Semaphore;

use super::Probe;

/// The part of an interval by which rounds come sooner or later.
const JITTER: f64 = 0.2;

pub(super) struct Crew<T> {
    pub(super) probe: Arc<dyn Probe<T>>,
    /// One for each round that may run now.
    pub(super) slots: Semaphore,
    rounds_at_once: usize,
    /// Circuits that are to be tried at once and have not been yet.
    fresh: AtomicUsize,
    rng: Mutex<fastrand::Rng>,
}

impl<T> Crew<T> {
    pub(super) fn new(probe: Arc<dyn Probe<T>>, rounds_at_once: usize, rng: fastrand::Rng) -> Self {
        let slots = Semaphore::new(rounds_at_once.min(Semaphore::MAX_PERMITS));
        Self { probe, slots, rounds_at_once, fresh: AtomicUsize::new(0), rng: Mutex::new(rng) }
    }

    /// The span to the next round.
    pub(super) fn jittered(&self, interval: Duration) -> Duration {
        interval.mul_f64(1.0 - JITTER + 2.0 * JITTER * self.random())
    }

    /// Takes a place among the circuits that are to be tried at once, and says how long to wait: not at all
    /// when it is the only one, at random up to an interval when there are more than may be tried at a time.
    pub(super) fn join_fresh(&self, interval: Duration) -> (Fresh<'_>, Duration) {
        let before = self.fresh.fetch_add(1, Ordering::Relaxed);
        #[expect(clippy::cast_precision_loss, reason = "a share for a random delay")]
        let crowd = (before as f64 / self.rounds_at_once as f64).min(1.0);
        (Fresh(&self.fresh), interval.mul_f64(crowd * self.random()))
    }

    /// From 0 to 1.
    fn random(&self) -> f64 {
        self.rng.lock().unwrap_or_else(PoisonError::into_inner).f64()
    }
}

/// A place among the circuits that are to be tried at once, until dropped.
pub(super) struct Fresh<'a>(&'a AtomicUsize);

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
