//! The load: which request is due when, decided by the seed alone.

use std::time::Duration;

use crate::{clock::micros, wire::Request};

/// Requests at a fixed rate, whether or not earlier ones have finished.
#[derive(Clone, Debug)]
pub struct Schedule {
    rate: u32,
    count: u64,
    seed: u64,
}

impl Schedule {
    /// `rate` requests a second for `length`.
    pub fn new(rate: u32, length: Duration, seed: u64) -> Self {
        Self { rate, count: u64::from(rate) * micros(length) / 1_000_000, seed }
    }

    /// How many requests there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// When request `id` is due, in microseconds.
    pub fn due_at(&self, id: u64) -> u64 {
        id * 1_000_000 / u64::from(self.rate)
    }

    /// How many requests are due at `now` or were due before.
    pub fn due_by(&self, now: u64) -> u64 {
        (now * u64::from(self.rate) / 1_000_000 + 1).min(self.count)
    }

    /// Request `id`; its key is spread evenly over all keys.
    pub fn request(&self, id: u64) -> Request {
        Request { id, key: scramble(self.seed ^ scramble(id)) }
    }
}

/// A well-mixed number for each number (the finaliser of splitmix64).
pub fn scramble(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;

    fn schedule() -> Schedule {
        Schedule::new(2_000, Duration::from_secs(13), 7)
    }

    #[test]
    fn two_thousand_a_second_are_one_each_half_millisecond() {
        assert_eq!(schedule().count(), 26_000);
        assert_eq!([0, 1, 2_000].map(|id| schedule().due_at(id)), [0, 500, 1_000_000]);
    }

    #[test]
    fn a_late_tick_makes_everything_due_that_was_missed() {
        assert_eq!([0, 499, 500, 10_000].map(|now| schedule().due_by(now)), [1, 1, 2, 21]);
        assert_eq!(schedule().due_by(u64::MAX / 4_000), 26_000);
    }

    #[test]
    fn everything_due_by_its_own_instant_is_exactly_the_requests_up_to_it() {
        for id in 0..26_000 {
            assert_eq!(schedule().due_by(schedule().due_at(id)), id + 1);
        }
    }

    #[test]
    fn the_seed_decides_the_keys() {
        let keys = |seed| {
            let schedule = Schedule::new(10, Duration::from_secs(1), seed);
            (0..10).map(|id| schedule.request(id).key).collect::<Vec<_>>()
        };
        assert_eq!(keys(7), keys(7));
        assert_ne!(keys(7), keys(8));
    }

    #[test]
    fn the_load_is_spread_over_the_partitions() {
        let map = keys::even(2);
        let first = (0..26_000).filter(|&id| *map.partition(&schedule().request(id).key) == 0).count();
        assert!((12_500..13_500).contains(&first), "{first} of 26000 in partition 0");
    }
}
