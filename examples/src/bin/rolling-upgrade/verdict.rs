//! What the numbers say: whether the comparison is valid, and whether the goals were reached.

mod goals;

use std::collections::BTreeMap;

use crate::{kind::RunKind, outcome::Summary, scenario::Scenario};

/// How one judgement went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// As it should be.
    Reached,
    /// Not as it should be.
    Missed,
    /// What happened hurt the plain client so little that the runs show nothing.
    Invalid,
}

/// One judgement with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How it went.
    pub judgement: Judgement,
    /// What was judged, with the numbers.
    pub text: String,
}

/// What is judged.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    scenario: Scenario,
    /// Short runs prove nothing about latencies, and neither does a machine that has other things to do.
    latencies: bool,
}

impl Rules {
    /// Of this scenario; `quick` runs are judged by what can be counted.
    pub fn new(scenario: Scenario, quick: bool) -> Self {
        Self { scenario, latencies: !quick }
    }

    /// Judges the runs that were done. Goals that need a run that was not done are left out.
    pub fn judge(self, summaries: &BTreeMap<RunKind, Summary>) -> Vec<Verdict> {
        let quiet = summaries.get(&RunKind::Quiet).filter(|_| self.latencies);
        let mut verdicts = Vec::new();
        if let Some(plain) = summaries.get(&RunKind::Plain) {
            verdicts.extend(self.validity(quiet, plain));
        }
        for (&kind, pool) in summaries.iter().filter(|(kind, _)| kind.is_pool()) {
            verdicts.push(goals::no_failures(kind, pool));
            if self.scenario.changes_partitions() {
                verdicts.push(goals::no_bare_gone(kind, pool));
            }
            verdicts.extend(quiet.map(|quiet| goals::latency(kind, quiet, pool, self.at_most_percent())));
            if self.scenario.changes_partitions() {
                verdicts.push(goals::maps(kind, pool, self.scenario.map_changes()));
            }
            verdicts.extend(pool.attempts_after_mark.map(|count| goals::marked(kind, count)));
        }
        verdicts
    }

    fn validity(self, quiet: Option<&Summary>, plain: &Summary) -> Option<Verdict> {
        if self.scenario.changes_partitions() {
            Some(goals::plain_is_told(plain))
        } else {
            quiet.map(|quiet| goals::plain_is_slow(quiet, plain))
        }
    }

    /// A pool's p99 in percent of the quiet one, at most.
    fn at_most_percent(self) -> u64 {
        if self.scenario.changes_partitions() { 200 } else { 150 }
    }
}

/// Whether every judgement is as it should be.
pub fn all_reached(verdicts: &[Verdict]) -> bool {
    verdicts.iter().all(|verdict| verdict.judgement == Judgement::Reached)
}

#[cfg(test)]
mod tests;
