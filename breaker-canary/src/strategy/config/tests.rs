use breaker_core::config::Blueprint;
use schemars::schema_for;
use serde_json::{Value, json};

use super::*;

fn settings(block: Value) -> Result<CanaryRateThreshold, Violations> {
    CanaryRateThreshold::from_keys(serde_json::from_value(block).unwrap())
}

fn effective(block: Value) -> Value {
    serde_json::to_value(settings(block).unwrap()).unwrap()
}

fn faults(block: Value) -> Vec<String> {
    settings(block).unwrap_err().0.iter().map(ToString::to_string).collect()
}

#[test]
fn an_empty_block_has_the_defaults_and_tells_every_key() {
    let expected = json!({
        "strategy": "CANARY_RATE_THRESHOLD",
        "failureRateThreshold": 21,
        "minimumNumberOfCalls": 50,
        "permittedNumberOfCallsInHalfOpenState": 10,
        "halfOpenFailureRateThreshold": 21,
        "slidingWindowType": "COUNT_BASED",
        "slidingWindowSize": 100,
        "slowCallRateThreshold": null,
        "slowCallDurationThreshold": "PT1M",
        "waitDurationInOpenState": null,
        "maxWaitDurationInHalfOpenState": null,
        "halfOpenPermitLease": "PT1M",
        "initialState": "open",
        "canaryInterval": "PT1S",
        "canaryAttempts": 3,
        "canaryTimeout": "PT1S",
        "maxCanaryInterval": "PT1S",
    });
    let settings = settings(json!({})).unwrap();
    assert_eq!(settings, CanaryRateThreshold::default());
    assert_eq!(Value::Object(Blueprint::new(settings).effective()), expected);
}

#[test]
fn effective_keys_read_back_as_the_same_settings() {
    let given = settings(json!({
        "failureRateThreshold": 33.3, "slidingWindowType": "TIME_BASED", "slowCallRateThreshold": 50,
        "waitDurationInOpenState": "PT5S", "maxWaitDurationInHalfOpenState": 30, "initialState": "closed",
        "canaryInterval": 2, "maxCanaryInterval": "1m",
    }))
    .unwrap();
    let read: CanaryRateThreshold = serde_json::from_value(serde_json::to_value(&given).unwrap()).unwrap();
    assert_eq!(read, given);
}

#[test]
fn the_half_open_rate_is_the_closed_one_unless_set() {
    assert_eq!(effective(json!({ "failureRateThreshold": 21.9 }))["halfOpenFailureRateThreshold"], 21.9);
    let block = json!({ "failureRateThreshold": 50, "halfOpenFailureRateThreshold": 30 });
    assert_eq!(effective(block)["halfOpenFailureRateThreshold"], 30);
}

#[test]
fn the_window_is_as_large_as_its_type_and_minimum_ask_for() {
    assert_eq!(effective(json!({ "minimumNumberOfCalls": 150 }))["slidingWindowSize"], 150);
    assert_eq!(effective(json!({ "minimumNumberOfCalls": 7 }))["slidingWindowSize"], 100);
    let block = json!({ "slidingWindowType": "TIME_BASED", "minimumNumberOfCalls": 150 });
    assert_eq!(effective(block)["slidingWindowSize"], 60);
}

#[test]
fn more_minimum_calls_than_a_count_window_holds_are_a_fault_of_what_was_written() {
    assert_eq!(
        faults(json!({ "minimumNumberOfCalls": 30, "slidingWindowSize": 20 })),
        ["minimumNumberOfCalls is 30, allowed: at most 20, since slidingWindowSize is 20 calls"]
    );
    assert_eq!(
        faults(json!({ "slidingWindowSize": 20 })),
        ["slidingWindowSize is 20, allowed: at least 50, since minimumNumberOfCalls is 50 unless set"]
    );
    assert!(settings(json!({ "slidingWindowType": "TIME_BASED", "slidingWindowSize": 20 })).is_ok());
}

