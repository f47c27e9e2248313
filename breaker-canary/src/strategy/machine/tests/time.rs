//! What time alone does: reading it must agree with committing it, step by step or after centuries.

use proptest::{
    prelude::{Just, prop_assert, prop_assert_eq, prop_oneof, proptest},
    strategy::Strategy as Generator,
};

use super::*;

/// Open for 3 s, half-open for 2 s, and so on.
fn cycling() -> Circuit {
    Circuit::new(json!({
        "waitDurationInOpenState": "PT3S", "maxWaitDurationInHalfOpenState": "PT2S", "maxCanaryInterval": "PT1H",
    }))
}

fn commit(circuit: &mut Circuit, at: Timestamp) -> Vec<State> {
    let mut states = vec![circuit.state()];
    while circuit.state().until().is_some_and(|until| at >= until) {
        let _ = circuit.tick(at);
        states.push(circuit.state());
        assert!(states.len() < 6, "{states:?}");
    }
    states
}

fn open(until: u64) -> State {
    State::Open { until: Some(secs(until)) }
}

fn half_open(until: u64) -> State {
    State::HalfOpen { until: Some(secs(until)) }
}

#[test]
fn an_untouched_circuit_goes_round_each_step_from_the_one_before() {
    let circuit = cycling();
    let found = [0, 2, 3, 4, 5, 7, 8, 9, 10].map(|at| circuit.strategy.state_at(secs(at)));
    let open_8 = open(8);
    assert_eq!(
        found,
        [
            open(3),
            open(3),
            half_open(5),
            half_open(5),
            open_8,
            open_8,
            half_open(10),
            half_open(10),
            open(13)
        ]
    );
}

#[test]
fn committing_a_long_gap_takes_few_steps_and_ends_where_single_steps_would() {
    // 1 000 003 s: 200 000 cycles of 5 s, and 3 s: a half-open state has just begun.
    let states = commit(&mut cycling(), secs(1_000_003));
    assert_eq!(states, [open(3), half_open(5), open(1_000_003), half_open(1_000_005)]);
    let states = commit(&mut cycling(), secs(1_000_002));
    assert_eq!(states, [open(3), half_open(5), open(999_998), half_open(1_000_000), open(1_000_003)]);
}

#[test]
fn every_skipped_cycle_counts_as_a_trip() {
    let mut circuit = cycling();
    assert_eq!(circuit.strategy.evidence(secs(50)).trips, 11, "the start, and 10 cycles");
    commit(&mut circuit, secs(50));
    assert_eq!(circuit.strategy.evidence(secs(50)).trips, 11);
}

#[test]
fn centuries_pass_at_once() {
    let mut circuit = cycling();
    let end = Timestamp::from_nanos(u64::MAX - 1);
    let found = circuit.strategy.state_at(end);
    commit(&mut circuit, end);
    assert_eq!(circuit.state(), found);
    circuit.strategy.state_at(Timestamp::MAX);
    commit(&mut circuit, Timestamp::MAX);
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Advance(u64),
    Acquire,
    End(Outcome, u64),
    Probe(bool),
}

fn ops() -> impl Generator<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => (0_u64..30_000).prop_map(Op::Advance),
        1 => (0_u64..10_000_000).prop_map(Op::Advance),
        8 => Just(Op::Acquire),
        4 => (0_u64..4_000).prop_map(|took| Op::End(SUCCESS, took)),
        2 => (0_u64..4_000).prop_map(|took| Op::End(FAILURE, took)),
        1 => Just(Op::End(Outcome::Cancelled, 0)),
        2 => proptest::bool::ANY.prop_map(Op::Probe),
    ];
    proptest::collection::vec(op, 0..200)
}

fn blocks() -> impl Generator<Value = Value> {
    let span = || proptest::option::of(1_u64..40);
    (span(), span(), proptest::bool::ANY, proptest::bool::ANY, 1_u32..5).prop_map(
        |(wait, max, time, slow, permitted)| {
            json!({
                "waitDurationInOpenState": wait, "maxWaitDurationInHalfOpenState": max,
                "slidingWindowType": if time { "TIME_BASED" } else { "COUNT_BASED" }, "slidingWindowSize": 5,
                "slowCallRateThreshold": slow.then_some(50), "slowCallDurationThreshold": 2,
                "minimumNumberOfCalls": 3, "failureRateThreshold": 40,
                "permittedNumberOfCallsInHalfOpenState": permitted, "maxCanaryInterval": "PT1H",
            })
        },
    )
}

proptest! {
    #[test]
    fn reading_the_state_agrees_with_committing_it(block in blocks(), ops in ops()) {
        let (mut circuit, mut now, mut out, mut ended) = (Circuit::new(block.clone()), secs(0), 0, 0);
        let permitted = block["permittedNumberOfCallsInHalfOpenState"].as_u64().unwrap();
        for op in ops {
            let read = |circuit: &Circuit| {
                let strategy = &circuit.strategy;
                (strategy.state_at(now), strategy.tally(now), strategy.evidence(now), strategy.detail(now))
            };
            let before = read(&circuit);
            let epochs = commit(&mut circuit, now).len();
            prop_assert_eq!(before, read(&circuit));
            prop_assert_eq!(circuit.state(), circuit.strategy.state_at(now));
            if epochs > 1 {
                (out, ended) = (0, 0);
            }
            let from = circuit.state().circuit();
            match op {
                Op::Advance(span) => now = now + Duration::from_millis(span),
                Op::Acquire => out += u64::from(circuit.strategy.admit(&now.into())),
                Op::End(outcome, took) if out > 0 => {
                    out -= 1;
                    ended += u64::from(outcome != Outcome::Cancelled);
                    circuit.end_after(outcome, took, now);
                }
                Op::End(..) => {}
                Op::Probe(healthy) => {
                    circuit.probe(healthy, now);
                }
            }
            if circuit.state().circuit() != from {
                (out, ended) = (0, 0);
            }
            prop_assert_eq!(circuit.strategy.probe_plan().is_some(), matches!(circuit.state(), State::Open { .. }));
            if matches!(circuit.state(), State::HalfOpen { .. }) {
                prop_assert!(out + ended <= permitted, "in flight and settled calls together");
                prop_assert_eq!(circuit.strategy.full(), out + ended == permitted);
                // Never stuck: a place is free, or time will free one.
                prop_assert!(!circuit.strategy.full() || circuit.state().until().is_some());
            }
        }
    }
}
