//! How probes are spread in time.

use std::time::Duration;

/// The part of an interval by which rounds come sooner or later.
const JITTER: f64 = 0.2;

pub(super) struct Spread {
    /// How many rounds may run at a time.
    pub(super) at_once: usize,
    /// Circuits that are to be tried at once and have not been yet.
    fresh: usize,
    rng: fastrand::Rng,
}

impl Spread {
    pub(super) fn new(at_once: usize, rng: fastrand::Rng) -> Self {
        Self { at_once, fresh: 0, rng }
    }

    /// The span to the next round.
    pub(super) fn jittered(&mut self, interval: Duration) -> Duration {
        interval.mul_f64(1.0 - JITTER + 2.0 * JITTER * self.rng.f64())
    }

    /// Takes a place among the circuits that are to be tried at once, and says how long to wait: not at all
    /// when it is the only one, at random up to an interval when there are more than may be tried at a time.
    pub(super) fn join_fresh(&mut self, interval: Duration) -> Duration {
        let before = self.fresh;
        self.fresh += 1;
        #[expect(clippy::cast_precision_loss, reason = "a share for a random delay")]
        let crowd = (before as f64 / self.at_once as f64).min(1.0);
        interval.mul_f64(crowd * self.rng.f64())
    }

    /// Gives the place back: the circuit is being tried, or need not be.
    pub(super) fn leave_fresh(&mut self) {
        self.fresh -= 1;
    }
}
