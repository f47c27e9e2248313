//! The laws of every strategy.

use breaker_canary::{CanaryRateThreshold, CanaryRateThresholdKeys};
use breaker_core::testing::Suite;
use serde_json::{Value, json};

#[expect(clippy::needless_pass_by_value, reason = "rows of a table")]
fn keeps_every_law(block: Value, places: u32) {
    let keys: CanaryRateThresholdKeys = serde_json::from_value(block.clone()).expect("keys");
    let settings = CanaryRateThreshold::try_from(keys).expect("valid settings");
    match Suite::new(settings).run() {
        Ok(report) => assert_eq!(report.half_open_places, Some(places), "{block}"),
        Err(violation) => panic!("{block}\n{violation}"),
    }
}

#[test]
fn the_defaults_keep_every_law() {
    keeps_every_law(json!({}), 10);
}

#[test]
fn a_circuit_that_starts_closed_keeps_every_law() {
    keeps_every_law(json!({ "initialState": "closed" }), 10);
}

#[test]
fn the_smallest_settings_keep_every_law() {
    let block = json!({
        "minimumNumberOfCalls": 1, "slidingWindowSize": 1, "permittedNumberOfCallsInHalfOpenState": 1,
        "initialState": "closed",
    });
    keeps_every_law(block, 1);
}

#[test]
fn a_half_open_state_that_decides_before_all_its_calls_are_in_keeps_every_law() {
    let block = json!({
        "minimumNumberOfCalls": 3, "slidingWindowSize": 7, "permittedNumberOfCallsInHalfOpenState": 6,
        "halfOpenFailureRateThreshold": 70, "failureRateThreshold": 33.3, "maxCanaryInterval": "PT1M",
    });
    keeps_every_law(block, 6);
}

#[test]
fn a_time_window_keeps_every_law() {
    let block = json!({
        "slidingWindowType": "TIME_BASED", "slidingWindowSize": 20, "minimumNumberOfCalls": 4,
        "permittedNumberOfCallsInHalfOpenState": 2, "failureRateThreshold": 50, "initialState": "closed",
    });
    keeps_every_law(block, 2);
}

#[test]
fn slow_calls_keep_every_law() {
    for window in ["COUNT_BASED", "TIME_BASED"] {
        let block = json!({
            "slidingWindowType": window, "slidingWindowSize": 8, "minimumNumberOfCalls": 4,
            "permittedNumberOfCallsInHalfOpenState": 3, "slowCallRateThreshold": 40,
            "slowCallDurationThreshold": "PT2S", "initialState": "closed",
        });
        keeps_every_law(block, 3);
    }
}

#[test]
fn a_wait_in_the_open_state_keeps_every_law() {
    let block = json!({
        "waitDurationInOpenState": "PT3S", "minimumNumberOfCalls": 5, "halfOpenPermitLease": "PT0.5S",
        "permittedNumberOfCallsInHalfOpenState": 4,
    });
    keeps_every_law(block, 4);
}

#[test]
fn a_longest_half_open_state_keeps_every_law() {
    for wait in [json!(null), json!("PT1S"), json!("PT0.001S")] {
        let block = json!({
            "maxWaitDurationInHalfOpenState": "PT2S", "waitDurationInOpenState": wait, "minimumNumberOfCalls": 3,
            "permittedNumberOfCallsInHalfOpenState": 3, "initialState": "closed",
        });
        keeps_every_law(block, 3);
    }
}
