//! An atomic word for loom, every interleaving of which is explored.
//!
//! Loom takes two loads of one atomic for steps whose order does not matter, and remembers the last access alone: where a
//! thread loads a word and then stores to it, its own load hides those that others made before, and the orders in
//! which they come after the store are never tried (tokio-rs/loom issues 166 and 392). Here each load first takes a
//! step on a second atomic in which the order does matter to loom, and nothing else is seen of it.

use std::sync::atomic::AtomicU64 as Plain;

use loom::sync::atomic;
pub(crate) use loom::sync::atomic::Ordering;

#[derive(Debug)]
pub(crate) struct AtomicU64 {
    word: atomic::AtomicU64,
    turn: atomic::AtomicU64,
    /// What was stored last, unseen by loom.
    last: Plain,
}

impl AtomicU64 {
    pub(crate) fn new(value: u64) -> Self {
        Self { word: atomic::AtomicU64::new(value), turn: atomic::AtomicU64::new(0), last: Plain::new(value) }
    }

    pub(crate) fn load(&self, order: Ordering) -> u64 {
        self.turn.store(0, Ordering::Relaxed);
        self.word.load(order)
    }

    pub(crate) fn store(&self, value: u64, order: Ordering) {
        self.word.store(value, order);
        self.last.store(value, Ordering::Relaxed);
    }
}

/// What the only thread that may write has written last, or another one before it held the lock. No step of its own,
/// since there is but one answer.
pub(crate) fn written(word: &AtomicU64) -> u64 {
    word.last.load(Ordering::Relaxed)
}
