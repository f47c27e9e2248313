//! A strategy that does as little as can be: its half-open state has a number of places.

use std::time::Duration;

use breaker_core::{
    Now, Outcome, Report, State, Strategy, Tick, Timestamp,
    config::{NonResilient, StrategyConfig, Violations},
};
use serde::Serialize;

/// How long an open circuit stays open.
pub(crate) const DELAY: Duration = Duration::from_secs(10);

/// Any failure opens; after [`DELAY`] half-open with so many places in flight; `successes` of them close.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Places {
    pub(crate) places: u32,
    pub(crate) successes: u32,
    /// Whether it says so when all places are taken; if not, it is asked each time.
    pub(crate) tells_full: bool,
}

impl StrategyConfig for Places {
    const NAME: &'static str = "PLACES";
    type Keys = NonResilient;

    fn from_keys(_: NonResilient) -> Result<Self, Violations> {
        Ok(Self { places: 1, successes: 1, tells_full: true })
    }

    fn build(&self, _: Timestamp) -> Box<dyn Strategy> {
        Box::new(Machine { settings: self.clone(), state: State::Closed, out: 0, successes: 0 })
    }
}

#[derive(Debug)]
struct Machine {
    settings: Places,
    state: State,
    out: u32,
    successes: u32,
}

impl Machine {
    fn enter(&mut self, state: State) {
        (self.state, self.out, self.successes) = (state, 0, 0);
    }
}

impl Strategy for Machine {
    fn state(&self) -> State {
        self.state
    }

    fn tick(&mut self, now: &Now<'_>) -> Tick {
        if self.state.until().is_some_and(|until| now.get() >= until) {
            self.enter(State::HalfOpen { until: None });
        }
        Tick::SameEpoch
    }

    fn admit(&mut self, _: &Now<'_>) -> bool {
        let free = self.out < self.settings.places;
        self.out += u32::from(free);
        free
    }

    fn settle(&mut self, report: &Report, now: &Now<'_>) {
        self.out = self.out.saturating_sub(1);
        match (self.state, report.outcome) {
            (_, Outcome::Failure) => self.enter(State::Open { until: Some(now.get() + DELAY) }),
            (State::HalfOpen { .. }, Outcome::Success) => {
                self.successes += 1;
                if self.successes == self.settings.successes {
                    self.enter(State::Closed);
                }
            }
            _ => {}
        }
    }

    fn full(&self) -> bool {
        self.settings.tells_full && self.out >= self.settings.places
    }
}
