//! The strategy against a model that forgets nothing: the results of an epoch are a list, and every answer is worked out
//! from the whole list again.

use std::{collections::HashMap, time::Duration};

use breaker_core::{
    Circuit, Outcome, Tally,
    config::Blueprint,
    testing::{Act, Bench, Seen, Trace},
};
use breaker_static::{StaticThreshold, StaticThresholdKeys};
use proptest::prelude::*;

/// Settings in milliseconds and counts.
#[derive(Clone, Debug)]
struct Rules {
    failures: u32,
    capacity: u32,
    successes: u32,
    delay: u64,
    longest_delay: u64,
    lease: u64,
}

impl Rules {
    fn blueprint(&self) -> Blueprint {
        let span = |ms| Some(Duration::from_millis(ms).into());
        let keys = StaticThresholdKeys {
            failure_threshold: Some(self.failures),
            failure_threshold_capacity: Some(self.capacity),
            success_threshold: Some(self.successes),
            test_delay: span(self.delay),
            max_test_delay: span(self.longest_delay),
            half_open_permit_lease: span(self.lease),
        };
        Blueprint::new(StaticThreshold::try_from(keys).expect("valid settings"))
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
    Settled(Outcome),
}

struct Model {
    rules: Rules,
    now: u64,
    /// All epochs that ever were; the last one is the present one.
    epochs: Vec<Epoch>,
    /// In which epoch each call that is out was admitted.
    calls: HashMap<u64, u64>,
}

impl Model {
    fn new(rules: Rules) -> Self {
        let first = Epoch { number: 0, circuit: Circuit::Closed, since: 0, happened: Vec::new() };
        Self { rules, now: 0, epochs: vec![first], calls: HashMap::new() }
    }

    fn step(&mut self, act: Act) -> Seen {
        let (mut permitted, mut stale) = (None, None);
        if !matches!(act, Act::Advance(_)) {
            self.catch_up();
        }
        match act {
            Act::Advance(span) => self.now += span.as_millis() as u64,
            Act::Acquire(call) => permitted = Some(self.acquire(call)),
            Act::Settle { call, outcome, .. } => {
                if let Some(epoch) = self.calls.remove(&call) {
                    stale = Some(epoch != self.present().number);
                    if stale == Some(false) {
                        self.settle(outcome);
                    }
                }
            }
            _ => {}
        }
        let (circuit, tally) = self.reading();
        Seen { circuit, tally, permitted, stale }
    }

    fn present(&self) -> &Epoch {
        self.epochs.last().expect("never empty")
    }

    fn enter(&mut self, circuit: Circuit, since: u64) {
        let number = self.present().number + 1;
        self.epochs.push(Epoch { number, circuit, since, happened: Vec::new() });
    }

    fn note(&mut self, what: Happened) {
        let now = self.now;
        self.epochs.last_mut().expect("never empty").happened.push((now, what));
    }

    fn count(&self, what: Happened) -> u32 {
        self.present().happened.iter().filter(|(_, happened)| *happened == what).count() as u32
    }

    /// Half-open calls that are out.
    fn out(&self) -> u32 {
        let settled = |happened: &&(u64, Happened)| matches!(happened.1, Happened::Settled(_));
        self.count(Happened::Admitted) - self.present().happened.iter().filter(settled).count() as u32
    }

    /// How often in a row the circuit has opened: since it was closed last.
    fn delay(&self) -> u64 {
        let since_closed = self.epochs.iter().rev().take_while(|epoch| epoch.circuit != Circuit::Closed);
        let trips = since_closed.filter(|epoch| epoch.circuit == Circuit::Open).count() as u32;
        (self.rules.delay << (trips - 1)).min(self.rules.longest_delay)
    }

    /// When time alone ends the present state.
    fn deadline(&self) -> Option<u64> {
        let epoch = self.present();
        match epoch.circuit {
            Circuit::Closed => None,
            Circuit::Open => Some(epoch.since + self.delay()),
            Circuit::HalfOpen if self.out() < self.rules.successes => None,
            Circuit::HalfOpen => {
                let dropped = [Happened::Settled(Outcome::Cancelled), Happened::Settled(Outcome::Ignored)];
                let news = epoch.happened.iter().rev().find(|(_, what)| !dropped.contains(what));
                Some(news.map_or(epoch.since, |(at, _)| *at) + self.rules.lease)
            }
        }
    }

    fn catch_up(&mut self) {
        while let Some(deadline) = self.deadline().filter(|deadline| self.now >= *deadline) {
            self.enter(Circuit::HalfOpen, deadline);
        }
    }

    fn acquire(&mut self, call: u64) -> bool {
        let permitted = match self.present().circuit {
            Circuit::Closed => true,
            Circuit::Open => false,
            Circuit::HalfOpen => self.out() < self.rules.successes,
        };
        if permitted {
            self.note(Happened::Admitted);
            self.calls.insert(call, self.present().number);
        }
        permitted
    }

    fn settle(&mut self, outcome: Outcome) {
        self.note(Happened::Settled(outcome));
        match (self.present().circuit, outcome) {
            (Circuit::Closed, _) if self.window().failures >= self.rules.failures => {
                self.enter(Circuit::Open, self.now);
            }
            (Circuit::HalfOpen, Outcome::Failure) => self.enter(Circuit::Open, self.now),
            (Circuit::HalfOpen, _)
                if self.count(Happened::Settled(Outcome::Success)) >= self.rules.successes =>
            {
                self.enter(Circuit::Closed, self.now);
            }
            _ => {}
        }
    }

    /// The last results of this closed state.
    fn window(&self) -> Tally {
        let results = self.present().happened.iter().rev().filter_map(|(_, what)| match what {
            Happened::Settled(Outcome::Success) => Some(0),
            Happened::Settled(Outcome::Failure) => Some(1),
            _ => None,
        });
        let last: Vec<u32> = results.take(self.rules.capacity as usize).collect();
        Tally { calls: last.len() as u32, failures: last.iter().sum(), slow: 0 }
    }

    /// What is seen, with what is due but not committed.
    fn reading(&self) -> (Circuit, Tally) {
        if self.deadline().is_some_and(|deadline| self.now >= deadline) {
            return (Circuit::HalfOpen, Tally::default());
        }
        let successes = self.count(Happened::Settled(Outcome::Success));
        let tally = match self.present().circuit {
            Circuit::Closed => self.window(),
            Circuit::HalfOpen => Tally { calls: successes, ..Tally::default() },
            Circuit::Open => Tally::default(),
        };
        (self.present().circuit, tally)
    }
}

fn rules() -> impl Strategy<Value = Rules> {
    let delay = prop_oneof![Just(0), 1_u64..5_000];
    (1_u32..5, 0_u32..8, 1_u32..4, delay, 0_u64..20_000, 1_u64..10_000).prop_map(
        |(failures, more, successes, delay, more_delay, lease)| Rules {
            failures,
            capacity: failures + more,
            successes,
            delay,
            longest_delay: delay + more_delay,
            lease,
        },
    )
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let outcome = prop_oneof![
        5 => Just(Outcome::Success), 4 => Just(Outcome::Failure),
        1 => Just(Outcome::Ignored), 1 => Just(Outcome::Cancelled),
    ];
    let act = prop_oneof![
        5 => (0_u64..8).prop_map(Act::Acquire),
        5 => (0_u64..8, outcome).prop_map(|(call, outcome)| Act::Settle { call, outcome, latency: None }),
        2 => (0_u64..6_000).prop_map(|ms| Act::Advance(Duration::from_millis(ms))),
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
