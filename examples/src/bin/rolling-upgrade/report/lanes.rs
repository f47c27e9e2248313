//! A lane for each replica, under the latencies and on the same time axis: what was true of it, how many
//! attempts hit it while it was bad, and how the pool saw it.

mod segments;

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

use breaker_core::Circuit;
use replica_pool::HealthStatus;

use segments::{Segment, phases, views};

use super::scale::{LEFT, Scale};
use crate::{
    cluster::{HostId, HostInfo, Way},
    director::Phase,
    outcome::Outcome,
    wire::Gone,
};

/// Room for the bars of bad attempts.
const BARS: f64 = 11.0;
/// Height of the bar that shows the truth.
const TRUTH: f64 = 14.0;
/// Height of each of the two lines that show the pool's view.
const VIEW: f64 = 4.0;
/// Bad attempts are counted in slices of this many microseconds.
const SLICE: u64 = 50_000;

/// Draws all lanes from `top` on, and says where they end. `fair` is a replica's fair share of the
/// requests per second: bars of full height are half as much again, in every run alike.
pub fn draw(
    out: &mut String,
    outcome: &Outcome,
    scale: &Scale,
    fair: f64,
    end: u64,
    top: f64,
) -> Result<f64, fmt::Error> {
    let bad = bad_attempts(outcome);
    let full = fair * 1.5 * SLICE as f64 / 1e6;
    let mut y = top;
    let mut hosts: Vec<_> = outcome.hosts.iter().collect();
    hosts.sort_by_key(|host| (host.partition, host.id));
    let mut partition = None;
    for host in hosts {
        if partition.replace(host.partition) != Some(host.partition) {
            y = group(out, host, y)?;
        }
        y = lane(out, outcome, host, scale, end, y, |slice| {
            bad.get(&(host.id, slice)).map_or(0.0, |&count| (count as f64 / full).min(1.0))
        })?;
    }
    Ok(y)
}

/// The name of a partition, and its share of the keys.
fn group(out: &mut String, host: &HostInfo, top: f64) -> Result<f64, fmt::Error> {
    let percent = |key: Option<u64>, none: f64| key.map_or(none, |key| key as f64 / u64::MAX as f64 * 100.0);
    let (from, to) = (percent(host.keys.from, 0.0), percent(host.keys.to, 100.0));
    let y = top + 17.0;
    writeln!(
        out,
        r#"<text class="group" x="{LEFT}" y="{y:.1}">partition {}: keys from {from:.0} to {to:.0} %</text>"#,
        host.partition
    )?;
    Ok(y)
}

fn bad_attempts(outcome: &Outcome) -> BTreeMap<(HostId, u64), u64> {
    let mut counts = BTreeMap::new();
    for (at, host) in &outcome.bad_attempts {
        *counts.entry((*host, at / SLICE)).or_default() += 1;
    }
    counts
}

fn lane(
    out: &mut String,
    outcome: &Outcome,
    host: &HostInfo,
    scale: &Scale,
    end: u64,
    top: f64,
    bad: impl Fn(u64) -> f64,
) -> Result<f64, fmt::Error> {
    let truth = top + BARS;
    let label = truth + TRUTH - 3.5;
    writeln!(
        out,
        r#"<text class="tick" x="{}" y="{label:.1}" text-anchor="end">{}</text>"#,
        LEFT - 8.0,
        host.label
    )?;
    for segment in phases(&outcome.phases, host, end) {
        let name = phase_name(segment.value);
        let class = phase_class(segment.value);
        bar(out, class, &segment, scale, truth, TRUTH, &format!("{}: {name}", host.label))?;
        if !matches!(segment.value, Phase::Up | Phase::Absent) {
            let (x, y) = (scale.x(segment.from) + 4.0, truth + 10.5);
            writeln!(out, r#"<text class="in {class}" x="{x:.1}" y="{y:.1}">{name}</text>"#)?;
        }
    }
    for slice in 0..end.div_ceil(SLICE) {
        let height = bad(slice) * (BARS - 1.0);
        if height > 0.0 {
            let (left, right) = (scale.x(slice * SLICE), scale.x((slice + 1) * SLICE));
            let (y, width) = (truth - height - 1.0, right - left - 0.5);
            writeln!(
                out,
                r#"<rect class="bad" x="{left:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"/>"#
            )?;
        }
    }
    if outcome.views.is_empty() {
        return Ok(truth + TRUTH + 5.0);
    }
    let circuits = truth + TRUTH + 1.5;
    for segment in views(&outcome.views, host.id, end, |view| view.circuit) {
        let (class, name) = circuit(segment.value);
        bar(out, class, &segment, scale, circuits, VIEW, &format!("{}: circuit {name}", host.label))?;
    }
    let healths = circuits + VIEW + 1.0;
    for segment in views(&outcome.views, host.id, end, |view| view.health) {
        let (class, name) = health(segment.value);
        bar(out, class, &segment, scale, healths, VIEW, &format!("{}: health {name}", host.label))?;
    }
    Ok(healths + VIEW + 6.0)
}

fn bar<T>(
    out: &mut String,
    class: &str,
    segment: &Segment<T>,
    scale: &Scale,
    y: f64,
    height: f64,
    title: &str,
) -> fmt::Result {
    let (left, right) = (scale.x(segment.from), scale.x(segment.to));
    let (from, to) = (segment.from as f64 / 1e6, segment.to as f64 / 1e6);
    writeln!(
        out,
        r#"<rect class="{class}" x="{left:.1}" y="{y:.1}" width="{:.1}" height="{height}"><title>{title}, {from:.2} s to {to:.2} s</title></rect>"#,
        (right - left).max(0.0)
    )
}

fn phase_class(phase: Phase) -> &'static str {
    match phase {
        Phase::Absent => "absent",
        Phase::Up => "up",
        Phase::Down(Way::Refuse) => "refuse",
        Phase::Down(Way::Hang) => "hang",
        Phase::Down(Way::Answer(Gone::Migrating)) => "migrating",
        Phase::Down(Way::Answer(_)) => "gone",
        Phase::Moved | Phase::New => "moved",
        Phase::Draining => "draining",
    }
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Absent => "not there yet",
        Phase::Up => "up",
        Phase::Down(Way::Refuse) => "refuses connections",
        Phase::Down(Way::Hang) => "hangs",
        Phase::Down(Way::Answer(Gone::Replica)) => "answers “gone”",
        Phase::Down(Way::Answer(Gone::Partition)) => "answers 410/1002, “partition gone”",
        Phase::Down(Way::Answer(Gone::Migrating)) => "410/1008, “migrating”",
        Phase::Moved => "moved",
        Phase::New => "new",
        Phase::Draining => "serves on, no longer named",
    }
}

fn circuit(circuit: Circuit) -> (&'static str, &'static str) {
    match circuit {
        Circuit::Closed => ("fine", "closed"),
        Circuit::HalfOpen => ("wary", "half-open"),
        Circuit::Open => ("avoid", "open"),
    }
}

fn health(health: HealthStatus) -> (&'static str, &'static str) {
    match health {
        HealthStatus::Connected => ("fine", "connected"),
        HealthStatus::Unknown => ("fine", "unknown"),
        HealthStatus::UnhealthyPending => ("wary", "unhealthy, being validated"),
        HealthStatus::Unhealthy => ("avoid", "unhealthy"),
    }
}
