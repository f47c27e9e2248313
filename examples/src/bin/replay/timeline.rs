//! A replay for a person: what happened when, and what a configuration would have spared them.

use std::io::{self, Write};

use breaker_core::{Event, EventKind, Reason, Rejection, RejectionReason, Settlement, Timestamp};
use serde_json::Value;

use crate::{
    runner::{Answer, Seen},
    trace::{Op, Scenario, Step},
};

/// Collects the lines of one scenario. They are printed at its end, since a circuit tells what was due by
/// time only when it is used again.
#[derive(Debug, Default)]
pub struct Timeline {
    lines: Vec<(Timestamp, String)>,
    admitted: u32,
    rejected: u32,
    /// Rejected calls that would have succeeded, and that would have failed, as far as the trace says.
    lost: u32,
    spared: u32,
    stale: u32,
}

impl Timeline {
    /// Adds a step, and what it made happen.
    pub fn step(&mut self, number: usize, step: &Step, seen: &Seen) {
        self.count(step.op, seen.answer);
        let (was_due, caused): (Vec<_>, Vec<_>) = seen.events.iter().partition(|event| is_due_by_time(event));
        was_due.into_iter().for_each(|event| self.event(event));
        let (time, op, answer) = (seconds(seen.at), told(step), answered(seen.answer));
        let (state, calls, failures) = (seen.state, seen.tally.calls, seen.tally.failures);
        let columns =
            format!("{time:>10} {number:>6}  {op:<22}{answer:<34}{state:<10}{calls:>6}{failures:>8}");
        self.line(seen.at, columns);
        caused.into_iter().for_each(|event| self.event(event));
    }

    /// Adds a line that belongs to an instant.
    pub fn line(&mut self, at: Timestamp, line: String) {
        self.lines.push((at, line));
    }

    fn event(&mut self, event: &Event) {
        self.line(event.at, format!("{:>10}      *  {}", seconds(event.at), happened(event)));
    }

    fn count(&mut self, op: Op, answer: Answer) {
        match answer {
            Answer::Admitted => self.admitted += 1,
            Answer::Rejected(_) => self.rejected += 1,
            Answer::NeverMade if op == Op::Success => self.lost += 1,
            Answer::NeverMade if op == Op::Failure => self.spared += 1,
            Answer::Settled(Settlement::Stale) => self.stale += 1,
            _ => {}
        }
    }

    /// Prints the whole.
    pub fn print(mut self, scenario: &Scenario, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", scenario.name)?;
        if let Some(source) = &scenario.source {
            writeln!(out, "  {source}")?;
        }
        let mut settings = scenario.strategy.effective();
        settings.retain(|key, value| key != "strategy" && !value.is_null());
        writeln!(out, "  {} {}\n", scenario.strategy.name(), Value::Object(settings))?;

        let (op, answer, state, calls, failed) = ("op", "answer", "state", "calls", "failed");
        writeln!(out, "   seconds   step  {op:<22}{answer:<34}{state:<10}{calls:>6}{failed:>8}")?;
        self.lines.sort_by_key(|(at, _)| *at);
        for (_, line) in &self.lines {
            writeln!(out, "{line}")?;
        }

        let Self { admitted, rejected, lost, spared, stale, .. } = self;
        write!(out, "\n  {admitted} calls admitted, {rejected} rejected")?;
        if lost + spared > 0 {
            write!(out, " (of these, {spared} would have failed and {lost} succeeded)")?;
        }
        if stale > 0 {
            write!(out, "; results that came too late to count: {stale}")?;
        }
        writeln!(out, "\n")
    }
}

/// Whether it had happened before the step that made it known.
fn is_due_by_time(event: &Event) -> bool {
    match event.kind {
        EventKind::Transition { reason, .. } | EventKind::StartedOver { reason, .. } => {
            matches!(reason, Reason::DelayPassed | Reason::LeaseExpired | Reason::HalfOpenTooLong)
        }
        _ => false,
    }
}

fn told(step: &Step) -> String {
    let (op, call) = (step.op, step.call);
    match step.latency {
        Some(latency) => format!("{op} {call} in {latency:?}"),
        None if op.has_call() => format!("{op} {call}"),
        None if op == Op::Advance => format!("{op} {:?}", step.span),
        None => op.to_string(),
    }
}

fn answered(answer: Answer) -> String {
    match answer {
        Answer::Nothing | Answer::Settled(Settlement::Counted) => String::new(),
        Answer::Admitted => "admitted".to_owned(),
        Answer::Rejected(Rejection { reason, retry_at, .. }) => match (reason, retry_at) {
            (RejectionReason::Open, Some(at)) => format!("rejected: open until {}", seconds(at)),
            (RejectionReason::Open, None) => "rejected: open until it is probed".to_owned(),
            (RejectionReason::NoPlace, _) => "rejected: no place is free".to_owned(),
            (RejectionReason::ForcedOpen, _) => "rejected: forced open".to_owned(),
            (other, _) => format!("rejected: {other}"),
        },
        Answer::Settled(Settlement::Stale) => "too late: of an older epoch".to_owned(),
        Answer::Settled(_) => "not counted".to_owned(),
        Answer::NeverMade => "never made, it was rejected".to_owned(),
        Answer::NoProbe => "no probe wanted".to_owned(),
        Answer::Probed(_) => "probed".to_owned(),
    }
}

fn happened(event: &Event) -> String {
    match event.kind {
        EventKind::Transition { retry_at: Some(at), .. } => {
            format!("{event}; the next try is at {}", seconds(at))
        }
        _ => event.to_string(),
    }
}

fn seconds(at: Timestamp) -> String {
    let millis = at.as_nanos() / 1_000_000;
    format!("{}.{:03}", millis / 1_000, millis % 1_000)
}
