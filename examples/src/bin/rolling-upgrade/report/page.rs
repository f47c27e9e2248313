//! `report.html`: one file that needs nothing else.

use std::fmt::{self, Write};

use super::{
    Report, chart, facts, headline, lanes,
    scale::{BOTTOM, Scale, TOP, WIDTH},
    tiles,
};
use crate::{clock::micros, kind::RunKind, outcome::Outcome};

/// The file's text.
///
/// # Errors
///
/// Never in practice: it is written to a string.
pub fn render(report: &Report<'_>) -> Result<String, fmt::Error> {
    let mut out = String::new();
    let title = headline::title(report.stage.plan.scenario, report.summaries, report.verdicts);
    writeln!(
        out,
        r#"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{}</title>
<style>{}</style></head><body><main>
<header><p class="eyebrow">{} · {} requests/s · seed {}</p><h1>{title}</h1><p class="lead">{}</p></header>"#,
        report.stage.plan.scenario.title(),
        include_str!("page.css"),
        report.stage.plan.scenario.title(),
        crate::text::count(u64::from(report.stage.rate)),
        report.stage.seed,
        headline::lead(report.stage.plan.scenario, report.summaries),
    )?;
    tiles::tiles(&mut out, report)?;
    tiles::verdicts(&mut out, report)?;
    tiles::table(&mut out, report)?;
    writeln!(out, "<h2>Latency over time</h2>")?;
    facts::legend(&mut out, report)?;
    let scale = Scale::of(report.stage.plan.length(), report.outcomes);
    for outcome in report.outcomes {
        figure(&mut out, report, outcome, &scale)?;
    }
    facts::method(&mut out, report)?;
    writeln!(out, "</main></body></html>")?;
    Ok(out)
}

fn figure(out: &mut String, report: &Report<'_>, outcome: &Outcome, scale: &Scale) -> fmt::Result {
    let quiet = report.summaries.get(&RunKind::Quiet).map(|summary| summary.p99_us);
    let end = micros(report.stage.plan.length());
    let fair =
        f64::from(report.stage.rate) / f64::from(report.stage.plan.partitions * report.stage.plan.replicas);
    let mut drawing = String::new();
    chart::draw(&mut drawing, outcome, scale, quiet)?;
    let bottom = if outcome.kind.disturbed() {
        lanes::draw(&mut drawing, outcome, scale, fair, end, BOTTOM + 10.0)?
    } else {
        BOTTOM
    };
    let height = bottom + 26.0;
    writeln!(
        out,
        r#"<figure class="{}"><figcaption><h3>{}</h3><p>{}</p></figcaption><div class="scroll">
<svg viewBox="0 0 {WIDTH} {height:.0}" role="img" aria-label="Latency over time: {}">"#,
        outcome.kind.key(),
        outcome.kind.title(),
        outcome.kind.summary(report.stage.plan.scenario),
        outcome.kind.title(),
    )?;
    seconds(out, scale, bottom)?;
    out.push_str(&drawing);
    writeln!(out, "</svg></div></figure>")
}

/// The time axis, behind everything else.
fn seconds(out: &mut String, scale: &Scale, bottom: f64) -> fmt::Result {
    for second in scale.seconds() {
        let x = scale.x(second * 1_000_000);
        writeln!(out, r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{bottom:.1}"/>"#)?;
        let y = bottom + 18.0;
        writeln!(out, r#"<text class="tick" x="{x:.1}" y="{y:.1}" text-anchor="middle">{second} s</text>"#)?;
    }
    Ok(())
}

/// Text that can stand in the page.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{
        outcome::tests::outcome, plan::Plan, run::Stage, scenario::Scenario, settings::Settings,
        verdict::Rules,
    };

    fn page(scenario: Scenario) -> String {
        let settings = Settings::load(None, scenario, &RunKind::ALL).unwrap();
        let stage = Stage { plan: Plan::standard(scenario), rate: 2_000, seed: 7, settings };
        let outcomes = RunKind::ALL.map(|kind| outcome(kind, 1..=1_000));
        let summaries: BTreeMap<_, _> =
            outcomes.iter().map(|outcome| (outcome.kind, outcome.summary())).collect();
        let verdicts = Rules::new(scenario, false).judge(&summaries);
        let report =
            Report { stage: &stage, outcomes: &outcomes, summaries: &summaries, verdicts: &verdicts };
        render(&report).unwrap()
    }

    #[test]
    fn the_page_shows_every_run_and_needs_nothing_from_outside() {
        for scenario in [Scenario::Upgrade, Scenario::Split, Scenario::Merge, Scenario::Migrate] {
            let page = page(scenario);
            assert_eq!(page.matches("<figure").count(), 4);
            assert!(RunKind::ALL.iter().all(|kind| page.contains(kind.title())));
            assert!(page.contains(&format!("<title>{}</title>", scenario.title())));
            for outside in ["http:", "https:", "src=", "<link", "@import", "url("] {
                assert!(!page.contains(outside), "{outside}");
            }
        }
    }

    #[test]
    fn text_cannot_break_out() {
        assert_eq!(escape("a <b> & c"), "a &lt;b&gt; &amp; c");
    }
}
