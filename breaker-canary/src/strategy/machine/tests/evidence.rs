use super::*;
use breaker_core::{Circuit as State_, Sample};

fn adopting(block: Value, evidence: &Evidence, at: Timestamp) -> Circuit {
    let mut circuit = Circuit::new(block);
    circuit.strategy.adopt(evidence, at);
    circuit
}

#[test]
fn a_closed_circuit_keeps_its_count_window() {
    let mut old = closed();
    old.results(FAILURE, 10, secs(0));
    old.results(SUCCESS, 39, secs(0));
    let evidence = old.strategy.evidence(secs(1));
    assert_eq!(evidence.samples.len(), 2, "two runs");
    let mut new = adopting(json!({}), &evidence, secs(50));
    assert_eq!((new.state(), new.strategy.tally(secs(50))), (State::Closed, tally(49, 10)));
    assert_eq!(new.end(FAILURE, secs(50)), OPEN, "11 of 50");
}

#[test]
fn what_other_rules_let_pass_is_judged_by_the_next_result_whatever_that_is() {
    let mut old = Circuit::new(json!({ "initialState": "closed", "failureRateThreshold": 90 }));
    old.results(FAILURE, 30, secs(0));
    assert_eq!(old.results(SUCCESS, 30, secs(0)), State::Closed, "50 %");
    let mut new = adopting(json!({}), &old.strategy.evidence(secs(1)), secs(1));
    assert_eq!(new.state(), State::Closed);
    assert_eq!(new.end(SUCCESS, secs(1)), OPEN, "30 of 61, and 21 % are enough");
}

#[test]
fn a_closed_circuit_keeps_its_time_window_with_the_ages() {
    let block =
        json!({ "initialState": "closed", "slidingWindowType": "TIME_BASED", "slidingWindowSize": 10 });
    let mut old = Circuit::new(block.clone());
    old.results(FAILURE, 3, secs(100));
    old.results(SUCCESS, 2, secs(104));
    let evidence = old.strategy.evidence(secs(106));
    let ages: Vec<_> = evidence.samples.iter().map(|sample: &Sample| sample.age_secs).collect();
    assert_eq!(ages, [6, 2]);
    let new = adopting(block, &evidence, secs(1));
    assert_eq!(new.strategy.tally(secs(4)), tally(5, 3));
    assert_eq!(new.strategy.tally(secs(5)), tally(2, 0));
}

#[test]
fn an_open_circuit_stays_open_and_waits_for_what_remains() {
    let old = Circuit::new(json!({ "waitDurationInOpenState": "PT30S" }));
    let evidence = old.strategy.evidence(secs(20));
    assert_eq!(evidence.remaining, Some(Duration::from_secs(10)));
    let block = json!({ "waitDurationInOpenState": "PT30S", "initialState": "closed" });
    assert_eq!(adopting(block, &evidence, secs(1)).state(), State::Open { until: Some(secs(11)) });
    let block = json!({ "waitDurationInOpenState": "PT3S" });
    assert_eq!(adopting(block, &evidence, secs(1)).state(), State::Open { until: Some(secs(4)) });
    assert_eq!(adopting(json!({}), &evidence, secs(1)).state(), OPEN, "only a probe ends it");
}

#[test]
fn an_open_circuit_without_a_deadline_waits_in_full_where_there_is_one() {
    let evidence = Evidence { circuit: State_::Open, ..Evidence::default() };
    let new = adopting(json!({ "waitDurationInOpenState": "PT3S" }), &evidence, secs(1));
    assert_eq!(new.state(), State::Open { until: Some(secs(4)) });
}

#[test]
fn a_half_open_circuit_starts_over_with_all_places_free() {
    let mut old = half_open();
    for _ in 0..10 {
        old.acquire(secs(0));
    }
    old.end(FAILURE, secs(1));
    let new = adopting(json!({}), &old.strategy.evidence(secs(1)), secs(1));
    assert_eq!((new.state(), new.strategy.tally(secs(1))), (HALF_OPEN, tally(0, 0)));
    assert!(!new.strategy.full());
    let block = json!({ "maxWaitDurationInHalfOpenState": "PT30S" });
    let new = adopting(block, &old.strategy.evidence(secs(1)), secs(1));
    assert_eq!(new.state(), State::HalfOpen { until: Some(secs(31)) });
}

#[test]
fn the_canary_interval_keeps_its_step() {
    let block = json!({ "maxCanaryInterval": "PT1M" });
    let mut old = Circuit::new(block.clone());
    for _ in 0..2 {
        old.probe(true, secs(0));
        old.calls(FAILURE, 10, secs(0));
    }
    let evidence = old.strategy.evidence(secs(0));
    assert_eq!(evidence.trips, 3);
    let mut new = adopting(block, &evidence, secs(0));
    assert_eq!(new.strategy.probe_plan().map(|plan| plan.interval), Some(Duration::from_secs(4)));
    new.probe(true, secs(0));
    new.calls(FAILURE, 10, secs(0));
    assert_eq!(new.strategy.probe_plan().map(|plan| plan.interval), Some(Duration::from_secs(8)));
}

#[test]
fn evidence_that_tells_nothing_is_a_closed_circuit() {
    let new = adopting(json!({}), &Evidence::default(), secs(0));
    assert_eq!((new.state(), new.strategy.evidence(secs(0))), (State::Closed, Evidence::default()));
}

#[test]
fn details_tell_the_step_and_the_places() {
    let mut circuit = Circuit::new(json!({}));
    assert_eq!(circuit.strategy.detail(secs(0)), json!({ "canaryInterval": "PT1S", "trips": 1 }));
    circuit.probe(true, secs(0));
    circuit.acquire(secs(0));
    assert_eq!(circuit.strategy.detail(secs(0)), json!({ "taken": 1, "places": 10, "trips": 1 }));
}
