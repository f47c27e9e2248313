//! The legend, and how it was measured.

use std::{
    fmt::{self, Write},
    time::Duration,
};

use super::{Report, page::escape};
use crate::{
    kind::RunKind,
    plan::{Course, Plan},
    scenario::Scenario,
    text,
};

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
    keys.push(("up", "replica up".to_owned()));
    let phases: &[_] = match report.stage.plan.scenario {
        Scenario::Upgrade => &[
            ("refuse", "refuses connections"),
            ("hang", "accepts and never answers"),
            ("gone", "answers “gone”"),
            ("moved", "back at a new port, unknown to the gateway"),
        ],
        Scenario::Split | Scenario::Merge => &[
            ("moved", "new, unknown to the gateway"),
            ("draining", "serves on, but the gateway’s feed of its partition is empty"),
            ("gone", "answers 410/1002, “partition gone”"),
        ],
        Scenario::Migrate => &[
            ("moved", "new, unknown to the gateway"),
            ("draining", "serves on, but the gateway no longer names it"),
            ("migrating", "answers 410/1008, “migrating”"),
            ("gone", "answers 410/0, “replica gone”"),
        ],
    };
    keys.extend(phases.iter().map(|&(class, text)| (class, text.to_owned())));
    keys.push(("bad", "attempts that hit it while it was bad".to_owned()));
    if report.outcomes.iter().any(|outcome| !outcome.views.is_empty()) {
        keys.extend([
            ("known", "under it, as long as the pool knows it, what the pool thinks: nothing bad".to_owned()),
            ("wary", "circuit half-open (upper line), health pending (lower line)".to_owned()),
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
    let millis = |span: std::time::Duration| format!("{} ms", span.as_millis());
    writeln!(out, r#"<section class="method"><h2>How it was measured</h2><div>"#)?;
    writeln!(
        out,
        "<p><b>The cluster.</b> {} partitions of {} replicas in one process, each with its own TCP listener on the \
         loopback device, answering a small request in 1 to 3 ms. A gateway with a socket of its own says which \
         addresses serve a partition, and which partition serves a key; each of its answers takes {}.</p>",
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
    happening(out, plan)?;
    writeln!(
        out,
        "<p><b>The clients.</b> All keep connections open and give an attempt {}. The reference is the plain client \
         on a cluster where nothing happens, so what the pool itself costs counts against the pool. An attempt is \
         “bad” when its address was bad at the moment it started, by the cluster’s own books. Traffic is spread again \
         once every replica has served a request after the gateway knew the last new address. “Maps” counts how often the \
         gateway was asked for the routing map while the load ran.</p>",
        millis(plan.attempt_timeout),
    )?;
    writeln!(
        out,
        "<p><b>Again.</b> <code class=\"command\">cargo run --release -p examples --bin rolling-upgrade -- --scenario {} --seed {} --rate {}</code> \
         The seed decides keys, service times and random choices; the machine decides the rest. Timers here have a \
         grain of 1 ms, in every run alike.</p>",
        plan.scenario.key(),
        stage.seed,
        stage.rate,
    )?;
    writeln!(out, "</div>")?;
    for (kind, config) in stage.settings.all() {
        let settings = serde_json::to_string_pretty(&config.effective()).map_err(|_| fmt::Error)?;
        let (title, settings) = (kind.title(), escape(&settings));
        writeln!(out, "<details><summary>{title}: its settings</summary><pre>{settings}</pre></details>")?;
    }
    writeln!(out, "</section>")
}

/// What happened, in order.
fn happening(out: &mut String, plan: &Plan) -> fmt::Result {
    let change = match &plan.course {
        Course::Rolling(times) => {
            return writeln!(
                out,
                "<p><b>The upgrade.</b> One replica at a time in each partition, every {}. It stops at its old \
                 address in one of three ways in turn: it refuses connections and resets open ones; it accepts and \
                 never answers; it answers “gone”. It is back at a new port after {}, and the gateway knows that {} \
                 later. Until then the gateway names the old address.</p>",
                seconds(times.every),
                seconds(times.away),
                seconds(times.gateway_learns),
            );
        }
        Course::Change(change) => change,
    };
    let (learns, drain) = (seconds(change.gateway_learns), seconds(change.drain));
    match plan.scenario {
        Scenario::Migrate => writeln!(
            out,
            "<p><b>The migration.</b> Partition 0 moves to other replicas. They come up; {learns} later the gateway \
             has a map of a new version, and an empty feed for the partition. After another {} it names the new \
             addresses. The old replicas serve on for {drain}, then answer 410/1008, “migrating”, for {}, and 410/0, \
             “replica gone”, from then on.</p>",
            seconds(change.empty),
            seconds(change.migrating),
        )?,
        scenario => {
            let what = match scenario {
                Scenario::Merge => "The merge.</b> Partitions 0 and 1 become partition 3. Its replicas",
                _ => "The split.</b> Partition 0 becomes partitions 2 and 3, a half each. Their replicas",
            };
            writeln!(
                out,
                "<p><b>{what} come up; {learns} later the gateway has the new map and the new addresses, and an \
                 empty feed for what is no more. The old replicas serve on for {drain}, and answer 410/1002, \
                 “partition gone”, from then on.</p>",
            )?;
        }
    }
    writeln!(
        out,
        "<p><b>Why the pool need not wait.</b> Its settings have a <code>refreshInterval</code>: it finds the feed empty \
         within that time, asks for the map once, and looks for the new replicas before it uses that map. Without \
         the interval it would hear of the change from the first 410. No request would fail then either, but those \
         for the old partition would wait once for the gateway’s answers.</p>",
    )
}

fn seconds(span: Duration) -> String {
    format!("{} s", span.as_secs_f64())
}
