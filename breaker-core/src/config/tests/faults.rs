//! The choice of the strategy, unknown keys, and faults that are told together.

use super::{errors, name, resolve};
use crate::config::Fault;

const NAMES: &str = r#"allowed: "SAMPLE" or "OTHER_STRATEGY""#;

fn strategy(block: &str) -> &'static str {
    name(&resolve(&format!(r#"{{"circuitBreaker": {block}}}"#)).unwrap().blueprint)
}

#[test]
fn strategy_or_type_chooses_and_null_is_absent() {
    assert_eq!(strategy("{}"), "SAMPLE");
    assert_eq!(strategy(r#"{"strategy": "OTHER_STRATEGY"}"#), "OTHER_STRATEGY");
    assert_eq!(strategy(r#"{"type": "OTHER_STRATEGY"}"#), "OTHER_STRATEGY");
    assert_eq!(strategy(r#"{"strategy": null}"#), "SAMPLE");
    assert_eq!(strategy(r#"{"strategy": null, "type": "OTHER_STRATEGY"}"#), "OTHER_STRATEGY");
}

#[test]
fn strategy_and_type_together_are_an_error_even_if_equal() {
    let both = r#"type: "SAMPLE" is a second choice of the strategy; remove "strategy" or "type""#;
    assert_eq!(errors(r#"{"strategy": "SAMPLE", "type": "SAMPLE"}"#), [both]);
    assert_eq!(errors(r#"{"strategy": "OTHER_STRATEGY", "type": "SAMPLE"}"#), [both]);
    // If they are equal, it is clear what the other keys should be.
    let out = "count: 0 is out of range; allowed: an integer, at least 1, at most 4294967295";
    assert_eq!(errors(r#"{"strategy": "SAMPLE", "type": "SAMPLE", "count": 0}"#), [both, out]);
    let other = r#"type: "OTHER_STRATEGY" is a second choice of the strategy; remove "strategy" or "type""#;
    assert_eq!(errors(r#"{"strategy": "SAMPLE", "type": "OTHER_STRATEGY", "count": 0}"#), [other]);
}

#[test]
fn an_unknown_strategy_is_told_with_the_known_ones() {
    assert_eq!(
        errors(r#"{"strategy": "MAGIC"}"#),
        [format!(r#"strategy: "MAGIC" is not a known strategy; {NAMES}"#)]
    );
    assert_eq!(
        errors(r#"{"type": "other_strategy"}"#),
        [format!(
            r#"type: "other_strategy" is not a known strategy; {NAMES}; did you mean "OTHER_STRATEGY"?"#
        )]
    );
    assert_eq!(errors(r#"{"strategy": 5}"#), [format!("strategy: 5 is a number; {NAMES}")]);
    assert_eq!(
        errors(r#"{"strategy": ["SAMPLE"]}"#),
        [format!(r#"strategy: ["SAMPLE"] is an array; {NAMES}"#)]
    );
    assert_eq!(errors(r#"{"strategy": ""}"#), [format!(r#"strategy: "" is not a known strategy; {NAMES}"#)]);
}

#[test]
fn keys_are_checked_as_far_as_the_strategy_is_clear() {
    let said = errors(r#"{"strategy": "MAGIC", "count": 0, "failureRte": 1, "failureRate": 1}"#);
    assert_eq!(said.len(), 2);
    assert_eq!(said[1], r#"failureRte: unknown key; did you mean "failureRate"?"#);
    let said = errors(r#"{"strategy": "sample", "count": 0, "failureRate": 1}"#);
    assert_eq!(said.len(), 3, "a wrong case leaves no doubt about the strategy");
    assert!(said[1].starts_with("count: 0 is out of range"));
    assert_eq!(said[2], r#"failureRate: key of another strategy; needs "strategy": "OTHER_STRATEGY""#);
}

#[test]
fn a_block_must_be_an_object() {
    for (block, sort) in
        [("5", "a number"), ("[]", "an array"), (r#""STATIC""#, "a string"), ("false", "a boolean")]
    {
        assert_eq!(errors(block), [format!("circuitBreaker: {block} is {sort}; allowed: an object or null")]);
    }
    let error = resolve("{\n  \"circuitBreaker\": 5\n}").unwrap_err();
    assert!(error.to_string().starts_with("f.json:2:3: circuitBreaker: 5 is a number"), "{error}");
}

#[test]
fn an_unknown_key_is_told_with_the_nearest_known_one() {
    assert_eq!(
        errors(r#"{"strategy": "SAMPLE", "cuont": 1}"#),
        [r#"cuont: unknown key; did you mean "count"?"#]
    );
    assert_eq!(errors(r#"{"cuont": 1}"#), [r#"cuont: unknown key; did you mean "count"?"#]);
    assert_eq!(errors(r#"{"cuont": null}"#), [r#"cuont: unknown key; did you mean "count"?"#]);
    assert_eq!(
        errors(r#"{"stratgy": "OTHER_STRATEGY"}"#),
        [r#"stratgy: unknown key; did you mean "strategy"?"#]
    );
    assert_eq!(
        errors(r#"{"failureRat": 1}"#),
        [r#"failureRat: unknown key; did you mean "failureRate" (needs "strategy": "OTHER_STRATEGY")?"#]
    );
    assert_eq!(
        errors(r#"{"strategy": "OTHER_STRATEGY", "notes": 1}"#)[0].get(..40),
        Some("notes: unknown key; allowed: failureRate")
    );
}

#[test]
fn without_strategy_a_key_that_resembles_none_is_a_warning() {
    let resolved = resolve("{\"circuitBreaker\": {\n  \"comment\": \"ours\", \"count\": 7}}").unwrap();
    assert_eq!(resolved.blueprint.effective().get("count"), Some(&7.into()));
    let warnings: Vec<_> = resolved.warnings.iter().map(Fault::to_string).collect();
    assert_eq!(warnings, ["f.json:2:3: circuitBreaker.comment: unknown key, ignored"]);

    for block in [r#"{"strategy": null, "comment": 1}"#, r#"{"type": null, "comment": 1}"#] {
        let resolved = resolve(&format!(r#"{{"circuitBreaker": {block}}}"#)).unwrap();
        assert_eq!(resolved.warnings.len(), 1, "null chooses nothing");
    }
    assert_eq!(errors(r#"{"type": "SAMPLE", "comment": 1}"#).len(), 1);
    assert_eq!(errors(r#"{"nested": {"comment": 1}}"#).len(), 1, "only in the block itself");
}

#[test]
fn keys_of_another_strategy_need_it_unless_they_are_null() {
    let said = [r#"failureRate: key of another strategy; needs "strategy": "OTHER_STRATEGY""#];
    assert_eq!(errors(r#"{"failureRate": 1}"#), said);
    assert_eq!(errors(r#"{"strategy": "SAMPLE", "failureRate": 1}"#), said);
    assert_eq!(strategy(r#"{"strategy": "SAMPLE", "failureRate": null}"#), "SAMPLE");
    assert_eq!(strategy(r#"{"failureRate": null}"#), "SAMPLE");
    assert_eq!(strategy(r#"{"strategy": "OTHER_STRATEGY", "delay": null, "count": 1}"#), "OTHER_STRATEGY");
}

#[test]
fn a_double_key_is_an_error_even_if_equal_or_null() {
    let said = ["count: duplicate key; the first is at line 1, column 20"];
    assert_eq!(errors(r#"{"count": 1, "count": 1}"#), said);
    assert_eq!(errors(r#"{"count": null, "count": 1}"#), said);
    assert_eq!(errors(r#"{"count": 1, "cou\u006et": 2}"#), said, "escapes do not hide it");
    assert_eq!(
        errors(r#"{"strategy": "SAMPLE", "strategy": "SAMPLE"}"#),
        ["strategy: duplicate key; the first is at line 1, column 20"]
    );
}

#[test]
fn keys_that_do_not_go_together_are_told_at_the_key() {
    let error = resolve("{\"circuitBreaker\": {\r\n\t\"ä\": 1, \"count\": 5, \"capacity\": 3}}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "f.json:2:22: circuitBreaker.capacity: 3 does not go with the other keys; \
         allowed: at least 5, since count is 5"
    );
    let fault = &error.faults[0];
    assert_eq!(
        (fault.value.as_deref(), fault.allowed.as_deref()),
        (Some("3"), Some("at least 5, since count is 5"))
    );
    assert_eq!(
        errors(r#"{"capacity": 1}"#),
        ["capacity: 1 does not go with the other keys; allowed: at least 2, since count is 2"]
    );
}

#[test]
fn all_faults_are_told_together_in_the_order_of_the_file() {
    let said = errors(
        r#"{"count": 5, "delay": "soon", "cuont": 1, "enabled": 3, "percent": 101, "capacity": 3, "mode": "X"}"#,
    );
    let keys: Vec<_> = said.iter().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(keys, ["delay", "cuont", "enabled", "percent", "capacity", "mode"]);
}

#[test]
fn what_only_follows_from_a_bad_key_is_not_told() {
    let said = errors(r#"{"count": "five", "capacity": 1}"#);
    assert_eq!(said.len(), 1, "with the default count, 2, a capacity of 1 would be wrong: {said:?}");
    assert!(said[0].starts_with("count"));
}

#[test]
fn a_fault_has_its_parts() {
    let error = resolve("{\n \"circuitBreaker\": {\"percent\": 1.0e3}}").unwrap_err();
    let [fault] = error.faults.as_slice() else { panic!("{error}") };
    assert_eq!((fault.file.as_str(), fault.line, fault.column), ("f.json", 2, 21));
    assert_eq!(fault.path, "circuitBreaker.percent");
    assert_eq!(fault.value.as_deref(), Some("1.0e3"));
    assert_eq!(fault.allowed.as_deref(), Some("a number, more than 0, at most 100"));
    assert_eq!(fault.hint, None);
}

#[test]
fn a_file_full_of_faults_is_judged_in_reasonable_time() {
    let keys: Vec<_> = (0..20_000).map(|i| format!(r#""ä{i}":1"#)).collect();
    let said = errors(&format!(r#"{{"strategy": "SAMPLE", {}}}"#, keys.join(",")));
    assert_eq!(said.len(), 20_000);
}
