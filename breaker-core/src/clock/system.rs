//! The system's monotonic clock, and the cheap reading of it.

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::Timestamp;

/// The moment from which time is counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin(u64);

impl Origin {
    pub(super) fn new() -> Self {
        Self(read(ClockId::Monotonic))
    }

    pub(super) fn elapsed(self) -> Timestamp {
        Timestamp::from_nanos(read(ClockId::Monotonic).saturating_sub(self.0))
    }

    /// As of the last tick of the system: every 1 to 10 ms.
    pub(super) fn elapsed_coarse(self) -> Timestamp {
        Timestamp::from_nanos(read(ClockId::MonotonicCoarse).saturating_sub(self.0))
    }
}

fn read(clock: ClockId) -> u64 {
    nanos(clock_gettime(clock))
}

/// The clock shows the time since the system started, so it is never negative.
const fn nanos(at: Timespec) -> u64 {
    at.tv_sec.unsigned_abs() * 1_000_000_000 + at.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_a_thousand_million_nanoseconds() {
        assert_eq!(nanos(Timespec { tv_sec: 2, tv_nsec: 5 }), 2_000_000_005);
    }
}
