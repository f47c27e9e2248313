//! What a step shows against what its trace expects.

use std::fmt::{self, Debug, Display};

use breaker_core::Settlement;

use crate::{
    runner::{Answer, Seen},
    trace::Expected,
};

/// One thing that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    what: &'static str,
    expected: String,
    got: String,
}

impl Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, expected, got } = self;
        write!(f, "expected {what} {expected}, got {got}")
    }
}

/// Everything that differs, in the order of the trace's documentation.
pub fn mismatches(expected: &Expected, seen: &Seen, transitions: &[String]) -> Vec<Mismatch> {
    let permitted = match seen.answer {
        Answer::Admitted => Some(true),
        Answer::Rejected(_) => Some(false),
        _ => None,
    };
    let stale = match seen.answer {
        Answer::Settled(settlement) => Some(settlement == Settlement::Stale),
        _ => None,
    };
    let mut found = Vec::new();
    found.extend(differing("state", expected.state, seen.state));
    found.extend(differing("permitted", expected.permitted, Shown(permitted)));
    found.extend(differing("calls", expected.calls, seen.tally.calls));
    found.extend(differing("failures", expected.failures, seen.tally.failures));
    found.extend(differing("stale", expected.stale, Shown(stale)));
    found.extend(differing("count", expected.count, seen.stale));
    if let Some(expected) = &expected.transitions
        && expected != transitions
    {
        let list = |transitions: &[String]| format!("[{}]", transitions.join(", "));
        found.push(Mismatch { what: "transitions", expected: list(expected), got: list(transitions) });
    }
    found
}

fn differing<E: Display, G: Display + PartialEq<E>>(
    what: &'static str,
    expected: Option<E>,
    got: G,
) -> Option<Mismatch> {
    let expected = expected.filter(|expected| got != *expected)?;
    Some(Mismatch { what, expected: expected.to_string(), got: got.to_string() })
}

/// An answer that may be missing: the call was never made.
struct Shown(Option<bool>);

impl PartialEq<bool> for Shown {
    fn eq(&self, expected: &bool) -> bool {
        self.0 == Some(*expected)
    }
}

impl Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(shown) => write!(f, "{shown}"),
            None => f.write_str("no result, since the call was rejected"),
        }
    }
}
