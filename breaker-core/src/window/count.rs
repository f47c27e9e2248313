//! The last n results.

use std::num::NonZeroU32;

use super::bits::Bits;
use crate::{Sample, Tally};

/// The last n results: whether each failed, and whether it was slow.
///
/// It takes one bit for each call, and a second one where slow calls matter; windows of at most 128 bits
/// need no heap. Recording takes the same few steps whatever the size.
///
/// ```
/// use std::num::NonZeroU32;
/// use breaker_core::window::CountWindow;
///
/// let mut window = CountWindow::new(NonZeroU32::new(2).unwrap());
/// window.record(true, false);
/// window.record(false, false);
/// window.record(false, false); // pushes out the failure
/// assert_eq!((window.tally().calls, window.tally().failures), (2, 0));
/// ```
#[derive(Clone, Debug)]
pub struct CountWindow {
    /// For each result whether it failed, and beside it whether it was slow where that is counted.
    bits: Bits,
    counts_slow_calls: bool,
    size: NonZeroU32,
    /// Where the next result goes; once the window is full, the oldest one stands there. Bits that hold
    /// no result yet are unset.
    next: u32,
    tally: Tally,
}

impl CountWindow {
    /// An empty window of the last `size` results that takes no notice of slow calls.
    pub fn new(size: NonZeroU32) -> Self {
        Self::made(size, false)
    }

    /// An empty window of the last `size` results that also counts slow calls.
    pub fn with_slow_calls(size: NonZeroU32) -> Self {
        Self::made(size, true)
    }

    fn made(size: NonZeroU32, counts_slow_calls: bool) -> Self {
        let bits = Bits::new(u64::from(size.get()) << u32::from(counts_slow_calls));
        Self { bits, counts_slow_calls, size, next: 0, tally: Tally::default() }
    }

    /// How many results the window remembers.
    pub fn size(&self) -> NonZeroU32 {
        self.size
    }

    /// Adds a result; it pushes out the oldest one when the window is full.
    pub fn record(&mut self, failed: bool, slow: bool) {
        let at = self.bit(self.next);
        let was_failed = self.bits.replace(at, failed);
        self.tally.failures = self.tally.failures + u32::from(failed) - u32::from(was_failed);
        if self.counts_slow_calls {
            let was_slow = self.bits.replace(at + 1, slow);
            self.tally.slow = self.tally.slow + u32::from(slow) - u32::from(was_slow);
        }
        if !self.is_full() {
            self.tally.calls += 1;
        }
        self.next = self.following(self.next);
    }

    /// The counts of the results that the window holds.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// How many results the window holds. Right after one was recorded this is cheaper than all of the counts.
    pub fn calls(&self) -> u32 {
        self.tally.calls
    }

    /// Whether the window holds as many results as it can.
    pub fn is_full(&self) -> bool {
        self.tally.calls == self.size.get()
    }

    /// Whether one more success that is not slow would leave the window as it is: it is full and holds
    /// such successes alone.
    pub fn is_steady(&self) -> bool {
        self.is_full() && self.tally.failures == 0 && self.tally.slow == 0
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.bits.clear();
        self.next = 0;
        self.tally = Tally::default();
    }

    /// The results, oldest first: one sample for each run of identical ones, all of age 0. A window that
    /// [adopts](Self::adopt) them holds the same results in the same order.
    pub fn samples(&self) -> Vec<Sample> {
        let mut runs: Vec<Sample> = Vec::new();
        let mut at = if self.is_full() { self.next } else { 0 };
        for _ in 0..self.tally.calls {
            let bit = self.bit(at);
            let (failed, slow) = (self.bits.get(bit), self.counts_slow_calls && self.bits.get(bit + 1));
            match runs.last_mut() {
                Some(Sample { tally: run, .. }) if (run.failures > 0, run.slow > 0) == (failed, slow) => {
                    *run = run_of(run.calls + 1, failed, slow);
                }
                _ => runs.push(Sample { age_secs: 0, tally: run_of(1, failed, slow) }),
            }
            at = self.following(at);
        }
        runs
    }

    /// Records what `samples` hold, in their order. Where a sample does not tell the order of its results
    /// (it comes from a time window), its failures count as the latest, and so do its slow calls.
    pub fn adopt(&mut self, samples: &[Sample]) {
        for Tally { calls, failures, slow } in samples.iter().map(|sample| sample.tally) {
            for nth in calls.saturating_sub(self.size.get())..calls {
                let left = calls - nth;
                self.record(left <= failures, left <= slow);
            }
        }
    }

    /// Where it stands whether the result at `at` failed.
    fn bit(&self, at: u32) -> u64 {
        u64::from(at) << u32::from(self.counts_slow_calls)
    }

    fn following(&self, at: u32) -> u32 {
        if at + 1 == self.size.get() { 0 } else { at + 1 }
    }
}

fn run_of(calls: u32, failed: bool, slow: bool) -> Tally {
    Tally { calls, failures: if failed { calls } else { 0 }, slow: if slow { calls } else { 0 } }
}
