use breaker_core::config::Blueprint;
use schemars::schema_for;
use serde_json::{Value, json};

use super::*;

fn settings(block: Value) -> Result<StaticThreshold, Violations> {
    StaticThreshold::from_keys(serde_json::from_value(block).unwrap())
}

fn faults(block: Value) -> Vec<(&'static str, String, String)> {
    let Violations(faults) = settings(block).unwrap_err();
    faults.into_iter().map(|fault| (fault.key, fault.value, fault.allowed)).collect()
}

#[test]
fn an_empty_block_has_the_defaults_and_tells_every_key() {
    let effective = json!({
        "strategy": "STATIC_THRESHOLD",
        "failureThreshold": 3,
        "failureThresholdCapacity": 10,
        "successThreshold": 5,
        "testDelay": "PT20S",
        "maxTestDelay": "PT20S",
        "halfOpenPermitLease": "PT1M",
    });
    let settings = settings(json!({})).unwrap();
    assert_eq!(settings, StaticThreshold::default());
    assert_eq!(Value::Object(Blueprint::new(settings).effective()), effective);
}

#[test]
fn null_is_the_default_and_zero_is_zero() {
    let settings = settings(json!({ "failureThreshold": null, "testDelay": "PT0S" })).unwrap();
    assert_eq!((settings.failure_threshold().get(), settings.test_delay()), (3, Duration::ZERO));
}

#[test]
fn a_threshold_above_ten_widens_the_window_to_itself() {
    let settings = settings(json!({ "failureThreshold": 12 })).unwrap();
    assert_eq!(settings.failure_threshold_capacity().get(), 12);
}

#[test]
fn the_longest_delay_is_the_test_delay_unless_set() {
    assert_eq!(settings(json!({ "testDelay": 90 })).unwrap().max_test_delay(), Duration::from_secs(90));
    let growing = settings(json!({ "testDelay": "PT5S", "maxTestDelay": "PT1M" })).unwrap();
    assert_eq!((growing.test_delay().as_secs(), growing.max_test_delay().as_secs()), (5, 60));
}

#[test]
fn effective_keys_read_back_as_the_same_settings() {
    let given = settings(json!({ "failureThreshold": 4, "testDelay": 0.25, "maxTestDelay": 8 })).unwrap();
    let read: StaticThreshold = serde_json::from_value(serde_json::to_value(&given).unwrap()).unwrap();
    assert_eq!(read, given);
}

#[test]
fn a_window_smaller_than_the_threshold_is_a_fault() {
    let fault =
        ("failureThresholdCapacity", "3".to_owned(), "at least 5, since failureThreshold is 5".to_owned());
    assert_eq!(faults(json!({ "failureThreshold": 5, "failureThresholdCapacity": 3 })), [fault]);
}

#[test]
fn all_faults_are_told_together() {
    let block = json!({
        "failureThreshold": 0, "successThreshold": 0, "testDelay": "PT20S", "maxTestDelay": "PT10S",
        "halfOpenPermitLease": 0,
    });
    let keys: Vec<_> = faults(block).into_iter().map(|(key, ..)| key).collect();
    assert_eq!(keys, ["failureThreshold", "successThreshold", "maxTestDelay", "halfOpenPermitLease"]);
}

#[test]
fn a_window_that_would_eat_the_memory_is_a_fault() {
    assert!(settings(json!({ "failureThresholdCapacity": 1_000_000 })).is_ok());
    assert_eq!(faults(json!({ "failureThresholdCapacity": 1_000_001 }))[0].0, "failureThresholdCapacity");
    assert_eq!(faults(json!({ "failureThreshold": 1_000_001 }))[0].0, "failureThreshold");
}

#[test]
fn the_schema_names_every_key_with_range_default_and_description() {
    let schema = schema_for!(StaticThresholdKeys).to_value();
    let keys = schema["properties"].as_object().unwrap();
    let effective = serde_json::to_value(StaticThreshold::default()).unwrap();
    assert_eq!(keys.len(), effective.as_object().unwrap().len());
    for (key, schema) in keys {
        assert!(schema["description"].as_str().is_some_and(|text| text.len() > 40), "{key}");
        assert!(schema.get("minimum").or(schema.get("exclusiveMinimum")).is_some(), "{key}");
        if key != "maxTestDelay" {
            assert_eq!(schema["default"], effective[key], "{key}");
        }
    }
}
