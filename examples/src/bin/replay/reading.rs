//! From the lines of a file to scenarios, or to what is wrong with them: where, what, and what is allowed.

use std::{fmt::Display, time::Duration};

use breaker_core::{
    Circuit,
    config::{ConfigError, Document, Resolved},
};
use replica_pool::config::builtin;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::trace::{Expected, Op, Scenario, Step};

/// The scenarios of a file. An error holds a line for each thing that is wrong with a scenario.
pub fn scenarios<'t>(
    file: &'t str,
    text: &'t str,
) -> impl Iterator<Item = Result<Scenario, String>> + use<'t> {
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
    lines
        .enumerate()
        .filter(|(_, text)| !text.trim().is_empty())
        .map(move |(index, text)| Line { file, number: index + 1, text }.scenario())
}

/// A scenario as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<'t> {
    name: String,
    source: Option<String>,
    #[serde(borrow)]
    config: Option<&'t RawValue>,
    #[serde(borrow)]
    steps: Vec<&'t RawValue>,
}

/// A step as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStep {
    op: Op,
    call: Option<u64>,
    ms: Option<i64>,
    latency_ms: Option<u64>,
    state: Option<Circuit>,
    permitted: Option<bool>,
    calls: Option<u32>,
    failures: Option<u32>,
    stale: Option<bool>,
    count: Option<u64>,
    transitions: Option<Vec<String>>,
}

const ALLOWED: &str =
    r#"; allowed: on each line one object, {"name": "…", "config": {…}, "steps": [{"op": "…"}, …]}"#;

/// What a block is put into for its path to be as in a file.
const BEFORE: &str = r#"{"config":"#;
const AFTER: &str = "}";

/// One line of a file.
#[derive(Clone, Copy)]
struct Line<'t> {
    file: &'t str,
    number: usize,
    text: &'t str,
}

impl<'t> Line<'t> {
    fn scenario(self) -> Result<Scenario, String> {
        let written: Written<'t> = serde_json::from_str(self.text).map_err(|error| {
            let allowed = if error.is_data() { "" } else { ALLOWED };
            self.fault(error.column(), format!("not a scenario: {}{allowed}", told(&error)))
        })?;
        let config = self.config(written.config).map_err(|error| error.to_string());
        let steps = written.steps.iter().enumerate().map(|(index, raw)| self.step(index + 1, raw));
        let (config, steps) = match (config, steps.collect::<Result<Vec<_>, _>>()) {
            (Ok(config), Ok(steps)) => (config, steps),
            (Err(config), Err(step)) => return Err(format!("{config}\n{step}")),
            (Err(fault), Ok(_)) | (Ok(_), Err(fault)) => return Err(fault),
        };
        Ok(Scenario {
            name: written.name,
            source: written.source,
            place: format!("{}:{}", self.file, self.number),
            strategy: config.blueprint,
            warnings: config.warnings,
            steps,
        })
    }

    fn config(self, raw: Option<&'t RawValue>) -> Result<Resolved, ConfigError> {
        let Some(raw) = raw else { return resolved(&Document::absent(self.file)) };
        let block = format!("{BEFORE}{}{AFTER}", raw.get());
        match Document::parse(self.file, &block).and_then(|document| resolved(&document)) {
            Ok(resolved) if resolved.warnings.is_empty() => Ok(resolved),
            // Once more where it stands in the file, so that what is wrong is told there.
            _ => {
                let columns = (self.column(raw) - 1).saturating_sub(BEFORE.len());
                let place = "\n".repeat(self.number - 1) + &" ".repeat(columns);
                resolved(&Document::parse(self.file, place + &block)?)
            }
        }
    }

    fn step(self, number: usize, raw: &'t RawValue) -> Result<Step, String> {
        let fault = |column, what: &dyn Display| self.fault(column, format!("step {number}: {what}"));
        let start = self.column(raw);
        let written: WrittenStep = serde_json::from_str(raw.get())
            .map_err(|error| fault(start + error.column().saturating_sub(1), &told(&error)))?;
        written.step().map_err(|what| fault(start, &what))
    }

    /// The column, from 1 and in characters, that a part of the line begins at.
    fn column(self, part: &'t RawValue) -> usize {
        let offset = part.get().as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        self.text.get(..offset).map_or(0, |before| before.chars().count()) + 1
    }

    fn fault(self, column: usize, message: impl Display) -> String {
        format!("{}:{}:{column}: {message}", self.file, self.number)
    }
}

fn resolved(document: &Document) -> Result<Resolved, ConfigError> {
    builtin().resolve(document.blocks_at("/config")?.breaker())
}

/// What serde says, without its own idea of the place.
fn told(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = said.strip_suffix(&place).unwrap_or(&said);
    // It repeats what the file says: that is to stay on its line.
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    said.chars().map(escaped).collect()
}

impl WrittenStep {
    /// The step, if its fields go with its op.
    fn step(self) -> Result<Step, String> {
        let op = self.op;
        let moves = matches!(op, Op::Advance | Op::WallClockJump);
        let fields = [
            ("call", self.call.is_some(), op.has_call()),
            ("ms", self.ms.is_some(), moves),
            ("latency_ms", self.latency_ms.is_some(), matches!(op, Op::Success | Op::Failure)),
            ("permitted", self.permitted.is_some(), op == Op::Acquire),
            ("stale", self.stale.is_some(), op.ends_call()),
            ("count", self.count.is_some(), op == Op::Stale),
        ];
        if let Some((field, ..)) = fields.iter().find(|(_, given, allowed)| *given && !allowed) {
            let allowed = fields.iter().filter(|(.., allowed)| *allowed).map(|(field, ..)| *field);
            let allowed: Vec<_> = allowed.chain(["state", "calls", "failures", "transitions"]).collect();
            return Err(format!("`{field}` does not go with op `{op}`; allowed: {}", allowed.join(", ")));
        }
        let missing = |field, allowed| format!("op `{op}` needs `{field}`: {allowed}");
        if op.has_call() && self.call.is_none() {
            return Err(missing("call", "the number of the call, an integer of at least 0"));
        }
        let ms = match self.ms {
            None if moves => return Err(missing("ms", "milliseconds")),
            None => 0,
            Some(ms) if op == Op::Advance => u64::try_from(ms).map_err(|_| {
                format!("`ms` is {ms}; allowed: at least 0, since the clock does not go back")
            })?,
            Some(_) => 0,
        };
        Ok(Step {
            op,
            call: self.call.unwrap_or_default(),
            span: Duration::from_millis(ms),
            latency: self.latency_ms.map(Duration::from_millis),
            expected: Expected {
                state: self.state,
                permitted: self.permitted,
                calls: self.calls,
                failures: self.failures,
                stale: self.stale,
                count: self.count,
                transitions: self.transitions,
            },
        })
    }
}
