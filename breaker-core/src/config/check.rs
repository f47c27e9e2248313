//! Checks each key of a block against the schema of the keys.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    Block, ConfigError, Document, Fault, Violation,
    describe::one_of,
    key_schema::KeySchema,
    node::{Kind, Member, Node},
    pointer::{joined, twice},
    suggest::nearest,
    typed::Rejected,
};

mod value;

/// What becomes of keys that the schema does not have.
#[derive(Debug, Default)]
pub(super) struct Unknown<'r> {
    /// Keys that somebody else looks after.
    pub(super) excused: Vec<&'r str>,
    /// What may have been meant, best first.
    pub(super) known: Vec<&'r str>,
    /// Keys that need another strategy, and what to write for it.
    pub(super) foreign: Vec<(&'r str, String)>,
    /// Whether a key that resembles no known one is passed over with a warning.
    pub(super) lenient: bool,
}

impl<'r> Unknown<'r> {
    /// Every unknown key is a fault.
    pub(super) fn strict(schema: &'r KeySchema) -> Self {
        Self { known: schema.properties().map(|(key, _)| key).collect(), ..Self::default() }
    }

    fn needs(&self, key: &str) -> Option<&str> {
        self.foreign.iter().find(|(foreign, _)| *foreign == key).map(|(_, needs)| needs.as_str())
    }

    fn hint(&self, key: &str) -> Option<String> {
        let name = nearest(key, self.known.iter().copied())?;
        Some(match self.needs(name) {
            Some(needs) => format!("did you mean {name:?} (needs {needs})?"),
            None => format!("did you mean {name:?}?"),
        })
    }
}

/// Collects what is wrong with one block.
#[derive(Debug)]
pub(super) struct Checker<'d> {
    document: &'d Document,
    block: Block<'d>,
    faults: Vec<Fault>,
    warnings: Vec<Fault>,
}

impl<'d> Checker<'d> {
    pub(super) fn new(block: &Block<'d>) -> Self {
        Self { document: block.document(), block: block.clone(), faults: Vec::new(), warnings: Vec::new() }
    }

