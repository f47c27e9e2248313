//! When an attempt gets a rival, and how many rivals there may be.

use std::{
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    time::Duration,
};

use crate::config::HedgeAfter;

/// Thousandths of an attempt that each call adds to the budget: a tenth.
const EARNED: u64 = 100;
const PRICE: u64 = 1_000;
/// The most that is saved up: rivals for a moment in which many are needed at once.
const SAVINGS: u64 = 100 * PRICE;
const AT_FIRST: u64 = 10 * PRICE;

/// A pool's rivals: one extra attempt in ten calls, over time.
#[derive(Debug)]
pub(crate) struct Hedging {
    after: HedgeAfter,
    budget: AtomicU64,
    latency: Latency,
}

impl Hedging {
    pub(crate) fn new(after: HedgeAfter) -> Self {
        Self { after, budget: AtomicU64::new(AT_FIRST), latency: Latency::default() }
    }

    /// How long an attempt may take before it gets a rival. `attempt_timeout` is what it may take in all.
    pub(crate) fn after(&self, attempt_timeout: Duration) -> Duration {
        match self.after {
            HedgeAfter::After(span) => span.get(),
            // Until it is known what is usual, a tenth of what is allowed.
            HedgeAfter::Adaptive => self.latency.p99().map_or(attempt_timeout / 10, |p99| p99 * 2),
        }
    }

    /// A call is made.
    pub(crate) fn earn(&self) {
        let add = |budget: u64| (budget < SAVINGS).then(|| (budget + EARNED).min(SAVINGS));
        let _ = self.budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Whether there may be one more rival.
    pub(crate) fn spend(&self) -> bool {
        self.budget
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |budget| budget.checked_sub(PRICE))
            .is_ok()
    }

    /// There was nobody left to be a rival.
    pub(crate) fn give_back(&self) {
        self.budget.fetch_add(PRICE, Ordering::Relaxed);
    }

    /// An attempt was answered after `latency`.
    pub(crate) fn answered(&self, latency: Duration) {
        if self.after == HedgeAfter::Adaptive {
            self.latency.record(latency);
        }
    }
}

/// Buckets to each doubling of the latency.
const FINENESS: u32 = 8;
const BUCKETS: usize = 28 * FINENESS as usize;
/// Fewer answers say nothing of their hundredth part.
const ENOUGH: u32 = 100;
/// When so many are in, each counts half.
const MANY: u32 = 4_000;

/// How long recent attempts took, to a ninth part. Races lose a count now and then.
#[derive(Debug)]
struct Latency {
    counts: [AtomicU32; BUCKETS],
    total: AtomicU32,
    /// The 99th percentile in microseconds; 0: not known yet. Found anew every so many answers.
    p99: AtomicU64,
}

impl Default for Latency {
    fn default() -> Self {
        Self {
            counts: [const { AtomicU32::new(0) }; BUCKETS],
            total: AtomicU32::new(0),
            p99: AtomicU64::new(0),
        }
    }
}

impl Latency {
    fn record(&self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        self.counts[bucket(micros)].fetch_add(1, Ordering::Relaxed);
        let total = self.total.fetch_add(1, Ordering::Relaxed) + 1;
        if total.is_multiple_of(ENOUGH) {
            self.find_p99(total);
        }
        if total >= MANY {
            self.halve();
        }
    }

    fn p99(&self) -> Option<Duration> {
        let micros = self.p99.load(Ordering::Relaxed);
        (micros > 0).then(|| Duration::from_micros(micros))
    }

    fn find_p99(&self, total: u32) {
        let mut above = total / 100;
        for (bucket, count) in self.counts.iter().enumerate().rev() {
            let count = count.load(Ordering::Relaxed);
            if count > above {
                self.p99.store(upper_end(bucket), Ordering::Relaxed);
                return;
            }
            above -= count;
        }
    }

    fn halve(&self) {
        let mut total = 0;
        for count in &self.counts {
            let half = count.load(Ordering::Relaxed) / 2;
            count.store(half, Ordering::Relaxed);
            total += half;
        }
        self.total.store(total, Ordering::Relaxed);
    }
}

