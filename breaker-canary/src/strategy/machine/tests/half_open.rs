use super::*;

#[test]
fn two_failures_of_ten_close_it_and_three_open_it() {
    for (failures, state) in [(2, State::Closed), (3, OPEN)] {
        let mut circuit = half_open();
        circuit.calls(FAILURE, failures, secs(0));
        assert_eq!(circuit.calls(SUCCESS, 9 - failures, secs(0)), HALF_OPEN, "not before the tenth");
        assert_eq!(circuit.calls(SUCCESS, 1, secs(0)), state, "{failures} of 10");
        assert_eq!(circuit.strategy.change().tally, tally(10, failures));
    }
}

#[test]
fn lets_ten_calls_pass_in_total_however_many_have_ended() {
    let mut circuit = half_open();
    circuit.calls(SUCCESS, 4, secs(0));
    for _ in 0..6 {
        assert!(circuit.acquire(secs(0)));
    }
    assert!(circuit.strategy.full());
    assert!(!circuit.acquire(secs(0)));
    circuit.end(SUCCESS, secs(0));
    assert!(!circuit.acquire(secs(0)), "a result gives no place back");
    circuit.end(Outcome::Cancelled, secs(0));
    assert!(circuit.acquire(secs(0)), "a cancelled call does");
    circuit.end(Outcome::Ignored, secs(0));
    assert!(circuit.acquire(secs(0)), "and so does an ignored one");
    assert_eq!(circuit.strategy.tally(secs(0)), tally(5, 0));
}

#[test]
fn closes_with_an_empty_window() {
    let mut circuit = half_open();
    circuit.calls(FAILURE, 2, secs(0));
    assert_eq!(circuit.calls(SUCCESS, 8, secs(0)), State::Closed);
    assert_eq!(circuit.strategy.change().reason, Reason::TrialSucceeded);
    assert_eq!(circuit.strategy.tally(secs(0)), tally(0, 0));
    assert_eq!(circuit.results(FAILURE, 49, secs(0)), State::Closed);
}

#[test]
fn decides_sooner_when_fewer_calls_are_the_minimum() {
    let mut circuit = Circuit::new(json!({ "minimumNumberOfCalls": 3 }));
    circuit.probe(true, secs(0));
    for _ in 0..10 {
        assert!(circuit.acquire(secs(0)));
    }
    assert_eq!(circuit.results(SUCCESS, 2, secs(0)), State::HalfOpen { until: Some(secs(60)) });
    assert_eq!(circuit.end(SUCCESS, secs(0)), State::Closed);
}

#[test]
fn has_a_failure_rate_of_its_own() {
    let block = json!({ "failureRateThreshold": 50, "halfOpenFailureRateThreshold": 20 });
    let mut circuit = Circuit::new(block);
    circuit.probe(true, secs(0));
    circuit.calls(FAILURE, 2, secs(0));
    assert_eq!(circuit.calls(SUCCESS, 8, secs(0)), OPEN);
}

#[test]
fn slow_calls_open_it_too() {
    let block = json!({
        "permittedNumberOfCallsInHalfOpenState": 2, "slowCallRateThreshold": 50,
        "slowCallDurationThreshold": "PT2S",
    });
    let mut circuit = Circuit::new(block);
    circuit.probe(true, secs(0));
    assert!(circuit.acquire(secs(0)) && circuit.acquire(secs(0)));
    circuit.end_after(SUCCESS, 2_000, secs(2));
    assert_eq!(circuit.end_after(SUCCESS, 1, secs(2)), OPEN);
    let change = Change { reason: Reason::TrialFailed, tally: Tally { calls: 2, failures: 0, slow: 1 } };
    assert_eq!(circuit.strategy.change(), change);
}

#[test]
fn starts_over_when_all_its_places_are_taken_and_the_lease_expires() {
    let mut circuit = half_open();
    circuit.calls(FAILURE, 8, secs(1));
    assert!(circuit.acquire(secs(2)));
    assert_eq!(circuit.state(), HALF_OPEN, "a place is free: no lease");
    assert!(circuit.acquire(secs(3)));
    assert_eq!(circuit.state(), State::HalfOpen { until: Some(secs(63)) });
    circuit.end(SUCCESS, secs(10));
    assert_eq!(circuit.state(), State::HalfOpen { until: Some(secs(70)) }, "a result is news");
    assert_eq!(circuit.tick(Timestamp::from_nanos(69_999_999_999)), Tick::SameEpoch);
    assert_eq!(circuit.strategy.tally(secs(69)), tally(9, 8));
    assert_eq!(
        (circuit.strategy.state_at(secs(70)), circuit.strategy.tally(secs(70))),
        (HALF_OPEN, tally(0, 0))
    );
    assert_eq!(circuit.tick(secs(70)), Tick::NewEpoch);
    assert_eq!((circuit.state(), circuit.strategy.full()), (HALF_OPEN, false));
    // No calls decided that.
    let change = Change { reason: Reason::LeaseExpired, tally: tally(0, 0) };
    assert_eq!(circuit.strategy.change(), change);
    assert_eq!(circuit.calls(SUCCESS, 10, secs(71)), State::Closed, "the old failures are forgotten");
}

