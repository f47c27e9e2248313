use breaker_core::Timestamp;
use replica_pool::config::{Config, builtin};
use serde_json::json;

use super::*;

/// Opens at the second failure in a row, for 10 s.
fn machine() -> Box<dyn Strategy> {
    let failures_in_a_row = NonZeroU32::MIN.saturating_add(1);
    ConsecutiveFailures { failures_in_a_row, retry_after: IsoDuration::from_secs(10) }.build(Timestamp::ZERO)
}

fn settle(machine: &mut dyn Strategy, outcome: Outcome, second: u64) {
    machine.settle(&Report::new(outcome), &Timestamp::from_secs(second).into());
}

/// Half-open since second 11.
fn half_open() -> Box<dyn Strategy> {
    let mut machine = machine();
    settle(&mut *machine, Outcome::Failure, 0);
    settle(&mut *machine, Outcome::Failure, 1);
    assert_eq!(machine.tick(&Timestamp::from_secs(11).into()), Tick::SameEpoch);
    assert_eq!(machine.state(), HALF_OPEN);
    machine
}

#[test]
fn a_success_between_two_failures_keeps_it_closed() {
    let mut machine = machine();
    for outcome in [Outcome::Failure, Outcome::Success, Outcome::Failure, Outcome::Ignored] {
        settle(&mut *machine, outcome, 0);
        assert_eq!(machine.state(), State::Closed);
    }
    assert!(!machine.steady(), "one more success would end a row");
    settle(&mut *machine, Outcome::Failure, 3);
    assert_eq!(machine.state(), State::Open { until: Some(Timestamp::from_secs(13)) });
    assert_eq!(machine.change().tally.failures, 2);
}

#[test]
fn an_open_circuit_waits_for_the_whole_delay() {
    let mut machine = machine();
    settle(&mut *machine, Outcome::Failure, 0);
    settle(&mut *machine, Outcome::Failure, 1);
    let open = State::Open { until: Some(Timestamp::from_secs(11)) };
    let _ = machine.tick(&Timestamp::from_nanos(10_999_999_999).into());
    assert_eq!(machine.state(), open);
    let _ = machine.tick(&Timestamp::from_secs(11).into());
    assert_eq!(machine.state(), HALF_OPEN);
}

#[test]
fn one_call_decides() {
    for (outcome, state) in [
        (Outcome::Success, State::Closed),
        (Outcome::Failure, State::Open { until: Some(Timestamp::from_secs(22)) }),
        (Outcome::Cancelled, HALF_OPEN),
    ] {
        let mut machine = half_open();
        assert!(machine.admit(&Timestamp::from_secs(11).into()));
        assert!(!machine.admit(&Timestamp::from_secs(12).into()));
        settle(&mut *machine, outcome, 12);
        assert_eq!(machine.state(), state);
    }
}

#[test]
fn a_call_that_is_lost_does_not_hold_the_place_for_ever() {
    let mut machine = half_open();
    assert!(machine.admit(&Timestamp::from_secs(11).into()));
    assert_eq!(machine.tick(&Timestamp::from_secs(20).into()), Tick::SameEpoch);
    assert!(machine.full());
    assert_eq!(machine.tick(&Timestamp::from_secs(21).into()), Tick::NewEpoch);
    assert!(machine.admit(&Timestamp::from_secs(21).into()));
}

#[test]
fn its_file_is_read_and_refused_like_any_other() {
    let mut registry = builtin();
    registry.register::<ConsecutiveFailures>().unwrap();
    let loader = Config::loader().registry(registry);

    let read = |keys| {
        let text = format!(r#"{{"circuitBreaker": {{"strategy": "CONSECUTIVE_FAILURES"{keys}}}}}"#);
        loader.text("f", text).map(|config| json!(config.breaker.effective()))
    };
    let defaults = json!({ "strategy": "CONSECUTIVE_FAILURES", "failuresInARow": 5, "retryAfter": "PT20S" });
    assert_eq!(read("").unwrap(), defaults);
    assert_eq!(read(r#", "failuresInARow": 1"#).unwrap()["failuresInARow"], 1);
    assert_eq!(read(r#", "failuresInARow": null, "retryAfter": null"#).unwrap(), defaults);

    for (keys, told) in [
        (r#", "failuresInARow": 0"#, "0 is out of range; allowed: an integer, at least 1"),
        (r#", "retryAfter": 0"#, "more than 0 s"),
        (r#", "retryAftr": 1"#, r#"unknown key; did you mean "retryAfter"?"#),
        (r#", "testDelay": 1"#, r#"key of another strategy; needs "strategy": "STATIC_THRESHOLD""#),
    ] {
        let error = read(keys).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn an_open_circuit_that_is_taken_over_waits_for_the_rest_of_its_delay() {
    let mut old = machine();
    settle(&mut *old, Outcome::Failure, 0);
    settle(&mut *old, Outcome::Failure, 1);
    let mut new = machine();
    new.adopt(&old.evidence(Timestamp::from_secs(7)), Timestamp::from_secs(100));
    assert_eq!(new.state(), State::Open { until: Some(Timestamp::from_secs(104)) });
}

#[test]
fn it_keeps_every_law() {
    breaker_core::testing::check(ConsecutiveFailures::default());
}
