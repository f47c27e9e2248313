//! The finding in plain words.

use std::collections::BTreeMap;

use crate::{
    kind::RunKind,
    outcome::Summary,
    scenario::Scenario,
    text,
    verdict::{Judgement, Verdict},
};

/// The numbers of the runs.
type Summaries = BTreeMap<RunKind, Summary>;

/// A short sentence for the top of the page.
pub fn title(scenario: Scenario, summaries: &Summaries, verdicts: &[Verdict]) -> String {
    let event = scenario.event();
    if verdicts.iter().any(|verdict| verdict.judgement == Judgement::Invalid) {
        return format!("This comparison is invalid: {event} hardly hurt the plain client.");
    }
    let failed: u64 = pools(summaries).map(|(_, pool)| pool.failed).sum();
    if failed > 0 {
        return format!(
            "With the pool, {} requests failed during {event}: none should.",
            text::count(failed)
        );
    }
    let slow = |kind| summaries.get(&kind).map(|summary: &Summary| summary.p99_us);
    let (quiet, slowest) = (slow(RunKind::Quiet), pools(summaries).map(|(_, pool)| pool.p99_us).max());
    let factor = quiet.zip(slowest).map(|(quiet, pool)| text::times(pool, quiet));
    let plain = match (scenario.changes_partitions(), summaries.get(&RunKind::Plain), quiet) {
        (true, Some(plain), _) => {
            let told = text::count(plain.status_410_404);
            Some(format!("{} brings a plain client’s callers {told} bare 410s.", sentence(event)))
        }
        (false, Some(plain), Some(quiet)) => {
            let factor = text::times(plain.p99_us, quiet);
            Some(format!("{} makes a plain client’s p99 {factor} times slower.", sentence(event)))
        }
        _ => None,
    };
    match (plain, factor) {
        (Some(plain), Some(factor)) if scenario.changes_partitions() => {
            format!("{plain} With the pool none leaves it, and p99 is {factor} times the quiet one.")
        }
        (Some(plain), Some(factor)) => format!("{plain} With the pool it is {factor} times the quiet one."),
        (Some(plain), None) => plain,
        (None, Some(factor)) => {
            format!("With the pool, the p99 during {event} is {factor} times the quiet one.")
        }
        (None, None) => format!("Latency during {event}."),
    }
}

/// Two or three sentences with the numbers.
pub fn lead(scenario: Scenario, summaries: &Summaries) -> String {
    let mut sentences = Vec::new();
    if let Some(quiet) = summaries.get(&RunKind::Quiet) {
        sentences.push(format!(
            "On a quiet cluster, 99 of 100 requests are answered within {}.",
            text::millis(quiet.p99_us)
        ));
    }
    if let Some(plain) = summaries.get(&RunKind::Plain) {
        sentences.push(if scenario.changes_partitions() { told(plain) } else { slowed(plain) });
    }
    if pools(summaries).next().is_some() {
        sentences.push(pooled(scenario, summaries));
    }
    sentences.join(" ")
}

fn pools(summaries: &Summaries) -> impl Iterator<Item = (RunKind, &Summary)> {
    summaries.iter().filter(|(kind, _)| kind.is_pool()).map(|(kind, summary)| (*kind, summary))
}

fn slowed(plain: &Summary) -> String {
    format!(
        "While the replicas are replaced, one in a hundred requests of the plain client takes {} or longer: it tried \
         a replica that had left {} times, since the gateway went on naming the old address.",
        text::millis(plain.p99_us),
        text::count(plain.bad_attempts),
    )
}

fn told(plain: &Summary) -> String {
    format!(
        "The plain client keeps its map until the old replicas say that it is out of date, and hands that answer to its \
         callers: {} of {} requests failed, {} of them with a bare 410 or 404, until it had the new map.",
        text::count(plain.failed),
        text::count(plain.requests),
        text::count(plain.status_410_404),
    )
}

fn pooled(scenario: Scenario, summaries: &Summaries) -> String {
    let each = |of: fn(&Summary) -> u64, attempts: &str| {
        let each = pools(summaries).map(|(kind, pool)| {
            let (p99, count) = (text::millis(pool.p99_us), text::count(of(pool)));
            format!("{p99} after {count} {attempts} ({})", kind.key())
        });
        each.collect::<Vec<_>>().join(" and ")
    };
    let p99 = if scenario.changes_partitions() {
        each(|pool| pool.maps_fetched, "fetches of the map").replace(" 1 fetches", " one fetch")
    } else {
        each(|pool| pool.bad_attempts, "such attempts")
    };
    let failed = match pools(summaries).map(|(_, pool)| pool.failed).sum() {
        0 => "no request failed".to_owned(),
        failed => format!("{} requests failed", text::count(failed)),
    };
    format!("The pool’s p99 is {p99}, and {failed}.")
}

/// With a capital letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{outcome::tests::outcome, verdict::Rules};

    fn summaries(runs: &[(RunKind, u64)]) -> Summaries {
        let summary = |&(kind, p99_us)| {
            let told = if kind == RunKind::Plain { 412 } else { 0 };
            let summary = outcome(kind, 1..=10).summary();
            (kind, Summary { p99_us, failed: told, status_410_404: told, ..summary })
        };
        runs.iter().map(summary).collect()
    }

    fn all() -> Summaries {
        summaries(&[
            (RunKind::Quiet, 5_000),
            (RunKind::Plain, 105_000),
            (RunKind::Static, 6_000),
            (RunKind::Canary, 5_500),
        ])
    }

    fn title_of(scenario: Scenario, runs: &Summaries) -> String {
        title(scenario, runs, &Rules::new(scenario, false).judge(runs))
    }

    #[test]
    fn the_finding_is_told_with_its_numbers() {
        let runs = all();
        let title = title_of(Scenario::Upgrade, &runs);
        assert!(title.contains("21 times slower") && title.contains("1.2 times the quiet"), "{title}");
        let lead = lead(Scenario::Upgrade, &runs);
        assert!(lead.contains("6.0 ms after 2 such attempts (static) and 5.5 ms"), "{lead}");
        assert!(lead.ends_with("and no request failed."), "{lead}");
    }

    #[test]
    fn a_change_of_partitions_is_told_by_what_callers_saw() {
        let runs = all();
        let title = title_of(Scenario::Split, &runs);
        assert!(title.starts_with("The split of a partition brings"), "{title}");
        assert!(title.contains("412 bare 410s") && title.contains("1.2 times the quiet"), "{title}");
        let lead = lead(Scenario::Split, &runs);
        assert!(lead.contains("6.0 ms after one fetch of the map (static)"), "{lead}");
    }

    #[test]
    fn failures_of_a_pool_come_before_its_latency() {
        let mut runs =
            summaries(&[(RunKind::Quiet, 5_000), (RunKind::Plain, 105_000), (RunKind::Static, 900)]);
        runs.entry(RunKind::Static).and_modify(|pool| pool.failed = 1_200);
        let title = title_of(Scenario::Upgrade, &runs);
        assert!(title.contains("1,200 requests failed") && !title.contains("times"), "{title}");
    }

    #[test]
    fn an_invalid_comparison_claims_nothing() {
        let runs = summaries(&[(RunKind::Quiet, 5_000), (RunKind::Plain, 6_000)]);
        assert!(title_of(Scenario::Upgrade, &runs).contains("invalid"));
    }
}
