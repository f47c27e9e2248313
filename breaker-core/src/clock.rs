//! Where time comes from. Nothing else in the workspace reads a clock.

#[cfg_attr(not(any(target_os = "linux", target_os = "android")), path = "clock/portable.rs")]
mod system;

use std::{
    cell::Cell,
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use self::system::Origin;
use crate::Timestamp;

/// How far a coarse reading may be behind. The system's ticks come every 10 ms at the slowest; the rest is for ticks that
/// come late.
const COARSENESS: Duration = Duration::from_millis(50);

/// A source of monotonic time. Two readings never go backwards; wall-clock jumps do not show.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;

    /// An instant that is never later than [`now`](Self::now), and at most 50 ms earlier, for what need not be known better.
    /// Worth writing where it can be had for less. Default: [`now`](Self::now).
    fn coarse(&self) -> Timestamp {
        self.now()
    }

    /// Whether `deadline` has come: exactly, but the time is read closely only when it is near.
    fn has_come(&self, deadline: Timestamp) -> bool {
        let about = self.coarse();
        about >= deadline || (deadline.since(about) <= COARSENESS && self.now() >= deadline)
    }
}

/// The operating system's monotonic clock; its origin is the moment it was made.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    origin: Origin,
}

impl MonotonicClock {
    /// A clock whose time starts at zero now.
    pub fn new() -> Self {
        Self { origin: Origin::new() }
    }
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Timestamp {
        self.origin.elapsed()
    }

    fn coarse(&self) -> Timestamp {
        self.origin.elapsed_coarse()
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
    fn the_monotonic_clock_goes_on_and_never_back() {
        let clock = MonotonicClock::new();
        let first = clock.now();
        assert!(
            (0..10_000_000).map(|_| clock.now()).inspect(|now| assert!(*now >= first)).any(|now| now > first)
        );
    }

    #[test]
    fn now_shows_whether_it_was_read() {
        let clock = ManualClock::at(Timestamp::from_secs(1));
        let now = Now::of(&clock);
        assert_eq!(format!("{now:?}"), "Now(None)");
        now.get();
        assert_eq!(format!("{now:?}"), "Now(Some(Timestamp(1000000000)))");
    }

    #[test]
    fn a_coarse_reading_is_never_ahead() {
        let clock = MonotonicClock::new();
        for _ in 0..100_000 {
            let (coarse, fine) = (clock.coarse(), clock.now());
            assert!(coarse <= fine, "{coarse} is later than {fine}");
        }
    }

    #[test]
    fn a_coarse_reading_goes_on_with_the_clock() {
        let clock = MonotonicClock::new();
        while clock.coarse() == Timestamp::ZERO {
            assert!(clock.now() < Timestamp::from_secs(10), "it stands still");
        }
    }

    /// Its coarse reading is the last whole tick of 10 ms.
    #[derive(Debug)]
    struct Ticking(Timestamp);

    impl Clock for Ticking {
        fn now(&self) -> Timestamp {
            self.0
        }

        fn coarse(&self) -> Timestamp {
            Timestamp::from_nanos(self.0.as_nanos() / 10_000_000 * 10_000_000)
        }
    }

    #[test]
    fn a_deadline_comes_to_the_nanosecond_however_coarse_the_clock_is() {
        let deadline = Timestamp::from_nanos(1_009_999_999);
        for (now, come) in
            [(900_000_000, false), (1_009_999_998, false), (1_009_999_999, true), (1_010_000_000, true)]
        {
            assert_eq!(Ticking(Timestamp::from_nanos(now)).has_come(deadline), come, "at {now} ns");
        }
    }
}
