//! The time line of one run: microseconds since the load began.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use breaker_core::{Clock, MonotonicClock, Timestamp};

/// A clock that shows zero until the run starts.
#[derive(Debug)]
pub struct RunClock {
    clock: MonotonicClock,
    /// When the run started, in nanoseconds of `clock`; the end of time before that.
    zero: AtomicU64,
}

impl RunClock {
    /// A clock that waits for [`RunClock::start`].
    pub fn new() -> Self {
        Self { clock: MonotonicClock::new(), zero: AtomicU64::new(u64::MAX) }
    }

    /// The run starts now.
    pub fn start(&self) {
        self.zero.store(self.clock.now().as_nanos(), Ordering::Release);
    }

    /// Microseconds since the start; zero before it.
    pub fn micros(&self) -> u64 {
        let zero = Timestamp::from_nanos(self.zero.load(Ordering::Acquire));
        micros(self.clock.now().since(zero))
    }

    /// Waits until `at` after the start. tokio's timer rounds up to a whole millisecond.
    pub async fn sleep_until(&self, at: Duration) {
        let left = at.saturating_sub(Duration::from_micros(self.micros()));
        if !left.is_zero() {
            tokio::time::sleep(left).await;
        }
    }
}

/// A duration as whole microseconds.
pub fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_passed_before_the_start() {
        assert_eq!(RunClock::new().micros(), 0);
    }

    #[test]
    fn durations_become_microseconds_and_saturate() {
        assert_eq!(micros(Duration::from_millis(100)), 100_000);
        assert_eq!(micros(Duration::MAX), u64::MAX);
    }
}
