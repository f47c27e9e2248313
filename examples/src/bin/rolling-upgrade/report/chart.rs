//! The latency over time of one run: every request as part of a heat map, p50 and p99 as lines.

use std::fmt::{self, Write};

use super::{
    scale::{BOTTOM, LEFT, RIGHT, Scale, TOP},
    series::{self, Cell, SLICE, Slice},
};
use crate::{outcome::Outcome, text};

/// From how many requests on a cell is drawn in the next darker shade.
const SHADES: [u64; 5] = [1, 2, 5, 15, 40];

/// Draws one run; `quiet` is the p99 to compare with.
pub fn draw(out: &mut String, outcome: &Outcome, scale: &Scale, quiet: Option<u64>) -> fmt::Result {
    let slices = series::slices(&outcome.samples);
    grid(out, scale)?;
    heat(out, &series::cells(&outcome.samples), scale)?;
    line(out, "p50", &slices, scale, |slice| slice.p50)?;
    line(out, "p99", &slices, scale, |slice| slice.p99)?;
    if let Some(quiet) = quiet {
        reference(out, quiet, scale)?;
    }
    failures(out, &slices, scale)?;
    captions(out, &slices, scale)
}

fn grid(out: &mut String, scale: &Scale) -> fmt::Result {
    for us in scale.latencies() {
        let y = scale.y(us);
        writeln!(out, r#"<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1}" y2="{y:.1}"/>"#)?;
        writeln!(
            out,
            r#"<text class="tick" x="{}" y="{:.1}" text-anchor="end">{} ms</text>"#,
            LEFT - 8.0,
            y + 4.0,
            us / 1_000
        )?;
    }
    Ok(())
}

fn heat(out: &mut String, cells: &[Cell], scale: &Scale) -> fmt::Result {
    for (shade, from) in SHADES.into_iter().enumerate() {
        let to = SHADES.get(shade + 1).copied().unwrap_or(u64::MAX);
        write!(out, r#"<path class="heat h{shade}" d=""#)?;
        for cell in cells.iter().filter(|cell| (from..to).contains(&cell.requests)) {
            let (left, right) = (scale.x(cell.at), scale.x(cell.at + SLICE));
            let (top, bottom) = (scale.y(cell.to), scale.y(cell.from));
            let (width, height) = ((right - left - 0.6).max(0.6), (bottom - top).max(2.0));
            write!(out, "M{left:.1} {top:.1}h{width:.1}v{height:.1}h-{width:.1}z")?;
        }
        writeln!(out, r#""/>"#)?;
    }
    Ok(())
}

fn line(
    out: &mut String,
    class: &str,
    slices: &[Slice],
    scale: &Scale,
    of: impl Fn(&Slice) -> u64,
) -> fmt::Result {
    write!(out, r#"<polyline class="{class}" points=""#)?;
    for slice in slices {
        write!(out, "{:.1},{:.1} ", scale.x(slice.at + SLICE / 2), scale.y(of(slice)))?;
    }
    writeln!(out, r#""/>"#)
}

fn reference(out: &mut String, quiet: u64, scale: &Scale) -> fmt::Result {
    let y = scale.y(quiet);
    writeln!(out, r#"<line class="reference" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1}" y2="{y:.1}"/>"#)
}

fn failures(out: &mut String, slices: &[Slice], scale: &Scale) -> fmt::Result {
    for slice in slices.iter().filter(|slice| slice.failed > 0) {
        let x = scale.x(slice.at + SLICE / 2);
        writeln!(out, r#"<path class="failure" d="M{x:.1} {TOP}l-4 -8h8z"/>"#)?;
    }
    Ok(())
}

/// Invisible columns that say the numbers when pointed at.
fn captions(out: &mut String, slices: &[Slice], scale: &Scale) -> fmt::Result {
    for slice in slices {
        let (left, right) = (scale.x(slice.at), scale.x(slice.at + SLICE));
        writeln!(
            out,
            r#"<rect class="column" x="{left:.1}" y="{TOP}" width="{:.1}" height="{}"><title>{:.1} s: {} requests, {} failed
p50 {}, p99 {}, max {}</title></rect>"#,
            right - left,
            BOTTOM - TOP,
            slice.at as f64 / 1e6,
            slice.requests,
            slice.failed,
            text::millis(slice.p50),
            text::millis(slice.p99),
            text::millis(slice.max),
        )?;
    }
    Ok(())
}
