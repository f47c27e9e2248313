//! An atomic word for loom, every interleaving of which is explored.
//!
//! Loom looks for a race between a store and an earlier load by looking at the last access alone. Where a thread loads a
//! word and later stores to it, its own load stands there and hides those of others, and the orders in which
//! they come after the store are never tried (tokio-rs/loom issues 166 and 392). So here each thread leaves a mark of its own
//! when it loads, and a store first writes over the marks of all other threads: loom finds their last loads there.

use std::sync::{Mutex, PoisonError, atomic::AtomicU64 as Plain};

pub(crate) use loom::sync::atomic::Ordering;
use loom::{
    sync::atomic,
    thread::{self, ThreadId},
};

/// As many as loom allows.
const MOST_THREADS: usize = 4;

#[derive(Debug)]
pub(crate) struct AtomicU64 {
    word: atomic::AtomicU64,
    marks: [atomic::AtomicU64; MOST_THREADS],
    /// The threads that `marks` belong to, unseen by loom.
    threads: Mutex<Vec<ThreadId>>,
    /// What was stored last, unseen by loom.
    last: Plain,
}

impl AtomicU64 {
    pub(crate) fn new(value: u64) -> Self {
        Self {
            word: atomic::AtomicU64::new(value),
            marks: std::array::from_fn(|_| atomic::AtomicU64::new(0)),
            threads: Mutex::default(),
            last: Plain::new(value),
        }
    }

    pub(crate) fn load(&self, order: Ordering) -> u64 {
        self.marks[self.mine()].store(0, Ordering::Relaxed);
        self.word.load(order)
    }

    pub(crate) fn store(&self, value: u64, order: Ordering) {
        let mine = self.mine();
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner).len();
        for other in (0..threads).filter(|other| *other != mine) {
            self.marks[other].store(0, Ordering::Relaxed);
        }
        self.word.store(value, order);
        self.last.store(value, Ordering::Relaxed);
    }

    fn mine(&self) -> usize {
        let me = thread::current().id();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.iter().position(|thread| *thread == me).unwrap_or_else(|| {
            threads.push(me);
            threads.len() - 1
        })
    }
}

/// What the only thread that may write has written last, or another one before it held the lock. No step of its own, since
/// there is but one answer.
pub(crate) fn written(word: &AtomicU64) -> u64 {
    word.last.load(Ordering::Relaxed)
}
