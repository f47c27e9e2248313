//! What the numbers say: whether the comparison is valid, and whether the goals were reached.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{kind::RunKind, outcome::Summary, text};

/// The plain client must suffer at least this much more than a quiet cluster, or nothing was shown.
const PLAIN_AT_LEAST: u64 = 10;
/// A pool's p99 in percent of the quiet one, at most.
const POOL_AT_MOST_PERCENT: u64 = 150;

/// How one judgement went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// As it should be.
    Reached,
    /// Not as it should be.
    Missed,
    /// The upgrade hurt the plain client so little that the runs show nothing.
    Invalid,
}

/// One judgement with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// How it went.
    pub judgement: Judgement,
    /// What was judged, with the numbers.
    pub text: String,
}

/// Judges the runs that were done. Goals that need a run that was not done are left out.
pub fn judge(summaries: &BTreeMap<RunKind, Summary>) -> Vec<Verdict> {
    let quiet = summaries.get(&RunKind::Quiet);
    let mut verdicts = Vec::new();
    if let (Some(quiet), Some(plain)) = (quiet, summaries.get(&RunKind::Plain)) {
        verdicts.push(validity(quiet, plain));
    }
    for (kind, pool) in summaries.iter().filter(|(kind, _)| kind.is_pool()) {
        verdicts.push(no_failures(*kind, pool));
        verdicts.extend(quiet.map(|quiet| latency(*kind, quiet, pool)));
        verdicts.extend(pool.attempts_after_mark.map(|count| marked(*kind, count)));
    }
    verdicts
}

/// Whether every judgement is as it should be.
pub fn all_reached(verdicts: &[Verdict]) -> bool {
    verdicts.iter().all(|verdict| verdict.judgement == Judgement::Reached)
}

fn validity(quiet: &Summary, plain: &Summary) -> Verdict {
    let numbers = format!(
        "the plain client's p99 is {} times the quiet one ({} against {}, at least {PLAIN_AT_LEAST} times)",
        text::times(plain.p99_us, quiet.p99_us),
        text::millis(plain.p99_us),
        text::millis(quiet.p99_us),
    );
    if plain.p99_us >= PLAIN_AT_LEAST * quiet.p99_us {
        Verdict { judgement: Judgement::Reached, text: format!("the comparison is valid: {numbers}") }
    } else {
        Verdict { judgement: Judgement::Invalid, text: format!("this comparison shows nothing: {numbers}") }
    }
}

fn latency(kind: RunKind, quiet: &Summary, pool: &Summary) -> Verdict {
    let text = format!(
        "{}: p99 is {} times the quiet one ({} against {}, at most 1.5 times)",
        kind.key(),
        text::times(pool.p99_us, quiet.p99_us),
        text::millis(pool.p99_us),
        text::millis(quiet.p99_us),
    );
    verdict(pool.p99_us * 100 <= POOL_AT_MOST_PERCENT * quiet.p99_us, text)
}

fn no_failures(kind: RunKind, pool: &Summary) -> Verdict {
    let text = format!(
        "{}: {} of {} requests failed (none may)",
        kind.key(),
        text::count(pool.failed),
        text::count(pool.requests),
    );
    verdict(pool.failed == 0, text)
}

fn marked(kind: RunKind, count: u64) -> Verdict {
    let text = format!(
        "{}: {count} attempts at a replica that was marked and not brought back (none may)",
        kind.key()
    );
    verdict(count == 0, text)
}

fn verdict(reached: bool, text: String) -> Verdict {
    Verdict { judgement: if reached { Judgement::Reached } else { Judgement::Missed }, text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::tests::outcome;

    fn judged(runs: &[(RunKind, u64)]) -> Vec<(Judgement, String)> {
        let summaries = runs
            .iter()
            .map(|&(kind, p99_us)| {
                let summary = outcome(kind, [1_000].into_iter()).summary();
                let marked = kind.is_pool().then_some(0);
                (kind, Summary { p99_us, failed: 0, attempts_after_mark: marked, ..summary })
            })
            .collect();
        judge(&summaries).into_iter().map(|verdict| (verdict.judgement, verdict.text)).collect()
    }

    #[test]
    fn ten_times_the_quiet_p99_is_valid_and_less_is_not() {
        assert_eq!(judged(&[(RunKind::Quiet, 5_000), (RunKind::Plain, 50_000)])[0].0, Judgement::Reached);
        let (judgement, text) = &judged(&[(RunKind::Quiet, 5_000), (RunKind::Plain, 49_999)])[0];
        assert_eq!(*judgement, Judgement::Invalid);
        assert!(text.contains("shows nothing"), "{text}");
    }

    #[test]
    fn a_pool_may_take_one_and_a_half_times_the_quiet_p99() {
        let latency = |p99| judged(&[(RunKind::Quiet, 4_000), (RunKind::Static, p99)])[1].0;
        assert_eq!(latency(6_000), Judgement::Reached);
        assert_eq!(latency(6_001), Judgement::Missed);
    }

    #[test]
    fn one_failed_request_of_a_pool_misses_the_goal() {
        let pool = outcome(RunKind::Canary, 1..=10).summary();
        let verdicts = judge(&BTreeMap::from([(RunKind::Canary, pool)]));
        assert_eq!(verdicts.len(), 1);
        assert_eq!(verdicts[0].judgement, Judgement::Missed);
        assert!(!all_reached(&verdicts));
    }

    #[test]
    fn without_the_quiet_run_nothing_is_compared() {
        assert_eq!(judged(&[(RunKind::Plain, 50_000)]), []);
    }
}
