use breaker_core::{Clock, Timestamp};
use tokio::time::Instant;

/// Tokio's clock: monotonic, and under a runtime whose time is paused it stands still with it.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    origin: Instant,
}

impl TokioClock {
    /// A clock whose time starts at zero now.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn new() -> Self {
        Self { origin: Instant::now() }
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
}
