use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use breaker_core::{Clock as _, MonotonicClock, Timestamp};
use hdrhistogram::Histogram;

/// What came of the clients' queries.
#[derive(Debug)]
pub(crate) struct Stats {
    clock: MonotonicClock,
    answered: Mutex<Histogram<u64>>,
    unanswered: AtomicU64,
    turned_away: AtomicU64,
    unfit: AtomicU64,
}

impl Default for Stats {
    fn default() -> Self {
        // Microseconds, up to a minute, to three digits.
        let answered =
            Histogram::new_with_bounds(1, 60_000_000, 3).unwrap_or_else(|error| unreachable!("{error}"));
        Self {
            clock: MonotonicClock::new(),
            answered: Mutex::new(answered),
            unanswered: AtomicU64::new(0),
            turned_away: AtomicU64::new(0),
            unfit: AtomicU64::new(0),
        }
    }
}

impl Stats {
    /// A query begins; the instant is for [`answered`](Self::answered).
    pub(crate) fn begin(&self) -> Timestamp {
        self.clock.now()
    }

    /// A query that began at `begun` got its answer.
    pub(crate) fn answered(&self, begun: Timestamp) {
        self.record(begun, self.clock.now());
    }

    fn record(&self, begun: Timestamp, ended: Timestamp) {
        let micros = u64::try_from(ended.since(begun).as_micros()).unwrap_or(u64::MAX);
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).saturating_record(micros);
    }

    /// Nobody answered a query.
    pub(crate) fn unanswered(&self) {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
    }

    /// There was no place for a query.
    pub(crate) fn turned_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    /// A message was no query that can be forwarded.
    pub(crate) fn unfit(&self) {
        self.unfit.fetch_add(1, Ordering::Relaxed);
    }

    /// The numbers: unanswered, turned away, unfit.
    pub(super) fn failures(&self) -> [u64; 3] {
        [&self.unanswered, &self.turned_away, &self.unfit].map(|count| count.load(Ordering::Relaxed))
    }

    /// How many were answered, and the time that it took: half of them, 99 % of them, all.
    pub(super) fn latencies(&self) -> (u64, [Duration; 3]) {
        let answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let at = |quantile| Duration::from_micros(answered.value_at_quantile(quantile));
        (answered.len(), [at(0.5), at(0.99), at(1.0)])
    }
}

/// What came of the attempts at one server.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    answered: AtomicU64,
    failed: AtomicU64,
    given_up: AtomicU64,
}

impl Tally {
    /// An attempt begins.
    pub(crate) fn begin(&self) -> Attempt<'_> {
        Attempt { tally: self, ended: false }
    }

    /// The numbers: answered, failed, given up.
    pub(super) fn counts(&self) -> [u64; 3] {
        [&self.answered, &self.failed, &self.given_up].map(|count| count.load(Ordering::Relaxed))
    }
}

/// An attempt under way. Dropped, it counts as given up.
pub(crate) struct Attempt<'a> {
    tally: &'a Tally,
    ended: bool,
}

impl Attempt<'_> {
    pub(crate) fn end(mut self, answered: bool) {
        self.ended = true;
        let count = if answered { &self.tally.answered } else { &self.tally.failed };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.tally.given_up.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_those_of_answered_queries() {
        let stats = Stats::default();
        stats.unanswered();
        let now = stats.begin();
        for millis in 1..=100 {
            stats.record(now, now + Duration::from_millis(millis));
        }
        let (answered, spans) = stats.latencies();
        assert_eq!((answered, stats.failures()), (100, [1, 0, 0]));
        assert_eq!(spans.map(|span| (span.as_secs_f64() * 1_000.0).round()), [50.0, 99.0, 100.0]);
    }
}
