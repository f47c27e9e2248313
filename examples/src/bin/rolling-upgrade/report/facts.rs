//! The legend, and how it was measured.

use std::fmt::{self, Write};

use super::{Report, page::escape};
use crate::{kind::RunKind, text};

/// What the colours and lines mean.
pub fn legend(out: &mut String, report: &Report<'_>) -> fmt::Result {
    let mut keys = vec![
        ("heat", "requests: the darker, the more in this tenth of a second".to_owned()),
        ("line p50", "p50".to_owned()),
        ("line p99", "p99".to_owned()),
    ];
    if let Some(quiet) = report.summaries.get(&RunKind::Quiet) {
        keys.push(("line reference", format!("p99 of the whole quiet run, {}", text::millis(quiet.p99_us))));
    }
    keys.extend([
        ("up", "replica up".to_owned()),
        ("refuse", "refuses connections".to_owned()),
        ("hang", "accepts and never answers".to_owned()),
        ("gone", "answers “gone”".to_owned()),
        ("moved", "back at a new port, unknown to the gateway".to_owned()),
        ("bad", "attempts that hit it while it was bad".to_owned()),
    ]);
    if report.outcomes.iter().any(|outcome| !outcome.views.is_empty()) {
        keys.extend([
            ("wary", "under it, what the pool thought: circuit half-open (upper line), health pending (lower line)".to_owned()),
            ("avoid", "circuit open, health bad".to_owned()),
        ]);
    }
    writeln!(out, r#"<ul class="legend">"#)?;
    for (class, text) in keys {
        writeln!(out, r#"<li><i class="{class}"></i>{text}</li>"#)?;
    }
    writeln!(out, "</ul>")
}

/// How it was measured, with the numbers of this run.
pub fn method(out: &mut String, report: &Report<'_>) -> fmt::Result {
    let (plan, stage) = (&report.stage.plan, report.stage);
    let seconds = |span: std::time::Duration| format!("{} s", span.as_secs_f64());
    let millis = |span: std::time::Duration| format!("{} ms", span.as_millis());
    writeln!(out, r#"<section class="method"><h2>How it was measured</h2><div>"#)?;
    writeln!(
        out,
        "<p><b>The cluster.</b> {} partitions of {} replicas in one process, each with its own TCP listener on the \
         loopback device, answering a small request in 1 to 3 ms. A gateway with a socket of its own says which \
         addresses serve a partition; each of its answers takes {}.</p>",
        plan.partitions,
        plan.replicas,
        millis(plan.gateway_answers),
    )?;
    writeln!(
        out,
        "<p><b>The load.</b> {} requests a second for {}, spread over the partitions, on a fixed schedule: each \
         starts at its instant whether or not earlier ones have finished, and its latency counts from that instant. \
         A loop of waiting callers would hide the stalls. Failed requests count with the time they took.</p>",
        text::count(u64::from(stage.rate)),
        seconds(plan.length()),
    )?;
    writeln!(
        out,
        "<p><b>The upgrade.</b> One replica at a time in each partition, every {}. It stops at its old address in one \
         of three ways in turn: it refuses connections and resets open ones; it accepts and never answers; it answers \
         “gone”. It is back at a new port after {}, and the gateway knows that {} later. Until then the gateway names \
         the old address.</p>",
        seconds(plan.every),
        seconds(plan.away),
        seconds(plan.gateway_learns),
    )?;
    writeln!(
        out,
        "<p><b>The clients.</b> All keep connections open and give an attempt {}. The reference is the plain client \
         on a cluster where nothing happens, so what the pool itself costs counts against the pool. An attempt is \
         “bad” when its address was bad at the moment it started, by the cluster’s own books. Traffic is spread again \
         once every replica has served a request after the gateway knew the last new address.</p>",
        millis(plan.attempt_timeout),
    )?;
    writeln!(
        out,
        "<p><b>Again.</b> <code class=\"command\">cargo run --release -p examples --bin rolling-upgrade -- --seed {} --rate {}</code> \
         The seed decides keys, service times and random choices; the machine decides the rest. Timers here have a \
         grain of 1 ms, in every run alike.</p>",
        stage.seed, stage.rate,
    )?;
    writeln!(out, "</div>")?;
    for (kind, config) in stage.settings.all() {
        let settings = serde_json::to_string_pretty(&config.effective()).map_err(|_| fmt::Error)?;
        let (title, settings) = (kind.title(), escape(&settings));
        writeln!(out, "<details><summary>{title}: its settings</summary><pre>{settings}</pre></details>")?;
    }
    writeln!(out, "</section>")
}
