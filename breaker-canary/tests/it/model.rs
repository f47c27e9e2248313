//! The strategy against a model that forgets nothing: what happened in an epoch is a list, and every answer is worked out
//! from the whole list again.

use std::{collections::HashMap, time::Duration};

use breaker_canary::{CanaryRateThreshold, CanaryRateThresholdKeys, InitialState, SlidingWindowType};
use breaker_core::{
    Circuit, Outcome, Tally,
    config::Blueprint,
    testing::{Act, Bench, Seen, Trace},
};
use proptest::prelude::*;

/// Settings in milliseconds, counts and whole percentages.
#[derive(Clone, Debug)]
struct Rules {
    starts_open: bool,
    by_time: bool,
    size: u32,
    minimum: u32,
    rate: u32,
    half_open_rate: u32,
    slow: Option<(u32, u64)>,
    permitted: u32,
    wait: Option<u64>,
    longest_half_open: Option<u64>,
    lease: u64,
}

impl Rules {
    fn blueprint(&self) -> Blueprint {
        let span = |ms| Duration::from_millis(ms).into();
        let keys = CanaryRateThresholdKeys {
            initial_state: Some(if self.starts_open { InitialState::Open } else { InitialState::Closed }),
            sliding_window_type: Some(if self.by_time {
                SlidingWindowType::TimeBased
            } else {
                SlidingWindowType::CountBased
            }),
            sliding_window_size: Some(self.size),
            minimum_number_of_calls: Some(self.minimum),
            failure_rate_threshold: Some(self.rate.into()),
            half_open_failure_rate_threshold: Some(self.half_open_rate.into()),
            slow_call_rate_threshold: self.slow.map(|(rate, _)| rate.into()),
            slow_call_duration_threshold: self.slow.map(|(_, from)| span(from)),
            permitted_number_of_calls_in_half_open_state: Some(self.permitted),
            wait_duration_in_open_state: self.wait.map(span),
            max_wait_duration_in_half_open_state: self.longest_half_open.map(span),
            half_open_permit_lease: Some(span(self.lease)),
            ..CanaryRateThresholdKeys::default()
        };
        Blueprint::new(CanaryRateThreshold::try_from(keys).expect("valid settings"))
    }

    fn too_many(&self, tally: Tally, rate: u32) -> bool {
        let reached = |count, rate| count * 100 >= rate * tally.calls;
        reached(tally.failures, rate) || self.slow.is_some_and(|(rate, _)| reached(tally.slow, rate))
    }
}

/// What happened in one epoch, oldest first.
#[derive(Clone, Debug)]
struct Epoch {
    number: u64,
    circuit: Circuit,
    since: u64,
    happened: Vec<(u64, Happened)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Happened {
    Admitted,
    Dropped,
    Result { failed: bool, slow: bool },
}

#[derive(Clone)]
struct Model {
    rules: Rules,
    now: u64,
    present: Epoch,
    /// In which epoch each call that is out was admitted.
    calls: HashMap<u64, u64>,
}

impl Model {
    fn new(rules: Rules) -> Self {
        let circuit = if rules.starts_open { Circuit::Open } else { Circuit::Closed };
        let present = Epoch { number: 0, circuit, since: 0, happened: Vec::new() };
        Self { rules, now: 0, present, calls: HashMap::new() }
    }

    fn step(&mut self, act: Act) -> Seen {
        let (mut permitted, mut stale) = (None, None);
        if !matches!(act, Act::Advance(_)) {
            self.catch_up();
        }
        match act {
            Act::Advance(span) => self.now += span.as_millis() as u64,
            Act::Acquire(call) => permitted = Some(self.acquire(call)),
            Act::Probe(true) if self.present.circuit == Circuit::Open => {
                self.enter(Circuit::HalfOpen, self.now)
            }
            Act::Settle { call, outcome, latency } => {
                let epoch = self.calls.remove(&call);
                stale = epoch.map(|epoch| epoch != self.present.number);
                if stale == Some(false) {
                    self.settle(outcome, latency.unwrap_or_default().as_millis() as u64);
                }
            }
            _ => {}
        }
        let mut due = self.clone();
        due.catch_up();
        Seen { circuit: due.present.circuit, tally: due.tally(), permitted, stale }
    }

    fn enter(&mut self, circuit: Circuit, since: u64) {
        let number = self.present.number + 1;
        self.present = Epoch { number, circuit, since, happened: Vec::new() };
    }

    fn note(&mut self, what: Happened) {
        self.present.happened.push((self.now, what));
    }

    fn count(&self, what: Happened) -> u32 {
        self.present.happened.iter().filter(|(_, happened)| *happened == what).count() as u32
    }

    /// Places that are gone in this half-open state.
    fn taken(&self) -> u32 {
        self.count(Happened::Admitted) - self.count(Happened::Dropped)
    }

