//! What each kind of key accepts, and what is said of the rest.

use serde_json::json;

use super::{effective, errors};

#[test]
fn good_values_of_every_kind_are_read() {
    assert_eq!(effective(r#"{"percent": 21.9}"#, "percent"), json!(21.9));
    assert_eq!(effective(r#"{"percent": 100}"#, "percent"), json!(100.0));
    assert_eq!(effective(r#"{"mode": "TIME_BASED"}"#, "mode"), json!("TIME_BASED"));
    assert_eq!(effective(r#"{"enabled": false}"#, "enabled"), json!(false));
    assert_eq!(effective(r#"{"ports": [1, 65535]}"#, "ports"), json!([1, 65_535]));
    assert_eq!(effective(r#"{"either": "x"}"#, "either"), json!("x"));
    assert_eq!(effective(r#"{"either": 7}"#, "either"), json!(7));
    assert_eq!(effective(r#"{"signed": -5}"#, "signed"), json!(-5));
    assert_eq!(
        effective(r#"{"nested": {"level": 255, "inner": {"level": 1}}}"#, "nested"),
        json!({ "level": 255, "inner": { "level": 1, "inner": null } })
    );
}

#[test]
fn a_whole_number_is_an_integer_however_it_is_written() {
    for written in ["3", "3.0", "3e0", "0.3e1", "30e-1", "3.000000000"] {
        assert_eq!(effective(&format!(r#"{{"count": {written}}}"#), "count"), json!(3), "{written}");
    }
    assert_eq!(
        errors(r#"{"count": 3.5}"#),
        ["count: 3.5 is not a whole number; allowed: an integer, at least 1, at most 4294967295"]
    );
}

#[test]
fn bounds_hold_and_are_told() {
    let integer = "allowed: an integer, at least 1, at most 4294967295";
    assert_eq!(errors(r#"{"count": 0}"#), [format!("count: 0 is out of range; {integer}")]);
    assert_eq!(errors(r#"{"count": -1}"#), [format!("count: -1 is out of range; {integer}")]);
    assert_eq!(errors(r#"{"count": 4294967296}"#), [format!("count: 4294967296 is out of range; {integer}")]);
    assert_eq!(effective(r#"{"count": 4294967295}"#, "count"), json!(u32::MAX));

    let number = "allowed: a number, more than 0, at most 100";
    assert_eq!(errors(r#"{"percent": 0}"#), [format!("percent: 0 is out of range; {number}")]);
    assert_eq!(errors(r#"{"percent": 100.5}"#), [format!("percent: 100.5 is out of range; {number}")]);
    assert_eq!(errors(r#"{"percent": 1e400}"#), [format!("percent: 1e400 is too large a number; {number}")]);
    assert_eq!(effective(r#"{"percent": 1e-3}"#, "percent"), json!(0.001));
    for far in ["1e30", "-1e30", "9223372036854775808.0"] {
        let said = errors(&format!(r#"{{"signed": {far}}}"#));
        assert!(said[0].starts_with(&format!("signed: {far} is out of range")), "{said:?}");
    }
    assert!(
        errors(r#"{"signed": 9223372036854775808}"#)[0].starts_with("signed: 9223372036854775808 is refused")
    );
    assert!(
        errors(r#"{"signed": 99999999999999999999}"#)[0]
            .starts_with("signed: 99999999999999999999 is out of")
    );
}

#[test]
fn a_wrong_type_is_told_with_the_right_one() {
    let number = "allowed: a number, more than 0, at most 100";
    assert_eq!(errors(r#"{"percent": "NaN"}"#), [format!(r#"percent: "NaN" is a string; {number}"#)]);
    assert_eq!(errors(r#"{"percent": [[[5]]]}"#), [format!("percent: [[[5]]] is an array; {number}")]);
    assert_eq!(errors(r#"{"enabled": "yes"}"#), [r#"enabled: "yes" is a string; allowed: true or false"#]);
    assert_eq!(errors(r#"{"enabled": 1}"#), ["enabled: 1 is a number; allowed: true or false"]);
    assert_eq!(errors(r#"{"nested": true}"#), ["nested: true is a boolean; allowed: an object"]);
    assert_eq!(
        errors(r#"{"either": false}"#),
        ["either: false is not allowed; allowed: a string or an integer, at least 0, at most 4294967295"]
    );
    let long = format!(r#"{{"enabled": "{}"}}"#, "x".repeat(1_000));
    assert_eq!(
        errors(&long),
        [format!("enabled: \"{}… is a string; allowed: true or false", "x".repeat(59))]
    );
    assert_eq!(
        errors("{\"ports\": {\n  \"a\": 1\n}}"),
        [r#"ports: { "a": 1 } is an object; allowed: an array"#]
    );
}

#[test]
fn one_of_a_few_values_must_be_exact() {
    let known = r#"allowed: "COUNT_BASED" or "TIME_BASED""#;
    assert_eq!(
        errors(r#"{"mode": "count_based"}"#),
        [format!(r#"mode: "count_based" is not a known value; {known}; did you mean "COUNT_BASED"?"#)]
    );
    assert_eq!(errors(r#"{"mode": "NONE"}"#), [format!(r#"mode: "NONE" is not a known value; {known}"#)]);
    assert_eq!(errors(r#"{"mode": 1}"#), [format!("mode: 1 is a number; {known}")]);
}

#[test]
fn durations_hold_their_bounds_in_every_form() {
    assert_eq!(effective(r#"{"delay": 0}"#, "delay"), json!("PT0S"), "zero is not absent");
    assert_eq!(effective(r#"{"delay": "PT0S"}"#, "delay"), json!("PT0S"));
    assert_eq!(effective(r#"{"delay": "p1d"}"#, "delay"), json!("PT24H"));
    assert_eq!(effective(r#"{"lease": "1 minute"}"#, "lease"), json!("PT1M"));

    let words = r#"a duration such as "PT20S" or "1m 30s", or a number of seconds"#;
    let delay = format!("allowed: {words}, at least 0 s");
    assert_eq!(errors(r#"{"delay": "soon"}"#), [format!(r#"delay: "soon" is not a duration; {delay}"#)]);
    assert_eq!(errors(r#"{"delay": -1}"#), [format!("delay: -1 is negative; {delay}")]);
    assert_eq!(errors(r#"{"delay": "-PT1S"}"#), [format!(r#"delay: "-PT1S" is negative; {delay}"#)]);
    assert_eq!(errors(r#"{"delay": "NaN"}"#), [format!(r#"delay: "NaN" is not a duration; {delay}"#)]);
    assert_eq!(errors(r#"{"delay": true}"#), [format!("delay: true is a boolean; {delay}")]);
    assert!(errors(r#"{"delay": "P1M"}"#)[0].contains("months and years have no fixed length"));
    assert!(errors(r#"{"delay": 1e400}"#)[0].contains("longer than 100 years"));
    assert!(errors(r#"{"delay": -1e400}"#)[0].contains("is negative"));

    let lease = format!("{words}, more than 0 s, at most 60 s");
    for written in ["0", "0.0", r#""PT0S""#, r#""0s""#, "61", r#""PT1M0.001S""#] {
        assert_eq!(
            errors(&format!(r#"{{"lease": {written}}}"#)),
            [format!("lease: {written} is out of range; allowed: {lease}")]
        );
    }
}

#[test]
fn nested_keys_are_checked_as_strictly() {
    assert_eq!(
        errors(r#"{"nested": {"levle": 1}}"#),
        [r#"nested.levle: unknown key; did you mean "level"?"#]
    );
    assert_eq!(
        errors(r#"{"nested": {"inner": {"level": 256, "comment": 1}}}"#),
        [
            "nested.inner.level: 256 is out of range; allowed: an integer, at least 0, at most 255",
            "nested.inner.comment: unknown key; allowed: level or inner",
        ]
    );
    assert_eq!(
        errors(r#"{"nested": {"level": 1, "level": 2}}"#),
        ["nested.level: duplicate key; the first is at line 1, column 31"]
    );
    assert_eq!(
        errors(r#"{"ports": [1, 0, 65536]}"#),
        [
            "ports[1]: 0 is out of range; allowed: an integer, at least 1, at most 65535",
            "ports[2]: 65536 is out of range; allowed: an integer, at least 1, at most 65535",
        ]
    );
}

#[test]
fn what_only_the_type_knows_is_told_at_the_key() {
    assert_eq!(errors(r#"{"picky": 13}"#), ["picky: 13 is refused: 13 brings bad luck"]);
    assert_eq!(effective(r#"{"picky": 12}"#, "picky"), json!(12));
}

#[test]
fn null_is_the_default_for_every_key() {
    assert_eq!(
        effective(r#"{"count": null, "delay": null, "nested": null, "mode": null}"#, "count"),
        json!(2)
    );
    assert_eq!(effective(r#"{"delay": null}"#, "delay"), json!("PT20S"));
    assert_eq!(
        effective(r#"{"nested": {"level": null}}"#, "nested"),
        json!({ "level": null, "inner": null })
    );
}
