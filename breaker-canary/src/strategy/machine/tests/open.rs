use super::*;

fn plan(interval_secs: u64) -> Option<ProbePlan> {
    let second = Duration::from_secs(1);
    Some(ProbePlan { interval: Duration::from_secs(interval_secs), attempts: 3, timeout: second })
}

#[test]
fn starts_open_and_stays_so_whatever_the_time() {
    let mut circuit = Circuit::new(json!({}));
    assert_eq!(circuit.state(), OPEN);
    assert_eq!(circuit.strategy.state_at(secs(1_000_000)), OPEN);
    assert!(!circuit.acquire(secs(1_000_000)));
    assert_eq!(circuit.state(), OPEN);
}

#[test]
fn a_healthy_probe_makes_it_half_open_and_an_unhealthy_one_does_nothing() {
    let mut circuit = Circuit::new(json!({}));
    assert_eq!(circuit.probe(false, secs(1)), OPEN);
    assert_eq!(circuit.probe(true, secs(2)), HALF_OPEN);
    assert_eq!(circuit.strategy.change().reason, Reason::ProbeHealthy);
}

#[test]
fn probes_of_a_circuit_that_is_not_open_do_nothing() {
    let mut circuit = half_open();
    circuit.calls(FAILURE, 1, secs(0));
    circuit.probe(true, secs(0));
    assert_eq!(circuit.strategy.tally(secs(0)), tally(1, 1));
    let mut circuit = closed();
    circuit.results(FAILURE, 1, secs(0));
    circuit.probe(true, secs(0));
    assert_eq!((circuit.state(), circuit.strategy.tally(secs(0))), (State::Closed, tally(1, 1)));
}

#[test]
fn wants_probes_only_while_open() {
    let mut circuit = Circuit::new(json!({}));
    assert_eq!(circuit.strategy.probe_plan(), plan(1));
    circuit.probe(true, secs(0));
    assert_eq!(circuit.strategy.probe_plan(), None);
    circuit.calls(SUCCESS, 10, secs(0));
    assert_eq!((circuit.state(), circuit.strategy.probe_plan()), (State::Closed, None));
    circuit.results(FAILURE, 50, secs(0));
    assert_eq!((circuit.state(), circuit.strategy.probe_plan()), (OPEN, plan(1)));
}

#[test]
fn each_failed_half_open_doubles_the_interval_up_to_the_largest_and_closing_resets_it() {
    let mut circuit = Circuit::new(json!({ "maxCanaryInterval": "PT5S" }));
    for interval in [1, 2, 4, 5, 5] {
        assert_eq!(circuit.strategy.probe_plan(), plan(interval));
        circuit.probe(true, secs(0));
        assert_eq!(circuit.calls(FAILURE, 10, secs(0)), OPEN);
    }
    circuit.probe(true, secs(0));
    circuit.calls(SUCCESS, 10, secs(0));
    circuit.results(FAILURE, 50, secs(0));
    assert_eq!(circuit.strategy.probe_plan(), plan(1));
    circuit.probe(true, secs(0));
    circuit.calls(FAILURE, 10, secs(0));
    assert_eq!(circuit.strategy.probe_plan(), plan(2));
}

#[test]
fn a_wait_in_open_state_ends_it_without_a_probe_from_the_start_on() {
    let mut circuit = Circuit::new(json!({ "waitDurationInOpenState": "PT5S" }));
    assert_eq!(circuit.state(), State::Open { until: Some(secs(5)) });
    assert!(!circuit.acquire(millis(4_999)));
    assert_eq!(circuit.strategy.state_at(secs(5)), HALF_OPEN);
    assert!(circuit.acquire(secs(5)));
    assert_eq!(circuit.strategy.change().reason, Reason::DelayPassed);
}

#[test]
fn a_healthy_probe_is_quicker_than_the_wait() {
    let mut circuit = Circuit::new(json!({ "waitDurationInOpenState": "PT5S" }));
    assert_eq!(circuit.probe(true, secs(1)), HALF_OPEN);
    assert_eq!(circuit.calls(FAILURE, 10, secs(2)), State::Open { until: Some(secs(7)) });
}

#[test]
fn a_probe_that_ends_after_the_wait_does_nothing_more() {
    let mut circuit = Circuit::new(json!({ "waitDurationInOpenState": "PT5S" }));
    assert_eq!(circuit.probe(true, secs(6)), HALF_OPEN);
    assert_eq!(circuit.strategy.change().reason, Reason::DelayPassed);
}

#[test]
fn a_wait_past_the_end_of_time_is_no_deadline() {
    let mut circuit = Circuit::new(json!({ "waitDurationInOpenState": "PT1H" }));
    let now = Timestamp::from_nanos(u64::MAX - 1);
    circuit.probe(true, now);
    assert_eq!(circuit.calls(FAILURE, 10, now), OPEN);
    assert_eq!(circuit.tick(Timestamp::MAX), Tick::SameEpoch);
}
