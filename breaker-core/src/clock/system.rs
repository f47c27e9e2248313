//! The system's monotonic clock, and the cheap reading of it where there is one.

#[cfg(not(any(target_os = "linux", target_os = "android")))]
use std::time::Instant;

use crate::Timestamp;

/// The moment from which time is counted.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin(u64);

#[cfg(any(target_os = "linux", target_os = "android"))]
impl Origin {
    pub(super) fn new() -> Self {
        Self(read(rustix::time::ClockId::Monotonic))
    }

    pub(super) fn elapsed(self) -> Timestamp {
        Timestamp::from_nanos(read(rustix::time::ClockId::Monotonic).saturating_sub(self.0))
    }

    /// As of the last tick of the system: every 1 to 10 ms.
    pub(super) fn elapsed_coarse(self) -> Timestamp {
        Timestamp::from_nanos(read(rustix::time::ClockId::MonotonicCoarse).saturating_sub(self.0))
    }
}

/// In nanoseconds. The clock shows the time since the system started, so it is never negative.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn read(clock: rustix::time::ClockId) -> u64 {
    let at = rustix::time::clock_gettime(clock);
    at.tv_sec.unsigned_abs() * 1_000_000_000 + at.tv_nsec.unsigned_abs()
}

/// The moment from which time is counted.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin(Instant);

#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl Origin {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub(super) fn new() -> Self {
        Self(Instant::now())
    }

    pub(super) fn elapsed(self) -> Timestamp {
        Timestamp::ZERO.after(self.0.elapsed())
    }

    pub(super) fn elapsed_coarse(self) -> Timestamp {
        self.elapsed()
    }
}
