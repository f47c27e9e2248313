//! The laws of every strategy.

use breaker_core::testing::Suite;
use breaker_static::{StaticThreshold, StaticThresholdKeys};
use serde_json::{Value, json};

#[expect(clippy::needless_pass_by_value, reason = "rows of a table")]
fn keeps_every_law(block: Value, places: u32) {
    let keys: StaticThresholdKeys = serde_json::from_value(block.clone()).expect("keys");
    let settings = StaticThreshold::try_from(keys).expect("valid settings");
    match Suite::new(settings).run() {
        Ok(report) => assert_eq!(report.half_open_places, Some(places), "{block}"),
        Err(violation) => panic!("{block}\n{violation}"),
    }
}

#[test]
fn the_defaults_keep_every_law() {
    keeps_every_law(json!({}), 5);
}

#[test]
fn the_smallest_settings_keep_every_law() {
    keeps_every_law(
        json!({ "failureThreshold": 1, "failureThresholdCapacity": 1, "successThreshold": 1 }),
        1,
    );
}

#[test]
fn a_circuit_without_a_delay_keeps_every_law() {
    keeps_every_law(json!({ "failureThreshold": 2, "testDelay": 0, "successThreshold": 2 }), 2);
}

#[test]
fn a_growing_delay_and_a_short_lease_keep_every_law() {
    let block = json!({
        "failureThreshold": 2, "failureThresholdCapacity": 70, "successThreshold": 3,
        "testDelay": "PT0.5S", "maxTestDelay": "PT1M", "halfOpenPermitLease": "PT0.01S",
    });
    keeps_every_law(block, 3);
}

#[test]
fn delays_of_years_keep_every_law() {
    let block = json!({ "failureThreshold": 2, "testDelay": "P365D", "maxTestDelay": "P1000D" });
    keeps_every_law(block, 5);
}