    /// What time alone does next, and when.
    fn next(&self) -> Option<(u64, Circuit)> {
        let Epoch { circuit, since, happened, .. } = &self.present;
        match circuit {
            Circuit::Closed => None,
            Circuit::Open => Some((since + self.rules.wait?, Circuit::HalfOpen)),
            Circuit::HalfOpen => match self.rules.longest_half_open {
                Some(longest) => Some((since + longest, Circuit::Open)),
                None if self.taken() < self.rules.permitted => None,
                None => {
                    let news = happened.iter().rev().find(|(_, what)| *what != Happened::Dropped);
                    Some((news.map_or(*since, |(at, _)| *at) + self.rules.lease, Circuit::HalfOpen))
                }
            },
        }
    }

    fn catch_up(&mut self) {
        while let Some((at, circuit)) = self.next().filter(|(at, _)| self.now >= *at) {
            self.enter(circuit, at);
        }
    }

    fn acquire(&mut self, call: u64) -> bool {
        let permitted = match self.present.circuit {
            Circuit::Closed => true,
            Circuit::Open => false,
            Circuit::HalfOpen => self.taken() < self.rules.permitted,
        };
        if permitted {
            self.note(Happened::Admitted);
            self.calls.insert(call, self.present.number);
        }
        permitted
    }

    fn settle(&mut self, outcome: Outcome, millis: u64) {
        let failed = match outcome {
            Outcome::Success => false,
            Outcome::Failure => true,
            Outcome::Ignored | Outcome::Cancelled => return self.note(Happened::Dropped),
        };
        let slow = self.rules.slow.is_some_and(|(_, from)| millis >= from);
        self.note(Happened::Result { failed, slow });
        let tally = self.tally();
        match self.present.circuit {
            Circuit::Closed
                if tally.calls >= self.rules.minimum && self.rules.too_many(tally, self.rules.rate) =>
            {
                self.enter(Circuit::Open, self.now);
            }
            Circuit::HalfOpen if tally.calls == self.rules.minimum.min(self.rules.permitted) => {
                let failed = self.rules.too_many(tally, self.rules.half_open_rate);
                self.enter(if failed { Circuit::Open } else { Circuit::Closed }, self.now);
            }
            _ => {}
        }
    }

    /// The results that count now.
    fn tally(&self) -> Tally {
        let closed = self.present.circuit == Circuit::Closed;
        let size = u64::from(self.rules.size);
        let results = self.present.happened.iter().rev().filter_map(|(at, what)| match what {
            Happened::Result { failed, slow } => Some((*at, *failed, *slow)),
            _ => None,
        });
        let counts = results.enumerate().filter(|(nth, (at, ..))| match self.rules.by_time {
            _ if !closed => true,
            true => at / 1_000 + size > self.now / 1_000,
            false => (*nth as u64) < size,
        });
        counts.fold(Tally::default(), |tally, (_, (_, failed, slow))| Tally {
            calls: tally.calls + 1,
            failures: tally.failures + u32::from(failed),
            slow: tally.slow + u32::from(slow),
        })
    }
}

fn rules() -> impl Strategy<Value = Rules> {
    let windows = (any::<bool>(), any::<bool>(), 1_u32..8, 0_u32..8);
    let rates = (1_u32..=100, 1_u32..=100, prop::option::of((1_u32..=100, 1_u64..3_000)));
    let spans = (prop::option::of(100_u64..5_000), prop::option::of(100_u64..5_000), 1_u64..5_000);
    (windows, rates, 1_u32..5, spans).prop_map(
        |((starts_open, by_time, minimum, more), (rate, half_open_rate, slow), permitted, spans)| {
            let (wait, longest_half_open, lease) = spans;
            // A window of seconds may hold more calls than it has seconds.
            let size = if by_time { 1 + more } else { minimum + more };
            Rules {
                starts_open,
                by_time,
                size,
                minimum,
                rate,
                half_open_rate,
                slow,
                permitted,
                wait,
                longest_half_open,
                lease,
            }
        },
    )
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let outcome = prop_oneof![
        5 => Just(Outcome::Success), 3 => Just(Outcome::Failure),
        1 => Just(Outcome::Ignored), 1 => Just(Outcome::Cancelled),
    ];
    let settle =
        |(call, outcome, millis)| Act::Settle { call, outcome, latency: Some(Duration::from_millis(millis)) };
    let act = prop_oneof![
        6 => (0_u64..8).prop_map(Act::Acquire),
        6 => (0_u64..8, outcome, 0_u64..4_000).prop_map(settle),
        2 => (0_u64..4_000).prop_map(|ms| Act::Advance(Duration::from_millis(ms))),
        1 => any::<bool>().prop_map(Act::Probe),
    ];
    prop::collection::vec(act, 0..150)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_answer_is_what_the_whole_history_says(rules in rules(), acts in acts()) {
        let blueprint = rules.blueprint();
        let (mut bench, mut model) = (Bench::new(&blueprint), Model::new(rules));
        let mut trace = Trace::new("differs from the model", &blueprint);
        for act in acts {
            // What is no call that is out, or is one already, is not a step of a trace.
            let known = match act {
                Act::Acquire(call) => !bench.calls().any(|out| out == call),
                Act::Settle { call, .. } => bench.calls().any(|out| out == call),
                _ => true,
            };
            if !known {
                continue;
            }
            let expected = model.step(act);
            trace.push_expecting(act, &expected);
            prop_assert_eq!(bench.step(act), expected, "{}", trace);
        }
    }
}
