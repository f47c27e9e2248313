//! Where an instant and a latency lie in a picture. All pictures of a page share the axes, so that they
//! can be compared by eye.

use std::time::Duration;

use crate::{clock::micros, outcome::Outcome};

/// Width of a picture, in its own units.
pub const WIDTH: f64 = 1_120.0;
/// Left of it stand the names and the figures of the y axis.
pub const LEFT: f64 = 62.0;
/// Right edge of what is drawn.
pub const RIGHT: f64 = WIDTH - 12.0;
/// Upper edge of the latency picture.
pub const TOP: f64 = 14.0;
/// Lower edge of the latency picture.
pub const BOTTOM: f64 = 234.0;

/// The shortest latency that the y axis shows; shorter ones are drawn there.
const FASTEST: f64 = 1_000.0;

/// Linear time to the right, logarithmic latency upwards.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    length: f64,
    slowest: f64,
}

impl Scale {
    /// Holds every request of every run.
    pub fn of(length: Duration, outcomes: &[Outcome]) -> Self {
        let samples = outcomes.iter().flat_map(|outcome| &outcome.samples);
        let slowest = samples.map(|sample| sample.latency).max().unwrap_or_default();
        let slowest = steps().find(|&step| step >= slowest.max(200_000)).unwrap_or(u64::MAX);
        Self { length: micros(length).max(1) as f64, slowest: slowest as f64 }
    }

    /// Where the instant `at` (microseconds) lies.
    pub fn x(&self, at: u64) -> f64 {
        LEFT + (at as f64 / self.length).min(1.0) * (RIGHT - LEFT)
    }

    /// Where the latency `us` (microseconds) lies.
    pub fn y(&self, us: u64) -> f64 {
        let share = (us as f64 / FASTEST).ln() / (self.slowest / FASTEST).ln();
        BOTTOM - share.clamp(0.0, 1.0) * (BOTTOM - TOP)
    }

    /// The latencies that have a line of their own: 1, 2, 5, 10 … ms.
    pub fn latencies(&self) -> impl Iterator<Item = u64> + use<> {
        let slowest = self.slowest;
        steps().take_while(move |&step| step as f64 <= slowest)
    }

    /// The whole seconds.
    pub fn seconds(&self) -> impl Iterator<Item = u64> + use<> {
        let length = self.length;
        (0..).take_while(move |&second| (second * 1_000_000) as f64 <= length)
    }
}

/// 1, 2, 5, 10, 20, 50 … ms, up to 1,000 s.
fn steps() -> impl Iterator<Item = u64> {
    (3..9).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{kind::RunKind, outcome::tests::outcome};

    #[test]
    fn the_axes_hold_the_slowest_request_of_all_runs() {
        let outcomes = [outcome(RunKind::Quiet, 1..=5), outcome(RunKind::Plain, 1..=300_000)];
        let scale = Scale::of(Duration::from_secs(10), &outcomes);
        assert_eq!(scale.y(500_000), TOP);
        assert_eq!(scale.latencies().last(), Some(500_000));
        assert_eq!([0, 1_000].map(|us| scale.y(us)), [BOTTOM, BOTTOM]);
        assert_eq!([0, 10_000_000].map(|at| scale.x(at)), [LEFT, RIGHT]);
        assert_eq!(scale.seconds().count(), 11);
    }
}
