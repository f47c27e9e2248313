//! What a worker attends to.

use std::sync::atomic::{AtomicBool, Ordering};

use breaker_core::Breaker;

/// The owner of a circuit, with room for what a worker notes about it: four bytes, where a
/// [`Registration`](super::Registration) takes an object of its own.
pub trait Attended: Send + Sync + 'static {
    /// The circuit. Build it with [`probed`](breaker_core::BreakerBuilder::probed), and make its owner the
    /// [attendant](breaker_core::Attendant) that passes [changes](super::Line::changed) on.
    fn breaker(&self) -> &Breaker;

    /// The worker's notes, made anew with their owner.
    fn notes(&self) -> &Notes;

    /// A round of probes has ended with a verdict, and the circuit has been told. Default: nothing.
    fn round_ended(&self) {}
}

/// What a worker notes about a circuit.
#[derive(Debug)]
pub struct Notes {
    attended: AtomicBool,
    /// The worker has been told to look, and has not looked yet.
    told: AtomicBool,
    first_round_done: AtomicBool,
    /// Whether the circuit was open when the worker looked last. Here, so that it need not remember closed circuits.
    seen_open: AtomicBool,
}

impl Notes {
    /// Those of a circuit that nobody attends to.
    pub const fn new() -> Self {
        Self {
            attended: AtomicBool::new(false),
            told: AtomicBool::new(false),
            first_round_done: AtomicBool::new(true),
            seen_open: AtomicBool::new(true),
        }
    }

    /// A worker attends to the circuit from now on, and is about to be told to look at it.
    pub(super) fn begin(&self) {
        self.first_round_done.store(false, Ordering::Release);
        // A circuit that is open when it is looked at first has been so from the start.
        self.seen_open.store(true, Ordering::Relaxed);
        self.told.store(true, Ordering::Release);
        self.attended.store(true, Ordering::Release);
    }

    /// Nobody attends to it any more.
    pub(super) fn end(&self) {
        self.attended.store(false, Ordering::Release);
    }

    pub(super) fn are_attended(&self) -> bool {
        self.attended.load(Ordering::Acquire)
    }

    /// Whether the worker is to be told of a change: it attends to the circuit, and has not been told already.
    pub(super) fn is_news(&self) -> bool {
        self.are_attended() && !self.told.swap(true, Ordering::AcqRel)
    }

    /// The worker is about to look: what changes from now on is news again.
    pub(super) fn begin_look(&self) {
        self.told.store(false, Ordering::Release);
    }

    /// Notes whether the circuit is open now, and says whether it was when this was noted last.
    pub(super) fn was_open(&self, is_open: bool) -> bool {
        self.seen_open.swap(is_open, Ordering::Relaxed)
    }

    /// Says whether it was not done before.
    pub(super) fn end_first_round(&self) -> bool {
        !self.first_round_done.swap(true, Ordering::AcqRel)
    }

    pub(super) fn is_first_round_done(&self) -> bool {
        self.first_round_done.load(Ordering::Acquire)
    }
}

impl Default for Notes {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_news_once_until_the_worker_looks_and_only_while_somebody_attends() {
        let notes = Notes::new();
        assert!(!notes.is_news(), "nobody attends");
        notes.begin();
        assert!(!notes.is_news(), "the worker is told to look anyway");
        notes.begin_look();
        assert!(notes.is_news());
        assert!(!notes.is_news(), "it is told already");
        notes.end();
        notes.begin_look();
        assert!(!notes.is_news());
    }
}
