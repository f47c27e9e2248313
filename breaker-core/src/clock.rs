//! Where time comes from. Nothing else in the workspace reads a clock.

use std::{
    cell::Cell,
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use crate::Timestamp;

/// A source of monotonic time. Two readings never go backwards; wall-clock jumps do not show.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

/// The operating system's monotonic clock; its origin is the moment it was made.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    origin: Instant,
}

impl MonotonicClock {
    /// A clock whose time starts at zero now.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Timestamp {
        Timestamp::ZERO.after(self.origin.elapsed())
    }
}

/// A clock for tests and simulations: it stands still until it is told to move.
///
/// Share it as `Arc<ManualClock>`: one copy for the breaker, one to turn the hands.
#[derive(Debug, Default)]
pub struct ManualClock {
    nanos: AtomicU64,
}

impl ManualClock {
    /// A clock that shows `at`.
    pub fn at(at: Timestamp) -> Self {
        Self { nanos: AtomicU64::new(at.as_nanos()) }
    }

    /// Moves the hands forward by `span`, and says what the clock shows then.
    pub fn advance(&self, span: Duration) -> Timestamp {
        let mut shown = Timestamp::ZERO;
        let moved = self.nanos.fetch_update(Ordering::AcqRel, Ordering::Acquire, |nanos| {
            shown = Timestamp::from_nanos(nanos).after(span);
            Some(shown.as_nanos())
        });
        debug_assert!(moved.is_ok());
        shown
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(self.nanos.load(Ordering::Acquire))
    }
}

/// The instant of one operation on a strategy, read from the clock at most once and only if asked for.
///
/// A strategy gets one with every call. Reading a clock costs more than counting a result, so a strategy
/// that only counts should call [`Now::get`] only where a decision needs the time. In a test a literal
/// will do: `&Timestamp::from_secs(3).into()`.
pub struct Now<'a> {
    clock: Option<&'a dyn Clock>,
    read: Cell<Option<Timestamp>>,
}

impl<'a> Now<'a> {
    /// Reads `clock` when first asked.
    pub fn of(clock: &'a dyn Clock) -> Self {
        Self { clock: Some(clock), read: Cell::new(None) }
    }

    /// The instant. The same one however often it is asked for.
    pub fn get(&self) -> Timestamp {
        self.read.get().unwrap_or_else(|| {
            let now = self.clock.map_or(Timestamp::ZERO, Clock::now);
            self.read.set(Some(now));
            now
        })
    }
}

impl From<Timestamp> for Now<'_> {
    fn from(at: Timestamp) -> Self {
        Self { clock: None, read: Cell::new(Some(at)) }
    }
}

impl fmt::Debug for Now<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Now").field(&self.read.get()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn now_is_read_once() {
        let clock = ManualClock::at(Timestamp::from_secs(1));
        let now = Now::of(&clock);
        assert_eq!(now.get(), Timestamp::from_secs(1));
        clock.advance(Duration::from_secs(5));
        assert_eq!(now.get(), Timestamp::from_secs(1));
    }

    #[test]
    fn a_manual_clock_stops_at_the_end_of_time() {
        let clock = ManualClock::at(Timestamp::MAX);
        assert_eq!(clock.advance(Duration::from_secs(1)), Timestamp::MAX);
    }

    #[test]
    fn the_monotonic_clock_starts_near_zero_and_never_goes_back() {
        let clock = MonotonicClock::new();
        let first = clock.now();
        assert!(clock.now() >= first);
    }
}
