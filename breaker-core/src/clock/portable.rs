//! The system's monotonic clock, where there is no cheap reading of it.

use std::time::Instant;

use crate::Timestamp;

/// The moment from which time is counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin(Instant);

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
