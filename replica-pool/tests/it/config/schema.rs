use std::{collections::BTreeSet, fs};

use breaker_core::config::Document;
use replica_pool::config::{Config, builtin};
use serde_json::{Value, json};

use super::{configs, read};

#[test]
fn the_committed_schema_is_fresh() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/circuit-breaker.schema.json");
    let committed = fs::read_to_string(file).unwrap_or_default().replace("\r\n", "\n");
    let generated = serde_json::to_string_pretty(&builtin().schema()).unwrap() + "\n";
    assert!(
        committed == generated,
        "docs/circuit-breaker.schema.json is stale; in the workspace's folder, run\n\
         cargo run -p examples --bin check-config -- --schema > docs/circuit-breaker.schema.json"
    );
}

#[test]
fn the_schema_is_a_schema() {
    assert!(jsonschema::meta::is_valid(&builtin().schema()));
}

/// Whether the schema, and whether the checker, accepts a file.
fn verdicts(text: &str) -> (bool, bool) {
    let validator = jsonschema::validator_for(&builtin().schema()).unwrap();
    let value = Document::parse("f", text).unwrap().to_value();
    (validator.is_valid(&value), Config::from_text("f", text).is_ok())
}

#[test]
fn the_schema_accepts_the_good_files_and_refuses_the_bad_ones() {
    let expected: Value =
        serde_json::from_str(&fs::read_to_string(configs().join("expected.json")).unwrap()).unwrap();
    for (name, reading) in expected.as_object().unwrap() {
        // Not JSON, and two keys that do not go together: no schema says that.
        if name == "truncated.json" || name == "capacity-below-threshold.json" {
            continue;
        }
        let text = fs::read_to_string(configs().join(name)).unwrap();
        let good = reading.get("error").is_none();
        assert_eq!(verdicts(&text), (good, good), "{name}");
    }
}

