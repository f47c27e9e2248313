//! What must hold for the content of a file of traces, whatever it is.

use crate::{reading, runner::Runner};

/// Longer traces show nothing new, and slow the search down.
const MOST_STEPS: usize = 2_000;

pub fn check(content: &[u8]) {
    let Ok(text) = std::str::from_utf8(content) else { return };
    for scenario in reading::scenarios("file", text) {
        match scenario {
            Err(faults) => {
                assert!(!faults.is_empty());
                assert!(faults.lines().all(|line| line.starts_with("file:")), "{faults}");
            }
            Ok(scenario) => {
                let mut runner = Runner::new(&scenario.strategy).unwrap_or_else(|error| panic!("{error}"));
                for step in scenario.steps.iter().take(MOST_STEPS) {
                    let Ok(seen) = runner.step(step) else { break };
                    assert!(seen.tally.failures <= seen.tally.calls && seen.tally.slow <= seen.tally.calls);
                }
                for pair in runner.transitions().windows(2) {
                    let (before, after) = (pair[0].split_once('>'), pair[1].split_once('>'));
                    assert_eq!(before.map(|before| before.1), after.map(|after| after.0), "{pair:?}");
                }
            }
        }
    }
}
