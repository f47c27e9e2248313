//! What a schema allows, in words.

use serde_json::Value;

use super::key_schema::{KeySchema, alternatives, is_duration, listed, types};

/// As in `a number, more than 0, at most 100`.
pub(super) fn allowed(keys: &KeySchema, schema: &Value) -> String {
    let schema = keys.resolved(schema);
    if let Some(values) = listed(schema) {
        return one_of(values.iter().map(|value| value.to_string()));
    }
    if let Some(branches) = alternatives(schema) {
        return one_of(branches.into_iter().map(|branch| allowed(keys, branch)));
    }
    if is_duration(schema) {
        let bounds = bounds(schema, " s");
        return format!(r#"a duration such as "PT20S" or "1m 30s", or a number of seconds{bounds}"#);
    }
    let sorts = types(schema).into_iter().filter(|&sort| sort != "null").map(|sort| match sort {
        "integer" => format!("an integer{}", bounds(schema, "")),
        "number" => format!("a number{}", bounds(schema, "")),
        "boolean" => "true or false".to_owned(),
        "object" => "an object".to_owned(),
        "array" => "an array".to_owned(),
        sort => format!("a {sort}"),
    });
    one_of(sorts)
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn one_of(choices: impl IntoIterator<Item = String>) -> String {
    let mut choices: Vec<_> = choices.into_iter().collect();
    match (choices.pop(), choices.is_empty()) {
        (None, _) => "nothing".to_owned(),
        (Some(last), true) => last,
        (Some(last), false) => format!("{} or {last}", choices.join(", ")),
    }
}

fn bounds(schema: &Value, unit: &str) -> String {
    let limits = limits(schema);
    [
        ("at least", limits.at_least),
        ("more than", limits.more_than),
        ("at most", limits.at_most),
        ("less than", limits.less_than),
    ]
    .into_iter()
    .filter_map(|(relation, bound)| bound.map(|bound| format!(", {relation} {bound}{unit}")))
    .collect()
}

/// The bounds of a number.
#[derive(Debug, Default)]
pub(super) struct Limits {
    at_least: Option<f64>,
    more_than: Option<f64>,
    at_most: Option<f64>,
    less_than: Option<f64>,
}

impl Limits {
    pub(super) fn allow(&self, number: f64) -> bool {
        self.at_least.is_none_or(|low| number >= low)
            && self.more_than.is_none_or(|low| number > low)
            && self.at_most.is_none_or(|high| number <= high)
            && self.less_than.is_none_or(|high| number < high)
    }
}

/// The bounds that a schema sets, those of its integer `format` included where schemars leaves them to that; of two
/// lower ones only that which says more.
pub(super) fn limits(schema: &Value) -> Limits {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let (low, high) = match schema.get("format").and_then(Value::as_str) {
        Some("uint32") => (None, Some(f64::from(u32::MAX))),
        Some("int32") => (Some(f64::from(i32::MIN)), Some(f64::from(i32::MAX))),
        _ => (None, None),
    };
    let mut limits = Limits {
        at_least: bound("minimum").or(low),
        more_than: bound("exclusiveMinimum"),
        at_most: bound("maximum").or(high),
        less_than: bound("exclusiveMaximum"),
    };
    if limits.more_than.zip(limits.at_least).is_some_and(|(more, least)| more >= least) {
        limits.at_least = None;
    }
    if limits.less_than.zip(limits.at_most).is_some_and(|(less, most)| less <= most) {
        limits.at_most = None;
    }
    limits
}
