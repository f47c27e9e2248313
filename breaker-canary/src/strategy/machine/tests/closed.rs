use super::*;

#[test]
fn ten_failures_of_fifty_calls_stay_closed_and_eleven_open() {
    let mut circuit = closed();
    circuit.results(FAILURE, 10, secs(0));
    assert_eq!(circuit.results(SUCCESS, 40, secs(0)), State::Closed, "20 %");
    let mut circuit = closed();
    circuit.results(FAILURE, 11, secs(0));
    assert_eq!(circuit.results(SUCCESS, 38, secs(0)), State::Closed, "49 calls");
    assert_eq!(circuit.end(SUCCESS, secs(0)), OPEN, "22 %, by a success");
    assert_eq!(circuit.strategy.change(), Change { reason: Reason::Failures, tally: tally(50, 11) });
}

#[test]
fn twenty_one_failures_of_a_hundred_calls_are_the_threshold_and_open() {
    let mut circuit = closed();
    circuit.results(SUCCESS, 79, secs(0));
    assert_eq!(circuit.results(FAILURE, 20, secs(0)), State::Closed);
    assert_eq!(circuit.end(FAILURE, secs(0)), OPEN);
}

#[test]
fn ignored_and_cancelled_calls_are_not_in_the_window() {
    let mut circuit = closed();
    circuit.results(Outcome::Ignored, 60, secs(0));
    circuit.results(Outcome::Cancelled, 60, secs(0));
    circuit.results(FAILURE, 49, secs(0));
    assert_eq!((circuit.state(), circuit.strategy.tally(secs(0))), (State::Closed, tally(49, 49)));
}

#[test]
fn decimals_of_a_rate_count_exactly() {
    let block = json!({
        "initialState": "closed", "failureRateThreshold": 33.3, "minimumNumberOfCalls": 1000,
        "slidingWindowSize": 1000,
    });
    for (failures, state) in [(332, State::Closed), (333, OPEN)] {
        let mut circuit = Circuit::new(block.clone());
        circuit.results(FAILURE, failures, secs(0));
        assert_eq!(circuit.results(SUCCESS, 1000 - failures, secs(0)), state, "{failures} of 1000");
    }
}

#[test]
fn a_time_window_forgets_what_is_older() {
    let mut circuit = Circuit::new(json!({
        "initialState": "closed", "slidingWindowType": "TIME_BASED", "slidingWindowSize": 10,
        "minimumNumberOfCalls": 4, "failureRateThreshold": 50,
    }));
    circuit.results(FAILURE, 3, millis(900));
    assert_eq!(circuit.strategy.tally(millis(9_999)), tally(3, 3));
    assert_eq!(circuit.strategy.tally(secs(10)), tally(0, 0));
    assert_eq!(circuit.end(FAILURE, secs(10)), State::Closed, "1 call in the last 10 s");
    assert_eq!(circuit.results(FAILURE, 3, secs(19)), OPEN, "4 calls");
}

#[test]
fn slow_calls_open_it_by_the_same_rule() {
    let block = json!({
        "initialState": "closed", "minimumNumberOfCalls": 4, "slowCallRateThreshold": 50,
        "slowCallDurationThreshold": "PT2S",
    });
    let mut circuit = Circuit::new(block);
    assert!(circuit.strategy.wants_latency());
    circuit.end_after(SUCCESS, 1_999, secs(9));
    circuit.end_after(SUCCESS, 2_000, secs(9));
    circuit.end_after(SUCCESS, 1, secs(9));
    assert_eq!(circuit.end_after(SUCCESS, 1, secs(9)), State::Closed, "1 of 4");
    circuit.end_after(SUCCESS, 1, secs(9));
    circuit.end(SUCCESS, secs(9));
    circuit.end_after(SUCCESS, 3_000, secs(9));
    assert_eq!(circuit.end_after(SUCCESS, 9_000, secs(9)), State::Closed, "3 of 8");
    circuit.end_after(SUCCESS, 9_000, secs(9));
    assert_eq!(circuit.end_after(SUCCESS, 9_000, secs(9)), OPEN, "5 of 10");
    let change = Change { reason: Reason::SlowCalls, tally: Tally { calls: 10, failures: 0, slow: 5 } };
    assert_eq!(circuit.strategy.change(), change);
}

#[test]
fn without_a_slow_rate_no_call_is_slow_and_no_latency_is_asked_for() {
    let mut circuit = Circuit::new(json!({ "initialState": "closed", "slowCallDurationThreshold": "PT1S" }));
    assert!(!circuit.strategy.wants_latency());
    for _ in 0..100 {
        circuit.end_after(SUCCESS, 60_000, secs(100));
    }
    assert_eq!((circuit.state(), circuit.strategy.tally(secs(100))), (State::Closed, tally(100, 0)));
}

#[test]
fn is_steady_only_with_a_full_count_window_of_successes_and_no_rule_on_slow_calls() {
    let mut circuit = closed();
    circuit.results(SUCCESS, 99, secs(0));
    assert!(!circuit.strategy.steady());
    circuit.end(SUCCESS, secs(0));
    assert!(circuit.strategy.steady());
    circuit.end(FAILURE, secs(0));
    assert!(!circuit.strategy.steady());
    for block in [
        json!({ "initialState": "closed", "slidingWindowType": "TIME_BASED" }),
        json!({ "initialState": "closed", "slowCallRateThreshold": 100 }),
    ] {
        let mut circuit = Circuit::new(block);
        circuit.results(SUCCESS, 200, secs(0));
        assert!(!circuit.strategy.steady());
    }
}

#[test]
fn counting_in_a_count_window_reads_no_clock() {
    #[derive(Debug)]
    struct Unreadable;
    impl breaker_core::Clock for Unreadable {
        fn now(&self) -> Timestamp {
            panic!("read the clock")
        }
    }
    let mut circuit = closed();
    for _ in 0..200 {
        let now = Now::of(&Unreadable);
        assert_eq!(circuit.strategy.tick(&now), Tick::SameEpoch);
        circuit.strategy.settle(&Report::new(SUCCESS), &now);
    }
}
