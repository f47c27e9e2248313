//! Sliding windows: what the last calls, or the calls of the last seconds, have been.
//!
//! A [`CountWindow`] remembers the last n results, a [`TimeWindow`] counts the results of the last n seconds.
//! Both allocate when they are made and never again, count exactly, and answer from running counts.
//! [`Window`] is for strategies whose settings choose between them.

mod bits;
mod count;
mod time;

#[cfg(test)]
mod tests;

use crate::{Now, Sample, Tally};

pub use count::CountWindow;
pub use time::TimeWindow;

/// Either kind of window.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Window {
    /// The last n results.
    Count(CountWindow),
    /// The results of the last n seconds.
    Time(Box<TimeWindow>),
}

impl Window {
    /// Counts a result. Only a time window reads `now`.
    pub fn record(&mut self, failed: bool, slow: bool, now: &Now<'_>) {
        match self {
            Self::Count(window) => window.record(failed, slow),
            Self::Time(window) => window.record(failed, slow, now.get()),
        }
    }

    /// The counts at `now`, which only a time window reads.
    pub fn tally(&self, now: &Now<'_>) -> Tally {
        match self {
            Self::Count(window) => window.tally(),
            Self::Time(window) => window.tally(now.get()),
        }
    }

    /// Whether one more success would leave the window as it is: a count window that is full and holds
    /// successes alone. A time window never is.
    pub fn is_steady(&self) -> bool {
        match self {
            Self::Count(window) => window.is_steady(),
            Self::Time(_) => false,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        match self {
            Self::Count(window) => window.clear(),
            Self::Time(window) => window.clear(),
        }
    }

    /// The window's content for an [`Evidence`](crate::Evidence), oldest first.
    pub fn samples(&self, now: &Now<'_>) -> Vec<Sample> {
        match self {
            Self::Count(window) => window.samples(),
            Self::Time(window) => window.samples(now.get()),
        }
    }

    /// Counts what an [`Evidence`](crate::Evidence) holds, of either kind of window.
    pub fn adopt(&mut self, samples: &[Sample], now: &Now<'_>) {
        match self {
            Self::Count(window) => window.adopt(samples),
            Self::Time(window) => window.adopt(samples, now.get()),
        }
    }
}

impl From<CountWindow> for Window {
    fn from(window: CountWindow) -> Self {
        Self::Count(window)
    }
}

impl From<TimeWindow> for Window {
    fn from(window: TimeWindow) -> Self {
        Self::Time(Box::new(window))
    }
}