/// Equal steps of the logarithm, straight in between.
fn bucket(micros: u64) -> usize {
    let micros = micros.max(u64::from(FINENESS));
    let doubling = micros.ilog2() - FINENESS.ilog2();
    let step = (micros >> doubling) as usize - FINENESS as usize;
    (doubling as usize * FINENESS as usize + step).min(BUCKETS - 1)
}

fn upper_end(bucket: usize) -> u64 {
    let (doubling, step) = (bucket / FINENESS as usize, bucket % FINENESS as usize);
    (step as u64 + u64::from(FINENESS) + 1) << doubling
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_time_one_call_in_ten_gets_a_rival() {
        let hedging = Hedging::new(HedgeAfter::Adaptive);
        let rivals = (0..10_000).filter(|_| {
            hedging.earn();
            hedging.spend()
        });
        assert_eq!(rivals.count(), 1_000 + 10);
    }

    #[test]
    fn savings_are_bounded() {
        let hedging = Hedging::new(HedgeAfter::Adaptive);
        (0..1_000_000).for_each(|_| hedging.earn());
        assert_eq!((0..1_000).filter(|_| hedging.spend()).count(), 100);
    }

    #[test]
    fn the_99th_percentile_is_found_to_a_ninth_part() {
        let latency = Latency::default();
        assert_eq!(latency.p99(), None);
        for millis in 1..=1_000 {
            latency.record(Duration::from_millis(millis));
        }
        let p99 = latency.p99().unwrap().as_millis();
        assert!((990..990 * 9 / 8).contains(&p99), "{p99} ms");
    }

    #[test]
    fn old_latencies_fade() {
        let hedging = Hedging::new(HedgeAfter::Adaptive);
        let timeout = Duration::from_secs(5);
        assert_eq!(hedging.after(timeout), Duration::from_millis(500), "a tenth, until enough is known");
        (0..5_000).for_each(|_| hedging.answered(Duration::from_secs(1)));
        assert!(hedging.after(timeout) >= Duration::from_secs(2));
        (0..50_000).for_each(|_| hedging.answered(Duration::from_millis(1)));
        assert!(hedging.after(timeout) < Duration::from_millis(3));
    }

    #[test]
    fn every_latency_has_a_bucket_that_ends_behind_it() {
        for micros in (0..5_000).chain([u64::from(u32::MAX) / 32]) {
            assert!(upper_end(bucket(micros)) > micros, "{micros}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    /// Buckets that end behind 1 ms, 100 ms and 1 s.
    const ENDS: [u64; 3] = [1_024, 106_496, 1_048_576];

    #[test]
    fn the_slowest_hundredth_is_left_out_and_no_more() {
        for (counts, expected) in [([990, 0, 10], 0), ([989, 0, 11], 2), ([988, 6, 6], 1), ([990, 10, 0], 0)]
        {
            let latency = Latency::default();
            for (millis, count) in [1, 100, 1_000].into_iter().zip(counts) {
                (0..count).for_each(|_| latency.record(Duration::from_millis(millis)));
            }
            assert_eq!(latency.p99(), Some(Duration::from_micros(ENDS[expected])), "{counts:?}");
        }
    }

    #[test]
    fn each_counts_half_when_there_are_many() {
        let latency = Latency::default();
        for (millis, count) in [(1, 3_989), (100, 10), (1_000, 1)] {
            (0..count).for_each(|_| latency.record(Duration::from_millis(millis)));
        }
        let count = |millis: u64| latency.counts[bucket(millis * 1_000)].load(Ordering::Relaxed);
        assert_eq!([1, 100, 1_000].map(count), [1_994, 5, 0]);
        assert_eq!(latency.total.load(Ordering::Relaxed), 1_999);
    }

    #[test]
    fn a_rival_that_nobody_could_be_costs_nothing() {
        let hedging = Hedging::new(HedgeAfter::Adaptive);
        assert_eq!((0..100).filter(|_| hedging.spend()).count(), 10);
        hedging.give_back();
        assert!(hedging.spend() && !hedging.spend());
    }
}
