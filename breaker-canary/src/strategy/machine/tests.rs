//! One file for each part of the rules.

mod closed;
mod evidence;
mod half_open;
mod open;
mod time;

use std::time::Duration;

use breaker_core::config::StrategyConfig;
use serde_json::json;

use super::*;
use crate::CanaryRateThreshold;

const SUCCESS: Outcome = Outcome::Success;
const FAILURE: Outcome = Outcome::Failure;

const OPEN: State = State::Open { until: None };
const HALF_OPEN: State = State::HalfOpen { until: None };

/// Drives a strategy as a breaker does.
struct Circuit {
    strategy: Box<dyn Strategy>,
}

impl Circuit {
    /// In its start state at 0 s.
    fn new(block: Value) -> Self {
        let config = CanaryRateThreshold::from_keys(serde_json::from_value(block).unwrap()).unwrap();
        Self { strategy: config.build(secs(0)) }
    }

    fn state(&self) -> State {
        self.strategy.state()
    }

    fn tick(&mut self, at: Timestamp) -> Tick {
        self.strategy.tick(&at.into())
    }

    fn acquire(&mut self, at: Timestamp) -> bool {
        let _ = self.tick(at);
        self.strategy.admit(&at.into())
    }

    fn end(&mut self, outcome: Outcome, at: Timestamp) -> State {
        self.report(&Report::new(outcome), at)
    }

    fn end_after(&mut self, outcome: Outcome, took_millis: u64, at: Timestamp) -> State {
        self.report(&Report::new(outcome).with_latency(Some(Duration::from_millis(took_millis))), at)
    }

    fn report(&mut self, report: &Report, at: Timestamp) -> State {
        let _ = self.tick(at);
        self.strategy.settle(report, &at.into());
        self.state()
    }

    /// A number of results, one after another.
    fn results(&mut self, outcome: Outcome, count: u32, at: Timestamp) -> State {
        for _ in 0..count {
            self.end(outcome, at);
        }
        self.state()
    }

    /// A number of whole calls, one after another, for a half-open circuit.
    fn calls(&mut self, outcome: Outcome, count: u32, at: Timestamp) -> State {
        for _ in 0..count {
            assert!(self.acquire(at), "a place for each call");
            self.end(outcome, at);
        }
        self.state()
    }

    fn probe(&mut self, healthy: bool, at: Timestamp) -> State {
        let _ = self.tick(at);
        self.strategy.probed(healthy, &at.into());
        self.state()
    }
}

fn secs(secs: u64) -> Timestamp {
    Timestamp::from_secs(secs)
}

fn millis(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn tally(calls: u32, failures: u32) -> Tally {
    Tally { calls, failures, slow: 0 }
}

/// The default settings, but closed at the start.
fn closed() -> Circuit {
    Circuit::new(json!({ "initialState": "closed" }))
}

/// The default settings, half-open at 0 s.
fn half_open() -> Circuit {
    let mut circuit = Circuit::new(json!({}));
    circuit.probe(true, secs(0));
    circuit
}

#[test]
fn a_circuit_takes_little_room() {
    assert!(size_of::<Machine>() <= 104, "{}", size_of::<Machine>());
}