#[test]
fn a_place_that_comes_back_ends_the_lease() {
    let mut circuit = half_open();
    for _ in 0..10 {
        circuit.acquire(secs(0));
    }
    assert_eq!(circuit.end(Outcome::Ignored, secs(59)), HALF_OPEN);
    assert_eq!(circuit.tick(secs(60)), Tick::SameEpoch);
    assert!(circuit.acquire(secs(65)));
    assert_eq!(circuit.state(), State::HalfOpen { until: Some(secs(125)) });
}

#[test]
fn a_longest_wait_opens_it_whatever_its_places_and_there_is_no_lease() {
    let mut circuit =
        Circuit::new(json!({ "maxWaitDurationInHalfOpenState": "PT90S", "halfOpenPermitLease": "PT1S" }));
    circuit.probe(true, secs(10));
    assert_eq!(circuit.state(), State::HalfOpen { until: Some(secs(100)) });
    for _ in 0..10 {
        circuit.acquire(secs(10));
    }
    circuit.end(SUCCESS, secs(50));
    assert_eq!(circuit.state(), State::HalfOpen { until: Some(secs(100)) }, "neither places nor news count");
    assert_eq!(circuit.strategy.state_at(secs(100)), OPEN);
    assert_eq!(circuit.tick(secs(100)), Tick::SameEpoch, "the state changes, so an epoch starts anyway");
    assert_eq!(circuit.state(), OPEN);
    assert_eq!(circuit.strategy.change(), Change { reason: Reason::HalfOpenTooLong, tally: tally(1, 0) });
}

/// "At least 50 % of at least 10 calls in 20 s opens; open is tried every 3 s with one request; 70 % successes close."
#[test]
fn the_rule_that_was_first_thought_of_can_be_written() {
    let block = json!({
        // At least 50 % …
        "failureRateThreshold": 50,
        // … of at least 10 calls …
        "minimumNumberOfCalls": 10,
        // … in 20 s: seconds, not calls.
        "slidingWindowType": "TIME_BASED",
        "slidingWindowSize": 20,
        "initialState": "closed",
        // Every 3 s, by time alone: no canary is needed.
        "waitDurationInOpenState": "PT3S",
        // One request. It is 0 % or 100 % of itself, so it decides alone.
        "permittedNumberOfCallsInHalfOpenState": 1,
        // 70 % successes close: more than 30 % failures open. As `>=` opens, this is the least percentage above 30; with
        // one request any would do.
        "halfOpenFailureRateThreshold": 30.000_000_000_1,
    });
    let mut circuit = Circuit::new(block.clone());
    circuit.results(SUCCESS, 5, secs(0));
    circuit.results(FAILURE, 4, secs(19));
    assert_eq!(circuit.end(FAILURE, millis(19_999)), State::Open { until: Some(millis(22_999)) });
    assert!(!circuit.acquire(millis(22_998)));
    assert!(circuit.acquire(millis(22_999)));
    assert!(!circuit.acquire(millis(22_999)), "one request");
    assert_eq!(circuit.end(FAILURE, secs(23)), State::Open { until: Some(secs(26)) }, "again in 3 s");
    assert!(circuit.acquire(secs(26)));
    assert_eq!(circuit.end(SUCCESS, secs(26)), State::Closed);

    let mut circuit = Circuit::new(block.clone());
    circuit.results(SUCCESS, 5, secs(0));
    assert_eq!(circuit.results(FAILURE, 5, secs(20)), State::Closed, "5 calls in the last 20 s");

    // With ten requests instead of one: 7 successes close, 6 do not.
    let mut ten = block;
    ten["permittedNumberOfCallsInHalfOpenState"] = json!(10);
    for (successes, state) in [(7, State::Closed), (6, State::Open { until: Some(secs(6)) })] {
        let mut circuit = Circuit::new(ten.clone());
        circuit.results(FAILURE, 10, secs(0));
        circuit.calls(FAILURE, 10 - successes, secs(3));
        assert_eq!(circuit.calls(SUCCESS, successes, secs(3)), state, "{successes} of 10");
    }
}
