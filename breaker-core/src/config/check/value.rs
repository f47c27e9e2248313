//! Checks one value against one schema.

use serde_json::{Map, Value};

use super::{Checker, Unknown};
use crate::config::{
    DurationError, Fault, IsoDuration,
    describe::{allowed, limits},
    key_schema::{KeySchema, alternatives, is_duration, listed, types},
    node::{Kind, Node},
    suggest::nearest,
};

impl Checker<'_> {
    /// The value as serde wants it, or a fault.
    pub(super) fn value(
        &mut self,
        node: &Node,
        start: usize,
        path: &str,
        keys: &KeySchema,
        schema: &Value,
    ) -> Option<Value> {
        let schema = keys.resolved(schema);
        let outcome = if let Some(values) = listed(schema) {
            one_of_list(node, &values)
        } else if let Some(branches) = alternatives(schema) {
            return self.any(node, start, path, keys, schema, &branches);
        } else if is_duration(schema) && matches!(node.kind, Kind::String(_) | Kind::Number(_)) {
            duration(node, schema)
        } else {
            match &node.kind {
                Kind::Object(_) if types(schema).contains(&"object") => {
                    return self.object(node, path, keys, schema);
                }
                Kind::Array(elements) if types(schema).contains(&"array") => {
                    return self.array(elements, path, keys, schema);
                }
                Kind::Number(written) => number(node, written, schema),
                _ if accepts(schema, node) => Ok(node.to_value()),
                _ => Err(Refusal::new(format!("is {}", node.sort()))),
            }
        };
        outcome
            .map_err(|refusal| {
                let fault = self.fault_of(node, start, path, &refusal.reason);
                self.push(Fault { allowed: Some(allowed(keys, schema)), hint: refusal.hint, ..fault });
            })
            .ok()
    }

    /// A value that one of several schemas must allow. Where only one is possible, its faults are told.
    fn any(
        &mut self,
        node: &Node,
        start: usize,
        path: &str,
        keys: &KeySchema,
        schema: &Value,
        branches: &[&Value],
    ) -> Option<Value> {
        if let [only] = branches {
            return self.value(node, start, path, keys, only);
        }
        for branch in branches {
            let before = self.faults.len();
            let value = self.value(node, start, path, keys, branch);
            if value.is_some() {
                return value;
            }
            self.faults.truncate(before);
        }
        let fault = self.fault_of(node, start, path, "is not allowed");
        self.push(Fault { allowed: Some(allowed(keys, schema)), ..fault });
        None
    }

    fn object(&mut self, node: &Node, path: &str, keys: &KeySchema, schema: &Value) -> Option<Value> {
        let before = self.faults.len();
        let members = node.members().unwrap_or_default();
        let good: Map<_, _> = match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => {
                let known = properties.keys().map(String::as_str).collect();
                let unknown = Unknown { known, ..Unknown::default() };
                self.members(members, path, keys, schema, &unknown)
            }
            None => return Some(node.to_value()),
        };
        (self.faults.len() == before).then_some(Value::Object(good))
    }

    fn array(&mut self, elements: &[Node], path: &str, keys: &KeySchema, schema: &Value) -> Option<Value> {
        let any = Value::Bool(true);
        let items = schema.get("items").unwrap_or(&any);
        let before = self.faults.len();
        let good = elements
            .iter()
            .enumerate()
            .filter_map(|(i, node)| self.value(node, node.start, &format!("{path}[{i}]"), keys, items))
            .collect();
        (self.faults.len() == before).then_some(Value::Array(good))
    }
}

/// Why a value is refused.
struct Refusal {
    /// Follows the value in a sentence.
    reason: String,
    hint: Option<String>,
}

impl Refusal {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), hint: None }
    }
}

fn one_of_list(node: &Node, values: &[&Value]) -> Result<Value, Refusal> {
    let value = node.to_value();
    if values.contains(&&value) {
        return Ok(value);
    }
    let Some(written) = value.as_str() else { return Err(Refusal::new(format!("is {}", node.sort()))) };
    let known = values.iter().filter_map(|value| value.as_str());
    let hint = nearest(written, known).map(|name| format!("did you mean {name:?}?"));
    Err(Refusal { reason: "is not a known value".to_owned(), hint })
}

fn duration(node: &Node, schema: &Value) -> Result<Value, Refusal> {
    let span = match &node.kind {
        Kind::String(written) => written.parse::<IsoDuration>(),
        Kind::Number(written) => {
            let secs = written.parse().unwrap_or(f64::INFINITY);
            if secs < 0.0 { Err(DurationError::Negative) } else { IsoDuration::try_from_secs_f64(secs) }
        }
        _ => Err(DurationError::NotADuration),
    };
    match span {
        Ok(span) if limits(schema).allow(span.get().as_secs_f64()) => Ok(node.to_value()),
        Ok(_) => Err(Refusal::new("is out of range")),
        Err(DurationError::NotADuration) => Err(Refusal::new("is not a duration")),
        Err(DurationError::Negative) => Err(Refusal::new("is negative")),
        Err(error) => Err(Refusal::new(format!("is not usable as a duration: {error}"))),
    }
}

/// A whole number counts as an integer however it is written: `3`, `3.0`, `3e0`.
fn number(node: &Node, written: &str, schema: &Value) -> Result<Value, Refusal> {
    let sorts = types(schema);
    let float = sorts.is_empty() || sorts.contains(&"number");
    if !float && !sorts.contains(&"integer") {
        return Err(Refusal::new("is a number"));
    }
    let number: f64 = written.parse().unwrap_or(f64::INFINITY);
    if !number.is_finite() {
        return Err(Refusal::new("is too large a number"));
    }
    if !float && number.fract() != 0.0 {
        return Err(Refusal::new("is not a whole number"));
    }
    if !limits(schema).allow(number) {
        return Err(Refusal::new("is out of range"));
    }
    let value = node.to_value();
    if float || value.is_u64() || value.is_i64() {
        return Ok(value);
    }
    // Whole, and written as a fraction or with an exponent. Casts saturate, so a number that does not come
    // back the same is too large.
    let whole = number as i64;
    let exact = whole as f64 == number && whole != i64::MAX;
    if exact { Ok(Value::from(whole)) } else { Err(Refusal::new("is out of range")) }
}

fn accepts(schema: &Value, node: &Node) -> bool {
    let sorts = types(schema);
    let sort = match node.kind {
        Kind::Null => "null",
        Kind::Bool(_) => "boolean",
        Kind::Number(_) => "number",
        Kind::String(_) => "string",
        Kind::Array(_) => "array",
        Kind::Object(_) => "object",
    };
    schema != &Value::Bool(false) && (sorts.is_empty() || sorts.contains(&sort))
}
