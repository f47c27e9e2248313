//! Steps of a trace, and how they are written.

use std::{fmt, time::Duration};

use serde_json::{Map, Value, json};

use super::Seen;
use crate::{Outcome, config::Blueprint};

/// One thing that happens to a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Act {
    /// A call asks to pass. The number tells it from the others that are out.
    Acquire(u64),
    /// A call that was admitted ends.
    Settle {
        /// Its number.
        call: u64,
        /// What became of it.
        outcome: Outcome,
        /// How long it took, if that is not to be taken from the clock.
        latency: Option<Duration>,
    },
    /// Time passes.
    Advance(Duration),
    /// A probe is made, if the circuit wants one, and was healthy or not.
    Probe(bool),
    /// The circuit is reset.
    Reset,
    /// The circuit is forced open.
    ForceOpen,
}

impl Act {
    /// The act's name in a trace.
    pub const fn op(self) -> &'static str {
        match self {
            Self::Acquire(_) => "acquire",
            Self::Settle { outcome: Outcome::Success, .. } => "success",
            Self::Settle { outcome: Outcome::Failure, .. } => "failure",
            Self::Settle { outcome: Outcome::Ignored | Outcome::Cancelled, .. } => "cancel",
            Self::Advance(_) => "advance",
            Self::Probe(true) => "probe_success",
            Self::Probe(false) => "probe_failure",
            Self::Reset => "reset",
            Self::ForceOpen => "force_open",
        }
    }

    fn to_json(self) -> Map<String, Value> {
        let mut step = Map::new();
        step.insert("op".into(), self.op().into());
        match self {
            Self::Acquire(call) => drop(step.insert("call".into(), call.into())),
            Self::Settle { call, latency, outcome } => {
                step.insert("call".into(), call.into());
                if let (Some(latency), Outcome::Success | Outcome::Failure) = (latency, outcome) {
                    step.insert("latency_ms".into(), millis(latency).into());
                }
            }
            Self::Advance(span) => drop(step.insert("ms".into(), millis(span).into())),
            Self::Probe(_) | Self::Reset | Self::ForceOpen => {}
        }
        step
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// What was done to a circuit, and what should have been seen. Displays as the line of JSON that the program `replay`
/// takes. Traces know whole milliseconds, and one word for what is cancelled or ignored.
#[derive(Clone, Debug)]
pub struct Trace {
    name: String,
    config: Map<String, Value>,
    steps: Vec<Map<String, Value>>,
}

impl Trace {
    /// An empty trace of circuits that follow `blueprint`.
    pub fn new(name: impl Into<String>, blueprint: &Blueprint) -> Self {
        Self { name: name.into(), config: blueprint.effective(), steps: Vec::new() }
    }

    /// Adds a step of which nothing is expected.
    pub fn push(&mut self, act: Act) {
        self.steps.push(act.to_json());
    }

    /// Adds a step that should have shown `expected`.
    pub fn push_expecting(&mut self, act: Act, expected: &Seen) {
        let mut step = act.to_json();
        step.insert("state".into(), expected.circuit.to_string().into());
        step.insert("calls".into(), expected.tally.calls.into());
        step.insert("failures".into(), expected.tally.failures.into());
        if let Some(permitted) = expected.permitted {
            step.insert("permitted".into(), permitted.into());
        }
        if let Some(stale) = expected.stale {
            step.insert("stale".into(), stale.into());
        }
        self.steps.push(step);
    }

    /// How many steps it has.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", json!({ "name": self.name, "config": self.config, "steps": self.steps }))
    }
}
