//! A delay that doubles with each trip.

use std::time::Duration;

/// A delay that starts at a base and doubles with each further trip, up to a maximum.
///
/// ```
/// use std::time::Duration;
/// use breaker_core::GrowingDelay;
///
/// let mut delay = GrowingDelay::new(Duration::from_secs(20), Duration::from_secs(60));
/// assert_eq!(delay.trip(), Duration::from_secs(20));
/// assert_eq!(delay.trip(), Duration::from_secs(40));
/// assert_eq!(delay.trip(), Duration::from_secs(60));
/// delay.reset();
/// assert_eq!(delay.trip(), Duration::from_secs(20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrowingDelay {
    base_nanos: u64,
    max_nanos: u64,
    trips: u32,
}

impl GrowingDelay {
    /// A delay that grows from `base` to `max`, or stays at `base` when `max` is not larger. Spans of more
    /// than 584 years count as 584 years.
    pub fn new(base: Duration, max: Duration) -> Self {
        let base_nanos = saturating_nanos(base);
        Self { base_nanos, max_nanos: saturating_nanos(max).max(base_nanos), trips: 0 }
    }

    /// The same delay after `trips` trips in a row, as [`Evidence::trips`](crate::Evidence::trips) has them.
    #[must_use]
    pub fn with_trips(mut self, trips: u32) -> Self {
        self.trips = trips;
        self
    }

    /// Trips since the start or the last [`reset`](Self::reset).
    pub fn trips(&self) -> u32 {
        self.trips
    }

    /// Counts a trip, and returns the delay that follows it.
    pub fn trip(&mut self) -> Duration {
        self.trips = self.trips.saturating_add(1);
        self.current()
    }

    /// The delay that follows the last trip; the base when there was none.
    pub fn current(&self) -> Duration {
        let doublings = self.trips.saturating_sub(1);
        let factor = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
        Duration::from_nanos(self.base_nanos.saturating_mul(factor).min(self.max_nanos))
    }

    /// Forgets all trips.
    pub fn reset(&mut self) {
        self.trips = 0;
    }
}

fn saturating_nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn each_trip_doubles_the_delay_up_to_the_maximum() {
        let mut delay = GrowingDelay::new(SECOND, 5 * SECOND);
        let delays: Vec<_> = (0..4).map(|_| delay.trip().as_secs()).collect();
        assert_eq!(delays, [1, 2, 4, 5]);
    }

    #[test]
    fn a_maximum_that_is_not_larger_keeps_the_delay_at_its_base() {
        let mut delay = GrowingDelay::new(2 * SECOND, SECOND);
        assert_eq!([delay.trip(), delay.trip()], [2 * SECOND, 2 * SECOND]);
    }

    #[test]
    fn a_reset_starts_again_from_the_base() {
        let mut delay = GrowingDelay::new(SECOND, 8 * SECOND).with_trips(3);
        assert_eq!(delay.current(), 4 * SECOND);
        delay.reset();
        assert_eq!((delay.trips(), delay.current(), delay.trip()), (0, SECOND, SECOND));
    }

    #[test]
    fn a_restored_step_goes_on_from_there() {
        let mut delay = GrowingDelay::new(SECOND, 100 * SECOND).with_trips(2);
        assert_eq!((delay.trips(), delay.current()), (2, 2 * SECOND));
        assert_eq!((delay.trip(), delay.trips()), (4 * SECOND, 3));
    }

    #[test]
    fn any_number_of_trips_is_within_the_maximum() {
        for trips in [63, 64, 65, 66, u32::MAX] {
            let mut delay = GrowingDelay::new(SECOND, 60 * SECOND).with_trips(trips);
            assert_eq!(delay.trip(), 60 * SECOND, "after {trips}");
        }
        assert_eq!(GrowingDelay::new(Duration::ZERO, SECOND).with_trips(70).current(), Duration::ZERO);
        assert_eq!(GrowingDelay::new(Duration::MAX, Duration::MAX).current(), Duration::from_nanos(u64::MAX));
    }
}