#[test]
fn rates_are_more_than_zero_and_at_most_a_hundred() {
    let block = json!({
        "failureRateThreshold": 101, "halfOpenFailureRateThreshold": 0, "slowCallRateThreshold": -1.5,
    });
    assert_eq!(
        faults(block),
        [
            "failureRateThreshold is 101, allowed: a number greater than 0 and at most 100",
            "halfOpenFailureRateThreshold is 0, allowed: a number greater than 0 and at most 100",
            "slowCallRateThreshold is -1.5, allowed: a number greater than 0 and at most 100",
        ]
    );
    let keys = CanaryRateThresholdKeys { failure_rate_threshold: Some(f64::NAN), ..Default::default() };
    assert_eq!(CanaryRateThreshold::try_from(keys).unwrap_err().0[0].value, "NaN");
}

#[test]
fn counts_and_durations_of_zero_are_faults_all_told_together() {
    let block = json!({
        "minimumNumberOfCalls": 0, "permittedNumberOfCallsInHalfOpenState": 0, "slidingWindowSize": 0,
        "slowCallDurationThreshold": 0, "waitDurationInOpenState": 0, "maxWaitDurationInHalfOpenState": "PT0S",
        "halfOpenPermitLease": 0, "canaryInterval": 0, "canaryAttempts": 0, "canaryTimeout": 0,
        "maxCanaryInterval": 0,
    });
    let mut keys: Vec<_> = settings(block.clone()).unwrap_err().0.iter().map(|fault| fault.key).collect();
    keys.sort_unstable();
    let mut written: Vec<_> = block.as_object().unwrap().keys().map(String::as_str).collect();
    written.sort_unstable();
    // maxCanaryInterval is not less than canaryInterval, which has its fault already.
    written.retain(|key| *key != "maxCanaryInterval");
    assert_eq!(keys, written);
}

#[test]
fn a_largest_interval_below_the_interval_is_a_fault() {
    assert_eq!(
        faults(json!({ "canaryInterval": "PT2S", "maxCanaryInterval": "PT1S" })),
        ["maxCanaryInterval is PT1S, allowed: at least PT2S, since canaryInterval is PT2S"]
    );
}

#[test]
fn a_window_that_would_eat_the_memory_is_a_fault() {
    assert!(settings(json!({ "slidingWindowSize": 1_000_000 })).is_ok());
    assert_eq!(
        faults(json!({ "slidingWindowSize": 1_000_001 })),
        ["slidingWindowSize is 1000001, allowed: an integer from 1 to 1000000"]
    );
    assert_eq!(faults(json!({ "minimumNumberOfCalls": u32::MAX })).len(), 1);
}

#[test]
fn only_a_wait_in_open_state_makes_it_work_without_probes() {
    assert!(settings(json!({})).unwrap().needs_probe());
    assert!(settings(json!({ "initialState": "closed" })).unwrap().needs_probe());
    let waiting = settings(json!({ "waitDurationInOpenState": "PT5S" })).unwrap();
    assert!(!waiting.needs_probe());
    assert!(waiting.wants_probes(), "a canary may end the wait sooner");
}

#[test]
fn the_schema_names_every_key_with_range_default_and_description() {
    let schema = schema_for!(CanaryRateThresholdKeys).to_value();
    let keys = schema["properties"].as_object().unwrap();
    let effective = effective(json!({}));
    assert_eq!(keys.len(), effective.as_object().unwrap().len());
    for (key, schema) in keys {
        assert!(schema["description"].as_str().is_some_and(|text| text.len() > 40), "{key}");
        let ranged = schema.get("minimum").or(schema.get("exclusiveMinimum")).is_some();
        assert!(ranged || ["slidingWindowType", "initialState"].contains(&key.as_str()), "{key}");
        if schema["default"] != Value::Null {
            assert_eq!(schema["default"], effective[key], "{key}");
        }
    }
}
