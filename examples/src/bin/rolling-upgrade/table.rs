//! The table on stdout.

use crate::{outcome::Summary, text};

const COLUMNS: usize = 11;

/// The heads of its columns, and of the report's table.
pub const HEADS: [&str; COLUMNS] = [
    "requests",
    "failed",
    "410/404",
    "p50",
    "p95",
    "p99",
    "p99.9",
    "max",
    "bad attempts",
    "spread again",
    "maps",
];

/// One run's cells; `disturbed` if anything happened.
pub fn cells(summary: &Summary, disturbed: bool) -> [String; COLUMNS] {
    let spread = match summary.spread_us {
        Some(us) => text::span(us),
        None if disturbed => "never".to_owned(),
        None => "–".to_owned(),
    };
    [
        text::count(summary.requests),
        text::count(summary.failed),
        text::count(summary.status_410_404),
        text::millis(summary.p50_us),
        text::millis(summary.p95_us),
        text::millis(summary.p99_us),
        text::millis(summary.p999_us),
        text::millis(summary.max_us),
        text::count(summary.bad_attempts),
        spread,
        text::count(summary.maps_fetched),
    ]
}

/// Lines of equal columns; the names stand on the left, the numbers on the right.
pub fn render(rows: &[(String, [String; COLUMNS])]) -> String {
    let name_width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..HEADS.len())
        .map(|column| {
            let cells = rows.iter().map(|(_, cells)| cells[column].chars().count());
            cells.chain([HEADS[column].chars().count()]).max().unwrap_or_default()
        })
        .collect();
    let line = |name: &str, cells: &[&str]| {
        let cells = cells.iter().zip(&widths).map(|(cell, &width)| format!("  {cell:>width$}"));
        format!("{name:<name_width$}{}\n", cells.collect::<String>())
    };
    let head = line("", &HEADS);
    let body = rows.iter().map(|(name, cells)| line(name, &cells.each_ref().map(String::as_str)));
    head + &body.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{kind::RunKind, outcome::tests::outcome};

    #[test]
    fn columns_line_up_whatever_is_in_them() {
        let summary = outcome(RunKind::Plain, (1..=1_000).map(|ms| ms * 1_000)).summary();
        let table =
            render(&[("a".to_owned(), cells(&summary, true)), ("longer".to_owned(), cells(&summary, false))]);
        let widths: Vec<_> = table.lines().map(|line| line.chars().count()).collect();
        assert_eq!(widths.len(), 3);
        assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
        assert!(table.contains("1,000       1        1  500 ms  950 ms"), "{table}");
    }

    #[test]
    fn traffic_that_never_spread_again_says_so() {
        let summary = Summary { spread_us: None, ..outcome(RunKind::Plain, 1..=2).summary() };
        assert_eq!(cells(&summary, true)[9], "never");
        assert_eq!(cells(&summary, false)[9], "–");
    }
}
