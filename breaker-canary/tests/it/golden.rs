//! Traces with known answers, step by step.

use breaker_canary::CanaryRateThreshold;
use breaker_core::testing::replay;

#[test]
fn every_step_of_the_measured_traces_answers_as_resilience4j_did() {
    assert_eq!(replay::<CanaryRateThreshold>(include_str!("../golden/canary-rate-threshold.jsonl")), 40);
}

#[test]
fn every_step_with_time_windows_and_slow_calls_answers_as_resilience4j_did() {
    assert_eq!(replay::<CanaryRateThreshold>(include_str!("../golden/canary-time-and-slow.jsonl")), 40);
}

#[test]
fn every_reported_fault_has_its_right_answer() {
    assert_eq!(replay::<CanaryRateThreshold>(include_str!("../golden/cases.jsonl")), 19);
}
