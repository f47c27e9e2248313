//! The JSON schema of a whole settings file.

use serde_json::{Map, Value, json};

use super::{
    key_schema::{KeySchema, types},
    registry::{Entry, SELECTORS},
};

/// What a file may hold.
pub(super) struct FileSchema<'r> {
    /// The default first.
    pub(super) entries: &'r [Entry],
    pub(super) beside: &'r [(&'static str, KeySchema)],
}

const BREAKER: &str = "circuitBreaker";

pub(super) fn of(file: &FileSchema<'_>) -> Value {
    let mut definitions = Map::new();
    definitions.insert(BREAKER.to_owned(), breaker(file.entries));
    for entry in file.entries {
        definitions.insert(entry.name.to_owned(), branch(entry, file.entries));
        definitions.extend(entry.keys.definitions().clone());
    }
    for (name, keys) in file.beside {
        definitions.insert((*name).to_owned(), strict(keys));
        definitions.extend(keys.definitions().clone());
    }
    let names = [BREAKER].into_iter().chain(file.beside.iter().map(|(name, _)| *name));
    let blocks: Map<_, _> =
        names.map(|name| (name.to_owned(), json!({ "$ref": format!("#/$defs/{name}") }))).collect();
    let mut properties = blocks.clone();
    properties.insert("solverRemote".to_owned(), json!({ "properties": blocks }));
    properties.insert("solver".to_owned(), json!({ "properties": { "remote": { "properties": blocks } } }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Circuit breaker settings",
        "description": "The blocks stand at the root, in solverRemote or in solver.remote. All other keys belong \
            to the application.",
        "type": "object",
        "properties": properties,
        "$defs": definitions,
    })
}

/// The `circuitBreaker` block: whichever branch its strategy names.
fn breaker(entries: &[Entry]) -> Value {
    let default = entries.first().map_or("", |entry| entry.name);
    let names: Vec<_> = entries.iter().map(|entry| Value::from(entry.name)).chain([Value::Null]).collect();
    let about = |text: &str| json!({ "description": text, "enum": names, "default": default });
    let branches: Vec<_> = entries
        .iter()
        .map(|entry| {
            let mut cases: Vec<_> = SELECTORS.map(|key| says(key, &json!({ "const": entry.name }))).into();
            if entry.name == default {
                let neither: Vec<_> = SELECTORS.map(|key| says(key, &json!({ "type": "string" }))).into();
                cases.push(json!({ "not": { "anyOf": neither } }));
            }
            json!({ "if": { "anyOf": cases }, "then": { "$ref": format!("#/$defs/{}", entry.name) } })
        })
        .collect();
    let both: Vec<_> = SELECTORS.map(|key| says(key, &json!({ "not": { "type": "null" } }))).into();
    json!({
        "description": format!(
            "One circuit breaker per remote. Without \"strategy\", or without this block, it is {default}."
        ),
        "type": ["object", "null"],
        "properties": {
            "strategy": about("The rules of the circuit breaker."),
            "type": about("The same key as \"strategy\"; only one of them may be set."),
        },
        "not": { "allOf": both },
        "allOf": branches,
    })
}

/// An object that has `key`, with such a value.
fn says(key: &str, value: &Value) -> Value {
    json!({ "type": "object", "required": [key], "properties": { key: value } })
}

/// The keys of one strategy. Those of the others may be `null`, as an old program wrote them; they stand in a
/// pattern so that an editor does not propose them.
fn branch(entry: &Entry, entries: &[Entry]) -> Value {
    let mut schema = strict(&entry.keys);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.extend(SELECTORS.map(|key| (key.to_owned(), Value::Bool(true))));
    }
    let mut foreign: Vec<_> = entries
        .iter()
        .flat_map(|other| other.keys.properties())
        .map(|(key, _)| key)
        .filter(|key| !entry.keys.has(key))
        .collect();
    foreign.sort_unstable();
    foreign.dedup();
    if let (false, Some(schema)) = (foreign.is_empty(), schema.as_object_mut()) {
        let pattern = format!("^({})$", foreign.join("|"));
        schema.insert("patternProperties".to_owned(), json!({ pattern: { "type": "null" } }));
    }
    schema
}

/// The schema of a block with these keys, which may be `null`, refusing all keys but its own, each of which may be `null`.
fn strict(keys: &KeySchema) -> Value {
    let mut schema = keys.resolved(keys.root()).clone();
    if let Some(object) = schema.as_object_mut() {
        for member in ["$schema", "title", "required"] {
            object.remove(member);
        }
        object.entry("properties").or_insert_with(|| json!({}));
        object.insert("type".to_owned(), json!(["object", "null"]));
    }
    close(&mut schema);
    tidy(&mut schema);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(allow_null);
    }
    if let Some(Value::String(description)) = schema.get_mut("description") {
        // What follows the first paragraph of a type's documentation is for programmers.
        let first = description.split("\n\n").next().unwrap_or_default().to_owned();
        *description = first;
    }
    schema
}

/// Refuses unknown keys, here and in nested objects, as the check does.
fn close(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(close);
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// Unwraps the lines of documentation, and drops defaults and bounds that say nothing.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::String(description)) = object.get_mut("description") {
                let paragraphs: Vec<_> =
                    description.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
                *description = paragraphs.join("\n\n");
            }
            if object.get("default") == Some(&Value::Null) {
                object.remove("default");
            }
            let bound = |name: &str| object.get(name).and_then(Value::as_f64);
            if bound("exclusiveMinimum").zip(bound("minimum")).is_some_and(|(more, least)| more >= least) {
                object.remove("minimum");
            }
            object.values_mut().for_each(tidy);
        }
        Value::Array(values) => values.iter_mut().for_each(tidy),
        _ => {}
    }
}

fn allow_null(schema: &mut Value) {
    let sorts = types(schema).into_iter().map(str::to_owned).collect::<Vec<_>>();
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    if sorts.is_empty() {
        let nullable = |branch: &Value| types(branch).contains(&"null");
        if schema.get("anyOf").and_then(Value::as_array).is_some_and(|branches| branches.iter().any(nullable))
        {
            return;
        }
        let free = schema.as_object().is_none_or(|object| {
            !["$ref", "anyOf", "oneOf", "allOf", "const"].iter().any(|keyword| object.contains_key(*keyword))
        });
        if !free {
            *schema = json!({ "anyOf": [schema.clone(), { "type": "null" }] });
        }
    } else if !sorts.iter().any(|sort| sort == "null") {
        let sorts: Vec<_> = sorts.into_iter().chain(["null".to_owned()]).collect();
        if let Some(object) = schema.as_object_mut() {
            object.insert("type".to_owned(), json!(sorts));
        }
    }
}
