//! `report.json`: one member for each run.

use std::{collections::BTreeMap, io};

use serde_json::{Map, Value};

use crate::{kind::RunKind, outcome::Summary};

/// The file's text.
///
/// # Errors
///
/// Never in practice: summaries are numbers and strings.
pub fn render(summaries: &BTreeMap<RunKind, Summary>) -> io::Result<String> {
    let mut runs = Map::new();
    for (kind, summary) in summaries {
        runs.insert(kind.key().to_owned(), serde_json::to_value(summary)?);
    }
    Ok(serde_json::to_string_pretty(&Value::Object(runs))? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::tests::outcome;

    #[test]
    fn each_run_is_a_member_with_its_numbers() {
        let summaries = RunKind::ALL.map(|kind| (kind, outcome(kind, 1..=1_000).summary()));
        let text = render(&BTreeMap::from(summaries)).unwrap();
        let report: Value = serde_json::from_str(&text).unwrap();
        let runs: Vec<_> = report.as_object().unwrap().keys().collect();
        assert_eq!(runs, ["quiet", "plain", "static", "canary"]);
        for run in RunKind::ALL {
            let numbers =
                ["requests", "failed", "p50_us", "p95_us", "p99_us", "p999_us", "max_us", "bad_attempts"]
                    .map(|name| report[run.key()][name].as_u64().unwrap());
            assert_eq!(numbers, [1_000, 1, 500, 950, 990, 999, 1_000, 2]);
        }
    }
}
