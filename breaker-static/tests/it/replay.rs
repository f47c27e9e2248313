//! Replays recorded traces on a strategy, with nothing around it but an epoch.

use std::{collections::HashMap, time::Duration};

use breaker_core::{
    Circuit, Outcome, Report, State, Strategy, Tick, Timestamp,
    config::{Blueprint, StrategyConfig},
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Replays every trace of a file (one a line) and says how many there were. Panics with all mismatches.
pub(crate) fn replay<C: StrategyConfig>(traces: &str) -> usize {
    let mut mismatches = Vec::new();
    let mut count = 0;
    for line in traces.lines() {
        let trace: Trace = serde_json::from_str(line).expect("a trace");
        let keys = serde_json::from_value(Value::Object(trace.config)).expect("keys");
        let config = C::from_keys(keys).expect("valid settings");
        let mut driver = Driver::new(&Blueprint::new(config));
        for (number, step) in trace.steps.into_iter().enumerate() {
            let wanted = step.expect.clone();
            let got = driver.step(&step);
            if got.differs(&wanted) {
                mismatches.push(format!(
                    "{} step {number} {}: wanted {wanted:?}, got {got:?}",
                    trace.name, step.op
                ));
            }
        }
        count += 1;
    }
    assert!(mismatches.is_empty(), "{} mismatches:\n{}", mismatches.len(), mismatches.join("\n"));
    count
}

#[derive(Deserialize)]
struct Trace {
    name: String,
    config: Map<String, Value>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    op: String,
    call: Option<u64>,
    ms: Option<u64>,
    latency_ms: Option<u64>,
    #[serde(flatten)]
    expect: Expect,
}

/// What a step shows; what is `None` is not looked at.
#[derive(Clone, Debug, Default, Deserialize)]
struct Expect {
    state: Option<Circuit>,
    permitted: Option<bool>,
    calls: Option<u32>,
    failures: Option<u32>,
    #[serde(default)]
    stale: bool,
    count: Option<usize>,
    transitions: Option<Vec<String>>,
}

impl Expect {
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

struct Driver {
    strategy: Box<dyn Strategy>,
    now: Timestamp,
    epoch: u32,
    circuit: Circuit,
    /// The epoch that each call which is out was admitted in.
    calls: HashMap<u64, u32>,
    stale: usize,
    transitions: Vec<String>,
}

impl Driver {
    fn new(blueprint: &Blueprint) -> Self {
        let strategy = blueprint.build(Timestamp::ZERO);
        let circuit = strategy.state().circuit();
        let (calls, transitions) = (HashMap::new(), Vec::new());
        Self { strategy, now: Timestamp::ZERO, epoch: 0, circuit, calls, stale: 0, transitions }
    }

    fn step(&mut self, step: &Step) -> Expect {
        let mut permitted = None;
        let mut stale = false;
        let call = step.call.unwrap_or_default();
        match step.op.as_str() {
            "advance" => self.now = self.now + Duration::from_millis(step.ms.expect("ms")),
            "acquire" => permitted = Some(self.acquire(call)),
            "success" => stale = self.settle(call, Outcome::Success, step.latency_ms),
            "failure" => stale = self.settle(call, Outcome::Failure, step.latency_ms),
            "cancel" => stale = self.settle(call, Outcome::Cancelled, None),
            "probe_success" => self.probe(true),
            "probe_failure" => self.probe(false),
            "state" | "count" | "stale" | "events" | "wall_clock_jump" => {}
            op => panic!("unknown op {op}"),
        }
        let tally = self.strategy.tally(self.now);
        Expect {
            state: Some(self.strategy.state_at(self.now).circuit()),
            permitted,
            calls: Some(tally.calls),
            failures: Some(tally.failures),
            stale,
            count: Some(self.stale),
            transitions: Some(self.transitions.clone()),
        }
    }

    fn acquire(&mut self, call: u64) -> bool {
        self.tick();
        let permitted = match self.strategy.state() {
            State::Closed => true,
            State::HalfOpen { .. } => !self.strategy.full() && self.strategy.admit(&self.now.into()),
            State::Open { .. } => false,
        };
        self.observe(Tick::SameEpoch);
        if permitted {
            self.calls.insert(call, self.epoch);
        }
        permitted
    }

    fn settle(&mut self, call: u64, outcome: Outcome, latency_ms: Option<u64>) -> bool {
        self.tick();
        let epoch = self.calls.remove(&call).expect("a call that is out");
        if epoch != self.epoch {
            self.stale += 1;
            return true;
        }
        let report = Report::new(outcome).with_latency(latency_ms.map(Duration::from_millis));
        self.strategy.settle(&report, &self.now.into());
        self.observe(Tick::SameEpoch);
        false
    }

    fn probe(&mut self, healthy: bool) {
        self.tick();
        if matches!(self.strategy.state(), State::Open { .. }) {
            self.strategy.probed(healthy, &self.now.into());
            self.observe(Tick::SameEpoch);
        }
    }

    fn tick(&mut self) {
        while self.strategy.state().until().is_some_and(|until| self.now >= until) {
            let tick = self.strategy.tick(&self.now.into());
            self.observe(tick);
        }
    }

    fn observe(&mut self, tick: Tick) {
        let circuit = self.strategy.state().circuit();
        if circuit != self.circuit {
            self.transitions.push(format!("{}>{circuit}", self.circuit));
        }
        if circuit != self.circuit || tick == Tick::NewEpoch {
            self.epoch += 1;
        }
        self.circuit = circuit;
    }
}
