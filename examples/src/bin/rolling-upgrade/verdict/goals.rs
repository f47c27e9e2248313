//! The goals, one by one.

use super::{Judgement, Verdict};
use crate::{kind::RunKind, outcome::Summary, text};

/// In a rolling upgrade the plain client must suffer at least this much more than a quiet cluster, or nothing was
/// shown.
const PLAIN_AT_LEAST: u64 = 10;

/// The comparison shows something: the plain client is slow.
pub fn plain_is_slow(quiet: &Summary, plain: &Summary) -> Verdict {
    let numbers = format!(
        "the plain client's p99 is {} times the quiet one ({} against {}, at least {PLAIN_AT_LEAST} times)",
        text::times(plain.p99_us, quiet.p99_us),
        text::millis(plain.p99_us),
        text::millis(quiet.p99_us),
    );
    valid(plain.p99_us >= PLAIN_AT_LEAST * quiet.p99_us, &numbers)
}

/// The comparison shows something: the plain client's callers are told what they can't use.
pub fn plain_is_told(plain: &Summary) -> Verdict {
    let count = text::count(plain.status_410_404);
    valid(
        plain.status_410_404 > 0,
        &format!("the plain client's callers saw a bare 410 or 404 {count} times (at least once)"),
    )
}

fn valid(shown: bool, numbers: &str) -> Verdict {
    if shown {
        Verdict { judgement: Judgement::Reached, text: format!("the comparison is valid: {numbers}") }
    } else {
        Verdict { judgement: Judgement::Invalid, text: format!("this comparison shows nothing: {numbers}") }
    }
}

/// The pool is about as fast as a quiet cluster.
pub fn latency(kind: RunKind, quiet: &Summary, pool: &Summary, at_most_percent: u64) -> Verdict {
    let text = format!(
        "{}: p99 is {} times the quiet one ({} against {}, at most {} times)",
        kind.key(),
        text::times(pool.p99_us, quiet.p99_us),
        text::millis(pool.p99_us),
        text::millis(quiet.p99_us),
        at_most_percent as f64 / 100.0,
    );
    verdict(pool.p99_us * 100 <= at_most_percent * quiet.p99_us, text)
}

/// No request of the pool fails.
pub fn no_failures(kind: RunKind, pool: &Summary) -> Verdict {
    let (failed, requests) = (text::count(pool.failed), text::count(pool.requests));
    verdict(pool.failed == 0, format!("{}: {failed} of {requests} requests failed (none may)", kind.key()))
}

/// No 410 or 404 leaves the pool.
pub fn no_bare_gone(kind: RunKind, pool: &Summary) -> Verdict {
    let count = text::count(pool.status_410_404);
    let text = format!("{}: {count} callers saw a bare 410 or 404 (none may)", kind.key());
    verdict(pool.status_410_404 == 0, text)
}

/// The gateway is asked for the map once per change.
pub fn maps(kind: RunKind, pool: &Summary, changes: u64) -> Verdict {
    let fetched = match pool.maps_fetched {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    let text = format!("{}: the map was fetched {fetched} for {changes} change (once for each)", kind.key());
    verdict(pool.maps_fetched == changes, text)
}

/// Marked replicas are left alone.
pub fn marked(kind: RunKind, count: u64) -> Verdict {
    let key = kind.key();
    let text =
        format!("{key}: {count} attempts at a replica that was marked and not brought back (none may)");
    verdict(count == 0, text)
}

fn verdict(reached: bool, text: String) -> Verdict {
    Verdict { judgement: if reached { Judgement::Reached } else { Judgement::Missed }, text }
}
