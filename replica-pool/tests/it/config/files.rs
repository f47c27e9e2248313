use std::{collections::BTreeMap, fs, time::Duration};

use breaker_core::config::{IsoDuration, LoadError};
use replica_pool::config::{Config, PoolConfig};
use serde_json::{Value, json};

use super::{configs, read};

/// File name to expected reading.
fn expected() -> BTreeMap<String, Value> {
    serde_json::from_str(&fs::read_to_string(configs().join("expected.json")).unwrap()).unwrap()
}

#[test]
fn every_file_reads_as_expected() {
    let expected = expected();
    assert_eq!(expected.len(), 24);
    for (name, reading) in expected {
        let read = Config::from_file(configs().join(&name));
        match reading.get("error") {
            None => has(&name, &read.unwrap().effective()["circuitBreaker"], &reading),
            Some(words) => {
                let message = read.unwrap_err().to_string();
                assert!(message.contains(&name), "{message}");
                for word in words.as_array().unwrap() {
                    assert!(message.contains(word.as_str().unwrap()), "{name}: {word} is not in {message:?}");
                }
            }
        }
    }
}

fn has(name: &str, block: &Value, reading: &Value) {
    for (key, expected) in reading.as_object().unwrap() {
        let same = if key == "testDelaySeconds" {
            let delay: IsoDuration = block["testDelay"].as_str().unwrap().parse().unwrap();
            delay.get() == Duration::from_secs_f64(expected.as_f64().unwrap())
        } else if expected.is_number() {
            block[key].as_f64() == expected.as_f64()
        } else {
            block[key] == *expected
        };
        assert!(same, "{name}: {key} is to be {expected} in {block}");
    }
}

#[test]
fn every_expectation_has_its_file_and_every_file_its_expectation() {
    let named = expected().into_keys().collect::<Vec<_>>();
    let mut there: Vec<_> = fs::read_dir(configs())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".json") && name != "expected.json")
        .collect();
    there.sort();
    assert_eq!(there, named);
}

#[test]
fn what_is_effective_reads_back_the_same() {
    for name in
        expected().into_iter().filter(|(_, reading)| reading.get("error").is_none()).map(|(name, _)| name)
    {
        let first = Config::from_file(configs().join(&name)).unwrap();
        let again = read(&first.effective().to_string());
        assert_eq!(again.effective(), first.effective(), "{name}");
        assert_eq!(again.pool, first.pool, "{name}");
    }
}

#[test]
fn a_missing_file_means_all_defaults_and_says_so() {
    let config = Config::from_file(configs().join("no-such-file.json")).unwrap();
    assert!(config.absent);
    assert_eq!(config.effective(), Config::default().effective());
    assert_eq!(config.pool, PoolConfig::default());
    assert_eq!(
        config.effective()["circuitBreaker"],
        json!({
            "strategy": "STATIC_THRESHOLD",
            "failureThreshold": 3,
            "failureThresholdCapacity": 10,
            "successThreshold": 5,
            "testDelay": "PT20S",
            "maxTestDelay": "PT20S",
            "halfOpenPermitLease": "PT1M",
        })
    );
    assert!(!read("{}").absent);
    assert!(Config::loader().pointer("/a/b").file(configs().join("no-such-file.json")).unwrap().absent);
}

#[test]
fn an_unreadable_file_is_an_error_of_its_own() {
    let error = Config::from_file(configs()).unwrap_err();
    assert!(matches!(error, LoadError::Unreadable { .. }), "a directory: {error}");
    let error = Config::from_file(configs().join("truncated.json")).unwrap_err();
    assert!(matches!(error, LoadError::Invalid(_)));
}

#[test]
fn a_pointer_finds_blocks_in_unusual_places() {
    let text = r#"{ "circuitBreaker": { "strategy": "NON_RESILIENT" },
        "upstreams": [ { "breaker": { "failureThreshold": 4 }, "replicaPool": { "maxAttempts": 2 } } ] }"#;
    let config = Config::loader().pointer("/upstreams/0/breaker").text("f", text).unwrap();
    assert_eq!(config.breaker.effective()["failureThreshold"], 4);
    assert_eq!(config.pool.max_attempts(), Some(2));
    let error = Config::loader().pointer("/upstreams/1/breaker").text("f", text).unwrap_err();
    assert!(error.to_string().contains(r#""/upstreams/1/breaker" points to nothing"#), "{error}");
}

#[test]
fn old_keys_that_nobody_knows_are_warnings() {
    let config = read("{ \"circuitBreaker\": {\n  \"failureThreshold\": 4, \"logChanges\": true } }");
    let warnings: Vec<_> = config.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["f.json:2:26: circuitBreaker.logChanges: unknown key, ignored"]);
    assert_eq!(config.breaker.effective()["failureThreshold"], 4);
}
