//! A circuit that has no owner of its own: the worker keeps what belongs to it.

use std::{
    fmt,
    future::Future,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use breaker_core::{Attendant, Breaker};

use super::{
    Probe,
    attended::{Attended, Notes},
    line::Line,
};

/// A circuit that a worker attends to, until this is dropped.
pub struct Registration<T: Send + Sync + 'static> {
    entry: Arc<Entry<T>>,
}

/// The owner of a registered circuit. The worker holds it weakly, but for moments.
pub(super) struct Entry<T: Send + Sync + 'static> {
    target: T,
    breaker: Arc<Breaker>,
    line: Line<Self>,
    notes: Notes,
    rounds: AtomicU64,
}

impl<T: Send + Sync + 'static> Registration<T> {
    pub(super) fn new(target: T, breaker: Arc<Breaker>, line: Line<Entry<T>>) -> Self {
        let entry = Arc::new(Entry { target, breaker, line, notes: Notes::new(), rounds: AtomicU64::new(0) });
        let attendant: Weak<Entry<T>> = Arc::downgrade(&entry);
        // Attending comes before looking, so that nothing is missed.
        entry.breaker.attend(attendant);
        entry.line.attend(&entry);
        Self { entry }
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
        self.entry.line.first_round_done(&self.entry)
    }

    /// Completes when the [first round is done](Self::first_round_done). Does not keep the registration.
    ///
    /// Cancel safe.
    pub fn first_round(&self) -> impl Future<Output = ()> + Send + use<T> {
        self.entry.line.first_round(&self.entry)
    }
}

impl<T: Send + Sync + 'static> Drop for Registration<T> {
    fn drop(&mut self) {
        self.entry.line.dismiss(&self.entry);
    }
}

impl<T: Send + Sync + 'static> Attended for Entry<T> {
    fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    fn notes(&self) -> &Notes {
        &self.notes
    }

    fn round_ended(&self) {
        self.rounds.fetch_add(1, Ordering::AcqRel);
    }
}

impl<T: Send + Sync + 'static> Attendant for Entry<T> {
    fn circuit_changed(self: Arc<Self>) {
        let line = self.line.clone();
        line.changed(self);
    }
}

impl<T: fmt::Debug + Send + Sync + 'static> fmt::Debug for Registration<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("target", self.target())
            .field("breaker", self.breaker())
            .field("rounds", &self.rounds())
            .field("first_round_done", &self.entry.notes.is_first_round_done())
            .finish()
    }
}

/// Probes the target of a registration.
pub(super) struct ByTarget<T>(pub(super) Arc<dyn Probe<T>>);

#[async_trait]
impl<T: Send + Sync + 'static> Probe<Entry<T>> for ByTarget<T> {
    async fn probe(&self, entry: &Entry<T>) -> bool {
        self.0.probe(&entry.target).await
    }
}
