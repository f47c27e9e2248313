//! The strategy that is none.

use crate::{Now, Report, State, Strategy, Tick};

/// Admits every call, records nothing, is always closed. What a file calls `NON_RESILIENT`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AlwaysClosed;

impl Strategy for AlwaysClosed {
    fn state(&self) -> State {
        State::Closed
    }

    fn tick(&mut self, _: &Now<'_>) -> Tick {
        Tick::SameEpoch
    }

    fn admit(&mut self, _: &Now<'_>) -> bool {
        true
    }

    fn settle(&mut self, _: &Report, _: &Now<'_>) {}

    fn steady(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, Tally, Timestamp};

    #[test]
    fn a_thousand_failures_change_nothing() {
        let mut strategy = AlwaysClosed;
        let now = Timestamp::from_secs(1).into();
        for _ in 0..1_000 {
            assert!(strategy.admit(&now));
            strategy.settle(&Report::new(Outcome::Failure), &now);
        }
        assert_eq!(strategy.state(), State::Closed);
        assert_eq!(strategy.tally(Timestamp::from_secs(1)), Tally::default());
        assert!(strategy.steady());
    }
}
