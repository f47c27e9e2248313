//! A JSON document that remembers where everything stood.

use jsonc_parser::{ast, common::Ranged};
use serde_json::{Map, Value};

/// A value, and the bytes of the text that it was written with.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    /// A number of JSON's grammar, as it was written: it may be greater than any `f64`.
    Number(String),
    String(String),
    Array(Vec<Node>),
    /// In the order of the file, double keys included.
    Object(Vec<Member>),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where the key begins.
    pub(super) start: usize,
    pub(super) value: Node,
}

impl Node {
    pub(super) fn from_ast(value: &ast::Value<'_>) -> Self {
        let range = value.range();
        let kind = match value {
            ast::Value::NullKeyword(_) => Kind::Null,
            ast::Value::BooleanLit(lit) => Kind::Bool(lit.value),
            ast::Value::NumberLit(lit) => Kind::Number(lit.value.to_owned()),
            ast::Value::StringLit(lit) => Kind::String(lit.value.clone().into_owned()),
            ast::Value::Array(array) => Kind::Array(array.elements.iter().map(Self::from_ast).collect()),
            ast::Value::Object(object) => {
                Kind::Object(object.properties.iter().map(Member::from_ast).collect())
            }
        };
        Self { start: range.start, end: range.end, kind }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// The members, when this is an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// What sort of value this is, for messages.
    pub(super) fn sort(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
        }
    }

    /// The value without its places. The last of double keys wins; a number that no `f64` can hold is the
    /// largest one.
    pub(super) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::from(*value),
            Kind::Number(written) => number(written),
            Kind::String(value) => Value::from(value.as_str()),
            Kind::Array(elements) => elements.iter().map(Self::to_value).collect(),
            Kind::Object(members) => {
                let members = members.iter().map(|member| (member.key.clone(), member.value.to_value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }
}

impl Member {
    fn from_ast(property: &ast::ObjectProp<'_>) -> Self {
        Self {
            key: property.name.as_str().to_owned(),
            start: property.name.range().start,
            value: Node::from_ast(&property.value),
        }
    }
}

fn number(written: &str) -> Value {
    if let Ok(number) = written.parse::<u64>() {
        return Value::from(number);
    }
    if let Ok(number) = written.parse::<i64>() {
        return Value::from(number);
    }
    let number = written.parse::<f64>().unwrap_or(f64::MAX);
    Value::from(number.clamp(f64::MIN, f64::MAX))
}
