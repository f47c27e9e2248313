//! The top of the page: a tile for each run, the verdicts, the table.

use std::fmt::{self, Write};

use super::{Report, page::escape};
use crate::{
    table::{self, HEADS},
    text,
    verdict::Judgement,
};

/// The p99 of each run, as figures and as bars of one scale.
pub fn tiles(out: &mut String, report: &Report<'_>) -> fmt::Result {
    let slowest = report.summaries.values().map(|summary| summary.p99_us).max().unwrap_or(1).max(1);
    writeln!(out, r#"<section class="tiles" aria-label="p99 of each run">"#)?;
    for (kind, summary) in report.summaries {
        let share = summary.p99_us as f64 * 100.0 / slowest as f64;
        let failed = match summary.failed {
            0 => "none failed".to_owned(),
            failed => format!("{} failed", text::count(failed)),
        };
        writeln!(
            out,
            r#"<div class="tile {key}"><h3>{title}</h3><p class="big">{p99}</p><div class="meter"><i style="width:{share:.1}%"></i></div><p>{bad} bad attempts, {failed}</p></div>"#,
            key = kind.key(),
            title = kind.title(),
            p99 = text::millis(summary.p99_us),
            bad = text::count(summary.bad_attempts),
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