    pub(super) fn push(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// The keys of the block that the schema allows, without those that are `null`.
    pub(super) fn block(&mut self, schema: &KeySchema, unknown: &Unknown<'_>) -> Map<String, Value> {
        let Some(node) = self.block.node() else { return Map::new() };
        let path = self.block.path().to_owned();
        let Some(members) = node.members() else {
            let fault = self.fault_of(node, self.block.start(), &path, &format!("is {}", node.sort()));
            self.push(Fault { allowed: Some("an object or null".to_owned()), ..fault });
            return Map::new();
        };
        self.members(members, &path, schema, schema.root(), unknown)
    }

    /// The good members of an object with these properties.
    fn members(
        &mut self,
        members: &[Member],
        path: &str,
        keys: &KeySchema,
        schema: &Value,
        unknown: &Unknown<'_>,
    ) -> Map<String, Value> {
        let properties = keys.resolved(schema).get("properties").and_then(Value::as_object);
        let mut good = Map::new();
        let mut seen = HashMap::new();
        for member in members {
            let path = joined(path, &member.key);
            if let Some(&first) = seen.get(member.key.as_str()) {
                self.push(twice(self.document, first, member.start, path));
                continue;
            }
            seen.insert(member.key.as_str(), member.start);
            match properties.and_then(|properties| properties.get(&member.key)) {
                None if unknown.excused.contains(&member.key.as_str()) => {}
                None => self.unknown(member, &path, unknown),
                Some(_) if member.value.is_null() => {}
                Some(schema) => {
                    if let Some(value) = self.value(&member.value, member.start, &path, keys, schema) {
                        good.insert(member.key.clone(), value);
                    }
                }
            }
        }
        good
    }

    fn unknown(&mut self, member: &Member, path: &str, unknown: &Unknown<'_>) {
        let key = member.key.as_str();
        let mut fault = self.fault_of(&member.value, member.start, path, "");
        if let Some(needs) = unknown.needs(key) {
            if !member.value.is_null() {
                fault.message = "key of another strategy".to_owned();
                fault.hint = Some(format!("needs {needs}"));
                self.push(fault);
            }
            return;
        }
        fault.hint = unknown.hint(key);
        if fault.hint.is_none() && unknown.lenient {
            fault.message = "unknown key, ignored".to_owned();
            self.warnings.push(fault);
            return;
        }
        fault.message = "unknown key".to_owned();
        if fault.hint.is_none() {
            fault.allowed = Some(one_of(unknown.known.iter().map(|&known| known.to_owned())));
        }
        self.push(fault);
    }

    /// A fault of a value, which stands at its key. `message` follows the value.
    pub(super) fn fault_of(&self, node: &Node, start: usize, path: &str, message: &str) -> Fault {
        let written = self.document.written(node);
        let message = format!("{written} {message}");
        Fault { path: path.to_owned(), value: Some(written), ..self.document.fault(start, message) }
    }

    /// Drops, with a fault, each key whose value its type refuses although its schema did not.
    pub(super) fn deserialisable(
        &mut self,
        good: Map<String, Value>,
        probe: impl Fn(&str, &Value) -> Result<(), String>,
    ) -> Map<String, Value> {
        let kept = good.into_iter().filter(|(key, value)| match probe(key, value) {
            Ok(()) => true,
            Err(reason) => {
                if let Some(member) = self.member(key) {
                    let path = joined(self.block.path(), key);
                    let fault =
                        self.fault_of(&member.value, member.start, &path, &format!("is refused: {reason}"));
                    self.faults.push(fault);
                }
                false
            }
        });
        kept.collect()
    }

    /// Builds the settings from the good keys, and gives them only if nothing was wrong.
    pub(super) fn finish<T>(
        mut self,
        good: Map<String, Value>,
        build: impl FnOnce(Map<String, Value>) -> Result<T, Rejected>,
    ) -> Result<(T, Vec<Fault>), ConfigError> {
        let kept: Vec<_> = good.keys().cloned().collect();
        let built = match build(good) {
            Ok(built) => Some(built),
            Err(Rejected::Whole(reason)) => {
                let path = self.block.path().to_owned();
                self.push(Fault { path, ..self.document.fault(self.block.start(), reason) });
                None
            }
            Err(Rejected::Together(violations)) => {
                for violation in violations.0 {
                    self.violation(violation, &kept);
                }
                None
            }
        };
        ConfigError::check(self.faults)?;
        // A strategy that rejects its keys without naming one cannot be built, and must say so.
        built.map(|built| (built, self.warnings)).ok_or_else(|| {
            let path = self.block.path().to_owned();
            Fault { path, ..self.document.fault(self.block.start(), "these settings do not go together") }
                .into()
        })
    }

    /// A violation that follows from a key which was dropped says nothing new, and might be wrong.
    fn violation(&mut self, violation: Violation, kept: &[String]) {
        let dropped = |key: &str| {
            let written = self.member(key).is_some_and(|member| !member.value.is_null());
            written && !kept.iter().any(|kept| kept == key)
        };
        let mut words = violation.allowed.split(|c: char| !c.is_alphanumeric() && c != '_');
        if dropped(violation.key) || (!self.faults.is_empty() && words.any(dropped)) {
            return;
        }
        let start = self.member(violation.key).map_or(self.block.start(), |member| member.start);
        let message = format!("{} does not go with the other keys", violation.value);
        self.push(Fault {
            path: joined(self.block.path(), violation.key),
            value: Some(violation.value),
            allowed: Some(violation.allowed),
            ..self.document.fault(start, message)
        });
    }

    /// The block's member of that key.
    pub(super) fn member(&self, key: &str) -> Option<&'d Member> {
        match &self.block.node()?.kind {
            Kind::Object(members) => members.iter().find(|member| member.key == key),
            _ => None,
        }
    }
}
