//! The clock of a tokio runtime.

use breaker_core::{Clock, MonotonicClock, Timestamp};
use tokio::time::Instant;

/// The monotonic clock that tokio's timers go by; its origin is the moment it was made.
///
/// In a runtime whose time is paused it stands still as well, so breakers that read it and timers that wait for them
/// agree in tests. A program without debug assertions that pauses time should do so before it makes the clock: whether
/// [coarse](Clock::coarse) readings can come from the system is found out then.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    origin: Instant,
    /// The same time, as long as tokio's is the system's. Its origin is the later one, so it is never ahead.
    system: Option<MonotonicClock>,
}

impl TokioClock {
    /// A clock whose time starts at zero now.
    pub fn new() -> Self {
        // With debug assertions it is probably a test, which may pause time later.
        Self::reading_coarsely(!cfg!(debug_assertions))
    }

    /// A clock whose coarse readings come from the system, if they `may` and tokio's time is the system's now.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn reading_coarsely(may: bool) -> Self {
        let before = std::time::Instant::now();
        let origin = Instant::now();
        let after = std::time::Instant::now();
        // Time that is paused stands still at an instant before, or was moved to one far ahead.
        let is_the_system_s = (before..=after).contains(&origin.into_std());
        let system = (may && is_the_system_s).then(MonotonicClock::new);
        Self { origin, system }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        Timestamp::ZERO.after(self.origin.elapsed())
    }

    fn coarse(&self) -> Timestamp {
        self.system.map_or_else(|| self.now(), |system| system.coarse())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn follows_paused_time() {
        let clock = TokioClock::new();
        assert_eq!(clock.now(), Timestamp::ZERO);
        tokio::time::sleep(Duration::from_secs(90)).await;
        assert_eq!((clock.now(), clock.coarse()), (Timestamp::from_secs(90), Timestamp::from_secs(90)));
    }

    #[tokio::test]
    async fn a_coarse_reading_is_never_ahead() {
        for clock in [TokioClock::new(), TokioClock::reading_coarsely(true)] {
            for _ in 0..10_000 {
                let (coarse, fine) = (clock.coarse(), clock.now());
                assert!(coarse <= fine, "{coarse} is later than {fine}");
            }
        }
    }

    #[tokio::test]
    async fn coarse_readings_come_from_the_system_where_time_is_the_system_s() {
        assert!(TokioClock::reading_coarsely(true).system.is_some());
        assert!(TokioClock::reading_coarsely(false).system.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn coarse_readings_follow_time_that_is_paused_or_was_moved() {
        let paused = TokioClock::reading_coarsely(true);
        tokio::time::advance(Duration::from_secs(90)).await;
        let moved = TokioClock::reading_coarsely(true);
        assert!(paused.system.is_none() && moved.system.is_none());
        assert_eq!((paused.coarse(), moved.coarse()), (Timestamp::from_secs(90), Timestamp::ZERO));
    }
}
