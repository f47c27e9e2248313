//! The finding in plain words.

use std::collections::BTreeMap;

use crate::{
    kind::RunKind,
    outcome::Summary,
    text,
    verdict::{Judgement, Verdict},
};

/// A short sentence for the top of the page.
pub fn title(summaries: &BTreeMap<RunKind, Summary>, verdicts: &[Verdict]) -> String {
    if verdicts.iter().any(|verdict| verdict.judgement == Judgement::Invalid) {
        return "This comparison is invalid: the upgrade hardly hurt the plain client.".to_owned();
    }
    let failed: u64 = summaries.iter().filter(|(kind, _)| kind.is_pool()).map(|(_, pool)| pool.failed).sum();
    if failed > 0 {
        return format!(
            "With the pool, {} requests failed during a rolling upgrade: none should.",
            text::count(failed)
        );
    }
    let slow = |kind| summaries.get(&kind).map(|summary: &Summary| summary.p99_us);
    let pools = [slow(RunKind::Static), slow(RunKind::Canary)].into_iter().flatten().max();
    match (slow(RunKind::Quiet), slow(RunKind::Plain), pools) {
        (Some(quiet), Some(plain), Some(pool)) => format!(
            "A rolling upgrade makes a plain client’s p99 {} times slower. With the pool it is {} times the quiet one.",
            text::times(plain, quiet),
            text::times(pool, quiet),
        ),
        (Some(quiet), Some(plain), None) => {
            format!(
                "A rolling upgrade makes a plain client’s p99 {} times slower.",
                text::times(plain, quiet)
            )
        }
        (Some(quiet), None, Some(pool)) => {
            format!(
                "With the pool, a rolling upgrade’s p99 is {} times the quiet one.",
                text::times(pool, quiet)
            )
        }
        _ => "Latency during a rolling upgrade.".to_owned(),
    }
}

/// Two or three sentences with the numbers.
pub fn lead(summaries: &BTreeMap<RunKind, Summary>) -> String {
    let mut sentences = Vec::new();
    if let Some(quiet) = summaries.get(&RunKind::Quiet) {
        sentences.push(format!(
            "On a quiet cluster, 99 of 100 requests are answered within {}.",
            text::millis(quiet.p99_us)
        ));
    }
    if let Some(plain) = summaries.get(&RunKind::Plain) {
        sentences.push(format!(
            "While the replicas are replaced, one in a hundred requests of the plain client takes {} or longer: it \
             tried a replica that had left {} times, since the gateway went on naming the old address.",
            text::millis(plain.p99_us),
            text::count(plain.bad_attempts),
        ));
    }
    let pools: Vec<_> = summaries.iter().filter(|(kind, _)| kind.is_pool()).collect();
    if !pools.is_empty() {
        let each = pools.iter().map(|(kind, pool)| {
            let (p99, bad) = (text::millis(pool.p99_us), text::count(pool.bad_attempts));
            format!("{p99} after {bad} such attempts ({})", kind.key())
        });
        let failed: u64 = pools.iter().map(|(_, pool)| pool.failed).sum();
        let failed = if failed == 0 {
            "no request failed".to_owned()
        } else {
            format!("{} requests failed", text::count(failed))
        };
        sentences
            .push(format!("The pool’s p99 is {}, and {failed}.", each.collect::<Vec<_>>().join(" and ")));
    }
    sentences.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{outcome::tests::outcome, verdict::judge};

    fn summaries(runs: &[(RunKind, u64)]) -> BTreeMap<RunKind, Summary> {
        let summary =
            |&(kind, p99_us)| (kind, Summary { p99_us, failed: 0, ..outcome(kind, 1..=10).summary() });
        runs.iter().map(summary).collect()
    }

    #[test]
    fn the_finding_is_told_with_its_numbers() {
        let runs = summaries(&[
            (RunKind::Quiet, 5_000),
            (RunKind::Plain, 105_000),
            (RunKind::Static, 6_000),
            (RunKind::Canary, 5_500),
        ]);
        let title = title(&runs, &judge(&runs));
        assert!(title.contains("21 times slower") && title.contains("1.2 times the quiet"), "{title}");
        let lead = lead(&runs);
        assert!(lead.contains("6.0 ms after 2 such attempts (static) and 5.5 ms"), "{lead}");
        assert!(lead.ends_with("and no request failed."), "{lead}");
    }

    #[test]
    fn failures_of_a_pool_come_before_its_latency() {
        let mut runs =
            summaries(&[(RunKind::Quiet, 5_000), (RunKind::Plain, 105_000), (RunKind::Static, 900)]);
        runs.entry(RunKind::Static).and_modify(|pool| pool.failed = 1_200);
        let title = title(&runs, &judge(&runs));
        assert!(title.contains("1,200 requests failed") && !title.contains("times"), "{title}");
    }

    #[test]
    fn an_invalid_comparison_claims_nothing() {
        let runs = summaries(&[(RunKind::Quiet, 5_000), (RunKind::Plain, 6_000)]);
        assert!(title(&runs, &judge(&runs)).contains("invalid"));
    }
}
