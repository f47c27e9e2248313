//! The clock of a tokio runtime.

use breaker_core::{Clock, Timestamp};
use tokio::time::Instant;

/// The monotonic clock that tokio's timers go by; its origin is the moment it was made.
///
/// In a runtime whose time is paused it stands still as well, so breakers that read it and timers that wait for them
/// agree in tests.
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn follows_paused_time() {
        let clock = TokioClock::new();
        assert_eq!(clock.now(), Timestamp::ZERO);
        tokio::time::sleep(Duration::from_secs(90)).await;
        assert_eq!(clock.now(), Timestamp::from_secs(90));
    }
}
