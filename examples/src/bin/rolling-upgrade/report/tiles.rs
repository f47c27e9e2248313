//! The top of the page: a tile for each run with the figure that matters, the verdicts, the table.

use std::fmt::{self, Write};

use super::{Report, page::escape};
use crate::{
    outcome::Summary,
    table::{self, HEADS},
    text,
    verdict::Judgement,
};

/// What matters most of each run, as figures and as bars of one scale.
pub fn tiles(out: &mut String, report: &Report<'_>) -> fmt::Result {
    let told = report.stage.plan.scenario.changes_partitions();
    let measure = |summary: &Summary| if told { summary.status_410_404 } else { summary.p99_us };
    let most = report.summaries.values().map(measure).max().unwrap_or(1).max(1);
    writeln!(out, r#"<section class="tiles">"#)?;
    for (kind, summary) in report.summaries {
        let (key, title) = (kind.key(), kind.title());
        let failed = match summary.failed {
            0 => "none failed".to_owned(),
            failed => format!("{} failed", text::count(failed)),
        };
        let (figure, unit, note) = if told {
            let p99 = text::millis(summary.p99_us);
            (text::count(summary.status_410_404), "bare 410s", format!("{failed}, p99 {p99}"))
        } else {
            let bad = text::count(summary.bad_attempts);
            (text::millis(summary.p99_us), "p99", format!("{bad} bad attempts, {failed}"))
        };
        let meter = match measure(summary) as f64 * 100.0 / most as f64 {
            0.0 => String::new(),
            share => format!(r#"<i style="width:{share:.1}%"></i>"#),
        };
        writeln!(
            out,
            r#"<div class="tile {key}"><h3>{title}</h3><p class="big">{figure} <small>{unit}</small></p><div class="meter">{meter}</div><p>{note}</p></div>"#,
        )?;
    }
    writeln!(out, "</section>")
}

/// What was to be reached, and whether it was.
pub fn verdicts(out: &mut String, report: &Report<'_>) -> fmt::Result {
    writeln!(out, r#"<ul class="verdicts">"#)?;
    for verdict in report.verdicts {
        let (class, word) = match verdict.judgement {
            Judgement::Reached => ("reached", "Reached"),
            Judgement::Missed => ("missed", "Missed"),
            Judgement::Invalid => ("missed", "Invalid"),
        };
        writeln!(out, r#"<li><b class="{class}">{word}</b> {}</li>"#, escape(&verdict.text))?;
    }
    writeln!(out, "</ul>")
}

/// The numbers.
pub fn table(out: &mut String, report: &Report<'_>) -> fmt::Result {
    writeln!(out, r#"<div class="scroll"><table><thead><tr><th scope="col">Run</th>"#)?;
    for head in HEADS {
        writeln!(out, r#"<th scope="col">{head}</th>"#)?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for (kind, summary) in report.summaries {
        write!(out, r#"<tr class="{}"><th scope="row"><i></i>{}</th>"#, kind.key(), kind.title())?;
        for cell in table::cells(summary, kind.disturbed()) {
            write!(out, "<td>{cell}</td>")?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}
