use breaker_core::{Sample, config::StrategyConfig};
use proptest::{
    prelude::{Just, prop_assert, prop_assert_eq, prop_oneof, proptest},
    strategy::Strategy as Generator,
};
use serde_json::json;

use super::*;

const SUCCESS: Outcome = Outcome::Success;
const FAILURE: Outcome = Outcome::Failure;

const OPEN_UNTIL_20: State = State::Open { until: Some(Timestamp::from_secs(20)) };
const HALF_OPEN: State = State::HalfOpen { until: None };

fn machine(block: Value) -> Machine {
    Machine::new(StaticThreshold::from_keys(serde_json::from_value(block).unwrap()).unwrap())
}

/// 2 failures of the last 4 open it for 20 s, 2 successes close it.
fn small() -> Machine {
    machine(json!({ "failureThreshold": 2, "failureThresholdCapacity": 4, "successThreshold": 2 }))
}

fn secs(secs: u64) -> Timestamp {
    Timestamp::from_secs(secs)
}

fn millis(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Drives a machine as a breaker does.
impl Machine {
    fn tick_to(&mut self, at: Timestamp) -> Tick {
        self.tick(&at.into())
    }

    fn acquire(&mut self, at: Timestamp) -> bool {
        let _ = self.tick_to(at);
        self.admit(&at.into())
    }

    fn end(&mut self, outcome: Outcome, at: Timestamp) -> State {
        let _ = self.tick_to(at);
        self.settle(&Report::new(outcome), &at.into());
        self.state()
    }

    /// Opens it at 0 s.
    fn tripped(mut self) -> Self {
        for _ in 0..self.failure_threshold {
            self.end(FAILURE, secs(0));
        }
        assert!(matches!(self.state(), State::Open { .. }));
        self
    }
}

fn calls(calls: u32, failures: u32) -> Tally {
    Tally { calls, failures, slow: 0 }
}

#[test]
fn starts_closed_and_opens_on_the_third_failure_although_the_window_is_not_full() {
    let mut machine = machine(json!({}));
    assert_eq!(machine.state(), State::Closed);
    assert_eq!(machine.end(FAILURE, secs(0)), State::Closed);
    assert_eq!(machine.end(FAILURE, secs(0)), State::Closed);
    assert_eq!(machine.end(FAILURE, secs(0)), OPEN_UNTIL_20);
    assert_eq!(machine.change(), Change { reason: Reason::Failures, tally: calls(3, 3) });
}

#[test]
fn failures_count_only_while_they_are_among_the_last_calls() {
    let mut machine = small();
    for outcome in [FAILURE, SUCCESS, SUCCESS, SUCCESS, FAILURE] {
        assert_eq!(machine.end(outcome, secs(0)), State::Closed);
    }
    assert_eq!(machine.tally(secs(0)), calls(4, 1), "the first failure has left");
    machine.end(SUCCESS, secs(0));
    machine.end(SUCCESS, secs(0));
    assert_eq!(machine.end(FAILURE, secs(0)), OPEN_UNTIL_20, "4 calls apart");
}

#[test]
fn ignored_and_cancelled_calls_are_not_in_the_window() {
    let mut machine = small();
    for outcome in [FAILURE, Outcome::Ignored, Outcome::Cancelled, SUCCESS] {
        machine.end(outcome, secs(0));
    }
    assert_eq!(machine.tally(secs(0)), calls(2, 1));
}

#[test]
fn a_success_may_be_the_result_that_opens_it() {
    let mut machine = small();
    let samples = vec![Sample { age_secs: 0, tally: calls(3, 3) }];
    machine.adopt(&Evidence { samples, ..Evidence::default() }, secs(0));
    assert_eq!(machine.end(SUCCESS, secs(0)), OPEN_UNTIL_20);
}

#[test]
fn stays_open_until_the_delay_has_passed_to_the_nanosecond() {
    let machine = small().tripped();
    assert_eq!(machine.state_at(Timestamp::from_nanos(19_999_999_999)), OPEN_UNTIL_20);
    assert_eq!(machine.state_at(secs(20)), HALF_OPEN);
    assert_eq!(machine.state(), OPEN_UNTIL_20, "reading changes nothing");
}

#[test]
fn rejects_while_open_and_a_tick_before_the_deadline_does_nothing() {
    let mut machine = small().tripped();
    assert!(!machine.acquire(millis(19_999)));
    assert_eq!(machine.state(), OPEN_UNTIL_20);
    assert!(machine.acquire(secs(20)));
    assert_eq!(machine.change(), Change { reason: Reason::DelayPassed, tally: calls(0, 0) });
}

#[test]
fn a_half_open_circuit_has_as_many_places_in_flight_as_it_needs_successes() {
    let mut machine = small().tripped();
    assert!(machine.acquire(secs(20)));
    assert!(!machine.full());
    assert!(machine.acquire(secs(20)));
    assert!(machine.full());
    assert!(!machine.acquire(secs(20)));
    machine.end(SUCCESS, secs(21));
    assert!(machine.acquire(secs(21)), "a settled call gave its place back");
}

#[test]
fn the_successes_that_it_needs_close_it_with_an_empty_window() {
    let mut machine = small().tripped();
    machine.acquire(secs(20));
    assert_eq!(machine.end(SUCCESS, secs(21)), HALF_OPEN);
    assert_eq!(machine.tally(secs(21)), calls(1, 0));
    machine.acquire(secs(21));
    assert_eq!(machine.end(SUCCESS, secs(22)), State::Closed);
    assert_eq!(machine.change(), Change { reason: Reason::TrialSucceeded, tally: calls(2, 0) });
    assert_eq!(machine.tally(secs(22)), calls(0, 0));
    assert_eq!(machine.end(FAILURE, secs(22)), State::Closed, "old failures are forgotten");
}

#[test]
fn the_first_half_open_failure_opens_it_for_another_full_delay() {
    let mut machine = small().tripped();
    machine.acquire(secs(20));
    machine.end(SUCCESS, secs(21));
    machine.acquire(secs(21));
    assert_eq!(machine.end(FAILURE, secs(25)), State::Open { until: Some(secs(45)) });
    assert_eq!(machine.change(), Change { reason: Reason::TrialFailed, tally: calls(2, 1) });
}

#[test]
fn ignored_and_cancelled_calls_give_their_half_open_places_back_and_close_nothing() {
    let mut machine = small().tripped();
    for outcome in [Outcome::Ignored, Outcome::Cancelled, Outcome::Ignored] {
        assert!(machine.acquire(secs(20)));
        assert!(machine.acquire(secs(20)));
        machine.end(outcome, secs(20));
        machine.end(outcome, secs(20));
        assert_eq!((machine.state(), machine.tally(secs(20))), (HALF_OPEN, calls(0, 0)));
    }
}

#[test]
fn without_a_delay_it_is_half_open_at_once() {
    let mut machine = machine(json!({ "failureThreshold": 1, "testDelay": "PT0S" }));
    assert_eq!(machine.end(FAILURE, secs(3)), State::Open { until: Some(secs(3)) });
    assert_eq!(machine.state_at(secs(3)), HALF_OPEN);
    assert!(machine.acquire(secs(3)));
}

#[test]
fn each_failed_half_open_doubles_the_delay_up_to_the_longest_and_closing_resets_it() {
    let block = json!({ "failureThreshold": 1, "successThreshold": 1, "testDelay": 10, "maxTestDelay": 30 });
    let mut machine = machine(block);
    assert_eq!(machine.end(FAILURE, secs(0)), State::Open { until: Some(secs(10)) });
    machine.acquire(secs(10));
    assert_eq!(machine.end(FAILURE, secs(10)), State::Open { until: Some(secs(30)) });
    machine.acquire(secs(30));
    assert_eq!(machine.end(FAILURE, secs(30)), State::Open { until: Some(secs(60)) });
    assert_eq!(machine.detail(secs(30)), json!({ "testDelay": "PT30S", "trips": 3 }));
    machine.acquire(secs(60));
    assert_eq!(machine.end(SUCCESS, secs(60)), State::Closed);
    assert_eq!(machine.end(FAILURE, secs(60)), State::Open { until: Some(secs(70)) });
}

#[test]
fn a_full_half_open_circuit_starts_over_when_its_lease_expires() {
    let mut machine = small().tripped();
    machine.acquire(secs(20));
    machine.acquire(secs(30));
    assert_eq!(machine.state(), State::HalfOpen { until: Some(secs(90)) });
    assert_eq!(machine.tick_to(Timestamp::from_nanos(89_999_999_999)), Tick::SameEpoch);
    assert!(machine.full());
    assert_eq!(machine.state_at(secs(90)), HALF_OPEN);
    assert_eq!(machine.tick_to(secs(90)), Tick::NewEpoch);
    assert_eq!((machine.state(), machine.full()), (HALF_OPEN, false));
    assert_eq!(machine.change().reason, Reason::LeaseExpired);
    assert_eq!(machine.tick_to(secs(1_000)), Tick::SameEpoch, "free places have no lease");
}

#[test]
fn a_lease_that_expires_forgets_the_successes_so_far() {
    let mut machine = small().tripped();
    machine.acquire(secs(20));
    machine.end(SUCCESS, secs(20));
    machine.acquire(secs(20));
    machine.acquire(secs(20));
    assert_eq!(machine.tally(secs(79)), calls(1, 0));
    assert_eq!(machine.tally(secs(80)), calls(0, 0), "as if it had started over");
    machine.acquire(secs(80));
    assert_eq!(machine.end(SUCCESS, secs(81)), HALF_OPEN, "one of two");
}

#[test]
fn news_moves_the_end_of_the_lease() {
    let mut machine = small().tripped();
    machine.acquire(secs(20));
    machine.acquire(secs(20));
    machine.end(SUCCESS, secs(50));
    assert_eq!(machine.state(), HALF_OPEN, "a place is free");
    machine.acquire(secs(55));
    assert_eq!(machine.state(), State::HalfOpen { until: Some(secs(115)) });
    assert_eq!(machine.tick_to(secs(80)), Tick::SameEpoch);
}

#[test]
fn a_cancelled_call_ends_the_lease_since_its_place_is_free() {
    let mut machine = small().tripped();
    machine.acquire(secs(20));
    machine.acquire(secs(20));
    assert_eq!(machine.end(Outcome::Cancelled, secs(79)), HALF_OPEN);
    assert_eq!(machine.tick_to(secs(80)), Tick::SameEpoch);
}

#[test]
fn is_steady_only_while_closed_with_a_full_window_of_successes() {
    let mut machine = small();
    for _ in 0..3 {
        machine.end(SUCCESS, secs(0));
    }
    assert!(!machine.steady(), "3 of 4");
    machine.end(SUCCESS, secs(0));
    assert!(machine.steady());
    machine.end(FAILURE, secs(0));
    assert!(!machine.steady());
    machine.end(FAILURE, secs(0));
    assert!(!machine.steady(), "open");
}

#[test]
fn a_reconfigured_closed_circuit_keeps_its_window() {
    let mut old = small();
    for outcome in [SUCCESS, SUCCESS, SUCCESS, FAILURE] {
        old.end(outcome, secs(7));
    }
    let mut new = small();
    new.adopt(&old.evidence(secs(8)), secs(100));
    assert_eq!((new.state(), new.tally(secs(100))), (State::Closed, calls(4, 1)));
    for _ in 0..3 {
        new.end(SUCCESS, secs(100));
    }
    assert_eq!(new.tally(secs(100)), calls(4, 1), "the failure was the latest, so it leaves last");
    new.end(SUCCESS, secs(100));
    assert_eq!(new.tally(secs(100)), calls(4, 0));
}

#[test]
fn a_reconfigured_open_circuit_waits_for_what_remains_of_its_delay() {
    let evidence = small().tripped().evidence(secs(15));
    assert_eq!(evidence.remaining, Some(Duration::from_secs(5)));
    let mut new = small();
    new.adopt(&evidence, secs(1_000));
    assert_eq!(new.state(), State::Open { until: Some(secs(1_005)) });
}

#[test]
fn a_reconfigured_open_circuit_waits_no_longer_than_its_new_delay() {
    let mut new = machine(json!({ "testDelay": 3 }));
    new.adopt(&small().tripped().evidence(secs(5)), secs(1_000));
    assert_eq!(new.state(), State::Open { until: Some(secs(1_003)) });
}

#[test]
fn an_open_circuit_of_a_strategy_without_delay_gets_a_full_one() {
    let mut new = small();
    new.adopt(&Evidence { circuit: Circuit::Open, ..Evidence::default() }, secs(100));
    assert_eq!(new.state(), State::Open { until: Some(secs(120)) });
}

#[test]
fn a_reconfigured_half_open_circuit_starts_over_with_all_places_free() {
    let mut old = small().tripped();
    old.acquire(secs(20));
    old.acquire(secs(20));
    let mut new = small();
    new.adopt(&old.evidence(secs(21)), secs(21));
    assert_eq!((new.state(), new.full()), (HALF_OPEN, false));
}

#[test]
fn evidence_of_an_open_circuit_whose_delay_has_passed_is_half_open() {
    assert_eq!(small().tripped().evidence(secs(20)).circuit, Circuit::HalfOpen);
}

#[test]
fn a_growing_delay_keeps_its_step_through_a_restart() {
    let block = json!({ "failureThreshold": 1, "testDelay": 10, "maxTestDelay": 100 });
    let mut old = machine(block.clone()).tripped();
    old.acquire(secs(10));
    old.end(FAILURE, secs(10));
    let evidence = old.evidence(secs(15));
    assert_eq!((evidence.trips, evidence.remaining), (2, Some(Duration::from_secs(15))));
    let mut new = machine(block);
    new.adopt(&evidence, secs(0));
    assert_eq!(new.state(), State::Open { until: Some(secs(15)) });
    new.acquire(secs(15));
    assert_eq!(new.end(FAILURE, secs(15)), State::Open { until: Some(secs(55)) }, "40 s");
}

#[test]
fn an_open_circuit_of_a_strategy_that_counts_no_trips_has_tripped_once() {
    let mut new = machine(json!({ "testDelay": 10, "maxTestDelay": 100 }));
    new.adopt(&Evidence { circuit: Circuit::Open, ..Evidence::default() }, secs(0));
    assert!(new.acquire(secs(10)));
    assert_eq!(new.end(FAILURE, secs(10)), State::Open { until: Some(secs(30)) }, "20 s");
}

#[test]
fn a_circuit_of_the_default_settings_is_small() {
    assert!(size_of::<Machine>() <= 192, "{}", size_of::<Machine>());
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Advance(u64),
    Acquire,
    End(Outcome),
}

fn ops() -> impl Generator<Value = Vec<Op>> {
    let op = prop_oneof![
        3 => (0_u64..70_000).prop_map(Op::Advance),
        8 => Just(Op::Acquire),
        4 => Just(Op::End(SUCCESS)),
        2 => Just(Op::End(FAILURE)),
        1 => Just(Op::End(Outcome::Cancelled)),
    ];
    proptest::collection::vec(op, 0..200)
}

proptest! {
    #[test]
    fn reading_the_state_agrees_with_committing_it(ops in ops()) {
        let (mut machine, mut now, mut out) = (small(), secs(0), 0);
        for op in ops {
            let read = (machine.state_at(now), machine.tally(now), machine.evidence(now));
            let before = machine.state().circuit();
            if machine.tick_to(now) == Tick::NewEpoch || machine.state().circuit() != before {
                out = 0;
            }
            let committed = (machine.state(), machine.tally(now), machine.evidence(now));
            prop_assert_eq!(read, committed);
            prop_assert_eq!(machine.tick_to(now), Tick::SameEpoch, "one tick does all that is due");
            let before = machine.state().circuit();
            match op {
                Op::Advance(span) => now = now + Duration::from_millis(span),
                Op::Acquire => out += u32::from(machine.admit(&now.into())),
                Op::End(outcome) if out > 0 => {
                    out -= 1;
                    machine.settle(&Report::new(outcome), &now.into());
                }
                Op::End(_) => {}
            }
            if machine.state().circuit() != before {
                out = 0;
            }
            if matches!(machine.state(), State::HalfOpen { .. }) {
                prop_assert!(out <= 2, "never more calls out than places");
                prop_assert_eq!(machine.full(), out == 2);
            }
        }
    }
}

#[test]
fn a_circuit_takes_little_room() {
    assert!(size_of::<Machine>() <= 104, "{}", size_of::<Machine>());
}
