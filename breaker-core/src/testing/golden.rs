//! Traces with known answers.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Act, Bench};
use crate::{
    Circuit, Outcome,
    config::{Blueprint, StrategyConfig},
};

/// Replays recorded traces, one a line, on circuits of `C`, and says how many there were.
///
/// # Panics
///
/// With every step that showed something else than it expects; or where a line is not a trace of `C`.
pub fn replay<C: StrategyConfig>(traces: &str) -> usize {
    let mut mismatches = Vec::new();
    for line in traces.lines() {
        let trace: Recorded = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let keys = serde_json::from_value(Value::Object(trace.config));
        let config = C::from_keys(keys.unwrap_or_else(|error| panic!("{}: {error}", trace.name)));
        let config = config.unwrap_or_else(|error| panic!("{}: {error}", trace.name));
        let mut bench = Bench::new(&Blueprint::new(config));
        for (index, step) in trace.steps.iter().enumerate() {
            let got = step.on(&mut bench);
            if got.differs(&step.expected) {
                let (name, number, op, wanted) = (&trace.name, index + 1, &step.op, &step.expected);
                mismatches.push(format!("{name}, step {number} ({op}): expected {wanted:?}, got {got:?}"));
            }
        }
    }
    assert!(mismatches.is_empty(), "{} mismatches:\n{}", mismatches.len(), mismatches.join("\n"));
    traces.lines().count()
}

#[derive(Deserialize)]
struct Recorded {
    name: String,
    config: Map<String, Value>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    op: String,
    #[serde(default)]
    call: u64,
    #[serde(default)]
    ms: i64,
    latency_ms: Option<u64>,
    #[serde(flatten)]
    expected: Expected,
}

/// What a step shows; what is `None` is not looked at.
#[derive(Clone, Debug, Deserialize)]
struct Expected {
    state: Option<Circuit>,
    permitted: Option<bool>,
    calls: Option<u32>,
    failures: Option<u32>,
    #[serde(default)]
    stale: bool,
    count: Option<u64>,
    transitions: Option<Vec<String>>,
}

impl Step {
    /// `None` for the steps that only look.
    fn act(&self) -> Option<Act> {
        let latency = self.latency_ms.map(Duration::from_millis);
        let settle = |outcome| Some(Act::Settle { call: self.call, outcome, latency });
        match self.op.as_str() {
            "acquire" => Some(Act::Acquire(self.call)),
            "success" => settle(Outcome::Success),
            "failure" => settle(Outcome::Failure),
            "cancel" => settle(Outcome::Cancelled),
            "advance" => Some(Act::Advance(Duration::from_millis(self.ms.unsigned_abs()))),
            "probe_success" => Some(Act::Probe(true)),
            "probe_failure" => Some(Act::Probe(false)),
            "reset" => Some(Act::Reset),
            "force_open" => Some(Act::ForceOpen),
            "state" | "count" | "stale" | "events" | "wall_clock_jump" => None,
            op => panic!("unknown op {op:?}"),
        }
    }

    fn on(&self, bench: &mut Bench) -> Expected {
        let seen = bench.step(self.act().unwrap_or(Act::Advance(Duration::ZERO)));
        Expected {
            state: Some(seen.circuit),
            permitted: seen.permitted,
            calls: Some(seen.tally.calls),
            failures: Some(seen.tally.failures),
            stale: seen.stale == Some(true),
            count: Some(bench.breaker().snapshot().stale),
            transitions: Some(bench.transitions()),
        }
    }
}

impl Expected {
    fn differs(&self, wanted: &Self) -> bool {
        fn other<T: PartialEq>(got: &Option<T>, wanted: &Option<T>) -> bool {
            wanted.is_some() && got != wanted
        }
        other(&self.state, &wanted.state)
            || other(&self.permitted, &wanted.permitted)
            || other(&self.calls, &wanted.calls)
            || other(&self.failures, &wanted.failures)
            || other(&self.count, &wanted.count)
            || other(&self.transitions, &wanted.transitions)
            || self.stale != wanted.stale
    }
}