#[test]
fn schema_and_checker_are_of_one_mind() {
    for (block, good) in [
        ("null", true),
        ("{}", true),
        ("5", false),
        ("[]", false),
        (r#"{"strategy": null}"#, true),
        (r#"{"strategy": 5}"#, false),
        (r#"{"type": "STATIC_THRESHOLD", "failureThreshold": 4}"#, true),
        (r#"{"type": "CANARY_RATE_THRESHOLD", "failureThreshold": 4}"#, false),
        (r#"{"strategy": null, "type": "CANARY_RATE_THRESHOLD", "failureRateThreshold": 4}"#, true),
        (r#"{"strategy": "STATIC_THRESHOLD", "type": "STATIC_THRESHOLD"}"#, false),
        (r#"{"strategy": "STATIC_THRESHOLD", "type": null}"#, true),
        (r#"{"failureThreshold": null, "failureRateThreshold": null}"#, true),
        (r#"{"strategy": "CANARY_RATE_THRESHOLD", "testDelay": null, "slidingWindowType": null}"#, true),
        (
            r#"{"strategy": "CANARY_RATE_THRESHOLD", "slidingWindowType": "TIME_BASED", "initialState": "closed"}"#,
            true,
        ),
        (r#"{"strategy": "CANARY_RATE_THRESHOLD", "slidingWindowType": "time_based"}"#, false),
        (r#"{"strategy": "NON_RESILIENT", "testDelay": null}"#, true),
        (r#"{"strategy": "NON_RESILIENT", "testDelay": 1}"#, false),
        (r#"{"failureThreshold": 3.0}"#, true),
        (r#"{"failureThreshold": 3.5}"#, false),
        (r#"{"failureThreshold": "3"}"#, false),
        (r#"{"testDelay": 0}"#, true),
        (r#"{"testDelay": "PT0S"}"#, true),
        (r#"{"testDelay": -0.5}"#, false),
        (r#"{"testDelay": "-PT1S"}"#, false),
        (r#"{"testDelay": "soon"}"#, false),
        (r#"{"testDelay": "1m 30s"}"#, true),
        (r#"{"testDelay": "p1d"}"#, true),
        (r#"{"halfOpenPermitLease": 0}"#, false),
        (r#"{"strategy": "CANARY_RATE_THRESHOLD", "failureRateThreshold": 0}"#, false),
        (r#"{"strategy": "CANARY_RATE_THRESHOLD", "failureRateThreshold": 1e400}"#, false),
        (r#"{"failureTreshold": 1}"#, false),
    ] {
        for text in [
            format!(r#"{{"circuitBreaker": {block}, "other": 1}}"#),
            format!(r#"{{"solverRemote": {{"circuitBreaker": {block}, "other": 1}}}}"#),
            format!(r#"{{"solver": {{"remote": {{"circuitBreaker": {block}}}, "other": 1}}}}"#),
        ] {
            assert_eq!(verdicts(&text), (good, good), "{text}");
        }
    }
    for (block, good) in [
        ("null", true),
        ("{}", true),
        ("[]", false),
        (r#"{"order": "listed", "whenAllOpen": "tryLeastBad", "validation": {"enabled": null}}"#, true),
        (r#"{"order": "Listed"}"#, false),
        (r#"{"order": null, "targetReplicas": null, "validation": null}"#, true),
        (r#"{"validation": {"on": true}}"#, false),
        (r#"{"attemptTimeout": 0}"#, false),
        (r#"{"maxAttempts": 0}"#, false),
        (r#"{"comment": 0}"#, false),
    ] {
        let text = format!(r#"{{"replicaPool": {block}}}"#);
        assert_eq!(verdicts(&text), (good, good), "{text}");
    }
}

#[test]
fn what_belongs_to_the_application_is_left_alone() {
    for text in [
        r#"{"solver": 5, "solverRemote": "x", "circuitbreaker": 1, "a": {"circuitBreaker": 5}}"#,
        r#"{"solver": {"remote": [1], "circuitBreaker": 5}, "a": 1e400}"#,
    ] {
        assert_eq!(verdicts(text), (true, true), "{text}");
    }
}

/// The properties of a definition, and the effective block that no keys make.
fn blocks() -> Vec<(&'static str, Value)> {
    let strategy = |name| read(&format!(r#"{{"circuitBreaker": {{"strategy": "{name}"}}}}"#)).effective();
    let mut blocks: Vec<_> =
        builtin().names().map(|name| (name, strategy(name)["circuitBreaker"].clone())).collect();
    blocks.push(("replicaPool", Config::default().effective()["replicaPool"].clone()));
    blocks
}

#[test]
fn the_defaults_of_the_schema_are_the_effective_ones() {
    let schema = builtin().schema();
    let mut seen = 0;
    for (name, effective) in blocks() {
        for (key, property) in schema["$defs"][name]["properties"].as_object().unwrap() {
            if let Some(default) = property.get("default") {
                assert_eq!(*default, effective[key], "{name}.{key}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 20, "{seen}");
    assert_eq!(
        schema.pointer("/$defs/circuitBreaker/properties/strategy/default"),
        Some(&json!("STATIC_THRESHOLD"))
    );
}

#[test]
fn the_schema_has_the_keys_of_the_effective_blocks() {
    let schema = builtin().schema();
    for (name, effective) in blocks() {
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        let mut described = keys(&schema["$defs"][name]["properties"]);
        let mut shown = keys(&effective);
        for selector in ["strategy", "type"] {
            described.remove(selector);
            shown.remove(selector);
        }
        assert_eq!(described, shown, "{name}");
    }
}

#[test]
fn every_key_is_described() {
    let schema = builtin().schema();
    for (name, _) in blocks() {
        for (key, property) in schema["$defs"][name]["properties"].as_object().unwrap() {
            let described = property["description"].as_str().is_some_and(|text| !text.contains('\n'));
            assert!(described || *property == Value::Bool(true), "{name}.{key}");
        }
    }
}
