//! The rules of the file, seen with strategies that nobody has built in.

mod block;
mod document;
mod faults;
mod hostile;
mod keys;
mod locate;
mod registry;
mod sample;
mod schema;

use super::{Blueprint, ConfigError, Document, Registry, Resolved};
use sample::{Other, Sample};

/// `SAMPLE` is the default.
fn registry() -> Registry {
    let mut registry = Registry::with_default::<Sample>();
    registry.register::<Other>().unwrap();
    registry
}

fn resolve(text: &str) -> Result<Resolved, ConfigError> {
    let document = Document::parse("f.json", text)?;
    registry().resolve(document.blocks()?.breaker())
}

/// The value of a key of the effective block, whose text this is.
fn effective(block: &str, key: &str) -> serde_json::Value {
    let text = format!(r#"{{ "circuitBreaker": {block} }}"#);
    resolve(&text).unwrap().blueprint.effective().get(key).cloned().unwrap()
}

/// What is said of a `circuitBreaker` block, without the file, and without `circuitBreaker.`.
fn errors(block: &str) -> Vec<String> {
    let text = format!(r#"{{"circuitBreaker":{block}}}"#);
    resolve(&text).unwrap_err().to_string().lines().map(short).collect()
}

fn short(line: &str) -> String {
    let said = line.splitn(4, ':').last().unwrap().trim();
    said.strip_prefix("circuitBreaker.").unwrap_or(said).to_owned()
}

fn name(blueprint: &Blueprint) -> &'static str {
    blueprint.name()
}
