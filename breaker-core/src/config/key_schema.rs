//! The JSON schema of a block's keys, as its checker reads it.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The schema that schemars generates for a `Keys` type.
#[derive(Clone, Debug)]
pub(super) struct KeySchema {
    root: Value,
    definitions: Map<String, Value>,
}

/// Everything in its place, since people read it; only types that hold themselves become references.
pub(super) fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator()
}

impl KeySchema {
    pub(super) fn of<K: JsonSchema>() -> Self {
        let mut generator = generator();
        let root = K::json_schema(&mut generator).to_value();
        Self { root, definitions: generator.take_definitions(true) }
    }

    pub(super) fn of_schema(schema: Schema) -> Self {
        Self { root: schema.to_value(), definitions: Map::new() }
    }

    pub(super) fn root(&self) -> &Value {
        &self.root
    }

    pub(super) fn definitions(&self) -> &Map<String, Value> {
        &self.definitions
    }

    /// The schema itself, or what its `$ref` points to.
    pub(super) fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let mut schema = schema;
        for _ in 0..16 {
            let target = schema.get("$ref").and_then(Value::as_str);
            let Some(name) = target.and_then(|target| target.rsplit('/').next()) else { break };
            let Some(target) = self.definitions.get(name) else { break };
            schema = target;
        }
        schema
    }

    /// The keys of a block and their schemas.
    pub(super) fn properties(&self) -> impl Iterator<Item = (&str, &Value)> {
        let properties = self.resolved(&self.root).get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(key, schema)| (key.as_str(), schema))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.properties().any(|(known, _)| known == key)
    }
}

/// The names of the types that a schema allows; empty when it does not say.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The values that a schema lists, as `enum`, as `const`, or as alternatives that are a `const` each; `None`
/// when it lists none. Without `null`.
pub(super) fn listed(schema: &Value) -> Option<Vec<&Value>> {
    if let Some(value) = schema.get("const") {
        return Some(vec![value]);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return Some(values.iter().filter(|value| !value.is_null()).collect());
    }
    let alternatives = alternatives(schema)?;
    let lists = alternatives.into_iter().map(listed).collect::<Option<Vec<_>>>()?;
    Some(lists.concat())
}

/// The branches of `anyOf` or `oneOf`, without the one that allows `null`.
pub(super) fn alternatives(schema: &Value) -> Option<Vec<&Value>> {
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let is_null = |branch: &&Value| types(branch) == ["null"] || branch.get("const") == Some(&Value::Null);
    Some(branches.iter().filter(|branch| !is_null(branch)).collect())
}

/// Whether the schema's strings and numbers are spans of time.
pub(super) fn is_duration(schema: &Value) -> bool {
    schema.get("x-duration") == Some(&Value::Bool(true))
}
