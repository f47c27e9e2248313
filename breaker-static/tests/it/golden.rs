//! Traces with known answers, step by step.

use breaker_core::testing::replay;
use breaker_static::StaticThreshold;

#[test]
fn every_step_of_the_measured_traces_answers_as_failsafe_did() {
    assert_eq!(replay::<StaticThreshold>(include_str!("../golden/static-threshold.jsonl")), 40);
}

#[test]
fn every_reported_fault_has_its_right_answer() {
    assert_eq!(replay::<StaticThreshold>(include_str!("../golden/cases.jsonl")), 6);
}
