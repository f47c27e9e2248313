//! What a trace is: a configuration, and steps with what is expected of them.

use std::{fmt, time::Duration};

use breaker_core::{
    Circuit,
    config::{Blueprint, Fault},
};
use serde::{Deserialize, Serialize};

/// One trace, ready to be replayed.
#[derive(Debug)]
pub struct Scenario {
    pub name: String,
    pub source: Option<String>,
    /// Its file and line.
    pub place: String,
    pub strategy: Blueprint,
    /// Keys of its configuration that were passed over.
    pub warnings: Vec<Fault>,
    pub steps: Vec<Step>,
}

impl Scenario {
    pub fn expects_anything(&self) -> bool {
        self.steps.iter().any(|step| step.expected != Expected::default())
    }
}

/// Something happens, or is only looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub op: Op,
    /// The number of the call, for the ops of calls; else 0.
    pub call: u64,
    /// How far the clock moves; zero but for `advance`.
    pub span: Duration,
    /// How long the call took, where somebody measured it.
    pub latency: Option<Duration>,
    pub expected: Expected,
}

/// What a step shows; what is `None` is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    pub state: Option<Circuit>,
    pub permitted: Option<bool>,
    pub calls: Option<u32>,
    pub failures: Option<u32>,
    pub stale: Option<bool>,
    pub count: Option<u64>,
    pub transitions: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    Acquire,
    Success,
    Failure,
    Cancel,
    Advance,
    ProbeSuccess,
    ProbeFailure,
    State,
    Count,
    Stale,
    Events,
    Reset,
    ForceOpen,
    WallClockJump,
}

impl Op {
    /// Whether it is about a call.
    pub fn has_call(self) -> bool {
        self == Self::Acquire || self.ends_call()
    }

    /// Whether it gives the permit of a call back.
    pub fn ends_call(self) -> bool {
        matches!(self, Self::Success | Self::Failure | Self::Cancel)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
