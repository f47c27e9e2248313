//! The results of the last n seconds.

use std::num::NonZeroU32;

use crate::{Sample, Tally, Timestamp};

/// Counts the results of the last n seconds, in buckets of one second.
///
/// A bucket begins at each whole second of the clock, so the window covers the present second, as far as
/// it has gone, and the n - 1 seconds before it. It takes 12 bytes for each second. Recording takes the
/// same few steps whatever the size, but for one step for each second that passed since the last result,
/// and those at most n.
///
/// Counts stop at [`u32::MAX`]. An instant before the latest one counts as the latest one.
#[derive(Clone, Debug)]
pub struct TimeWindow {
    buckets: Box<[Tally]>,
    /// Where the bucket of `second` is; the one after it, cyclically, is the oldest.
    head: usize,
    /// The latest second that anything was recorded in.
    second: u64,
    sum: Sum,
}

impl TimeWindow {
    /// An empty window of the last `seconds`.
    pub fn new(seconds: NonZeroU32) -> Self {
        let buckets = vec![Tally::default(); seconds.get() as usize].into();
        Self { buckets, head: 0, second: 0, sum: Sum::default() }
    }

    /// How many seconds the window covers, the present one included.
    pub fn seconds(&self) -> u64 {
        self.buckets.len() as u64
    }

    /// Counts a result at `now`.
    pub fn record(&mut self, failed: bool, slow: bool, now: Timestamp) {
        self.roll(now.as_secs());
        self.add(self.head, Tally { calls: 1, failures: failed.into(), slow: slow.into() });
    }

    /// The counts of the results that are in the window at `now`.
    pub fn tally(&self, now: Timestamp) -> Tally {
        let mut sum = self.sum;
        match self.passed(now.as_secs()) {
            0 => {}
            gap if gap >= self.seconds() => sum = Sum::default(),
            gap => (1..=gap as usize).for_each(|step| sum.subtract(self.buckets[self.ahead(step)])),
        }
        sum.tally()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.buckets.fill(Tally::default());
        self.sum = Sum::default();
    }

    /// The buckets that hold results at `now`, oldest first.
    pub fn samples(&self, now: Timestamp) -> Vec<Sample> {
        let gap = self.passed(now.as_secs());
        let ages = (0..self.seconds()).rev();
        ages.zip(1..=self.buckets.len())
            .map(|(age, step)| Sample {
                age_secs: age.saturating_add(gap),
                tally: self.buckets[self.ahead(step)],
            })
            .filter(|sample| sample.tally.calls > 0 && sample.age_secs < self.seconds())
            .collect()
    }

    /// Counts those of `samples` that are young enough, each in the second that its age says.
    pub fn adopt(&mut self, samples: &[Sample], now: Timestamp) {
        self.roll(now.as_secs());
        for Sample { age_secs, tally } in samples {
            if *age_secs < self.seconds() {
                self.add(self.ahead(self.buckets.len() - *age_secs as usize), *tally);
            }
        }
    }

    /// Makes `second` the latest one.
    fn roll(&mut self, second: u64) {
        let gap = self.passed(second);
        if self.sum.calls == 0 {
            // All buckets are empty: any of them may be the latest.
        } else if gap >= self.seconds() {
            self.clear();
        } else {
            for _ in 0..gap {
                self.head = self.ahead(1);
                self.sum.subtract(std::mem::take(&mut self.buckets[self.head]));
            }
        }
        self.second = self.second.max(second);
    }

    fn passed(&self, second: u64) -> u64 {
        second.saturating_sub(self.second)
    }

    fn ahead(&self, steps: usize) -> usize {
        (self.head + steps) % self.buckets.len()
    }

    fn add(&mut self, at: usize, more: Tally) {
        let old = self.buckets[at];
        let calls = old.calls.saturating_add(more.calls);
        let new = Tally {
            calls,
            failures: old.failures.saturating_add(more.failures).min(calls),
            slow: old.slow.saturating_add(more.slow).min(calls),
        };
        self.buckets[at] = new;
        self.sum.subtract(old);
        self.sum.add(new);
    }
}

/// Counts of all buckets: too large for a [`Tally`] when several buckets are as full as can be.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    calls: u64,
    failures: u64,
    slow: u64,
}

impl Sum {
    fn add(&mut self, bucket: Tally) {
        self.calls += u64::from(bucket.calls);
        self.failures += u64::from(bucket.failures);
        self.slow += u64::from(bucket.slow);
    }

    fn subtract(&mut self, bucket: Tally) {
        self.calls -= u64::from(bucket.calls);
        self.failures -= u64::from(bucket.failures);
        self.slow -= u64::from(bucket.slow);
    }

    fn tally(self) -> Tally {
        let clamp = |count| u32::try_from(count).unwrap_or(u32::MAX);
        Tally { calls: clamp(self.calls), failures: clamp(self.failures), slow: clamp(self.slow) }
    }
}
