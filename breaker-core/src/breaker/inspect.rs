//! What the conformance suite sees of a breaker, and nobody else.

use super::Breaker;
use crate::{Strategy, Timestamp, sync::lock};

impl Breaker {
    /// Shows the strategy as it is, at the present instant.
    pub(crate) fn inspect<R>(&self, look: impl FnOnce(&mut dyn Strategy, Timestamp) -> R) -> R {
        let mut core = lock(&self.core);
        look(&mut *core.strategy, self.setup.clock.now())
    }

    /// Commits what is due by time.
    pub(crate) fn commit_due(&self) {
        self.locked(|core, now| core.advance(now));
    }
}
