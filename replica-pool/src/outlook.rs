//! What lets a healthy pick look at one replica instead of all.
//!
//! Ordering candidates takes a look at every circuit and every mark. But who is to be asked first changes only when
//! something happens to a replica, or when the time comes that was set for something to happen. As long as neither is the
//! case since the last look at the whole set, any replica of the first rank is as good as the best of a full look:
//! picked at random and refused unless it is of the first rank, each of those has the same chance.

use std::sync::atomic::{AtomicU64, Ordering};

use breaker_core::Timestamp;

/// Counts what happens to the replicas of a pool: every change of a circuit or of a rank. On a line of its own, since every
/// pick reads it.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Changes(AtomicU64);

impl Changes {
    /// Something happened to a replica, and can be seen by now.
    pub(crate) fn note(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// How much has happened. What is looked at after this is at least as new.
    pub(crate) fn count(&self) -> u32 {
        // After 2^32 changes between two picks an outlook would be taken for a new one. It still holds only until its time.
        self.0.load(Ordering::Acquire) as u32
    }
}

/// What the last look at a whole set found: the count of changes by then, and until when nothing happens by time alone.
///
/// Both in one word, so that they belong together: 32 bits of count, 32 of time in steps of 67 ms (nine years).
#[derive(Debug, Default)]
pub(crate) struct Outlook(AtomicU64);

const STEP_SHIFT: u32 = 26;
const NEVER: u64 = u32::MAX as u64;

impl Outlook {
    /// Notes that nothing will happen before `until` unless it is counted after `changes`.
    pub(crate) fn settle(&self, changes: u32, until: Timestamp) {
        let until =
            if until == Timestamp::MAX { NEVER } else { steps(until).saturating_sub(1).min(NEVER - 1) };
        let word = u64::from(changes) << 32 | until;
        // A line that others read stays theirs when nothing is new.
        if self.0.load(Ordering::Relaxed) != word {
            self.0.store(word, Ordering::Release);
        }
    }

    /// Whether nothing has happened since. The clock is read only where time matters, and coarsely: a step is longer than
    /// such a reading may be late.
    pub(crate) fn holds(&self, changes: u32, coarse: impl FnOnce() -> Timestamp) -> bool {
        let word = self.0.load(Ordering::Acquire);
        let until = word & NEVER;
        word >> 32 == u64::from(changes) && (until == NEVER || steps(coarse()) < until)
    }
}

const fn steps(at: Timestamp) -> u64 {
    at.as_nanos() >> STEP_SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_secs(43_200);

    fn at(secs: u64) -> Timestamp {
        Timestamp::from_secs(secs)
    }

    #[test]
    fn a_new_outlook_holds_for_nothing() {
        assert!(!Outlook::default().holds(0, || Timestamp::ZERO));
    }

    #[test]
    fn it_holds_until_something_happens() {
        let (changes, outlook) = (Changes::default(), Outlook::default());
        outlook.settle(changes.count(), Timestamp::MAX);
        assert!(outlook.holds(changes.count(), || unreachable!("time does not matter")));
        changes.note();
        assert!(!outlook.holds(changes.count(), || NOON));
    }

    #[test]
    fn it_never_holds_as_late_as_its_time() {
        let outlook = Outlook::default();
        outlook.settle(7, NOON);
        assert!(outlook.holds(7, || at(43_199)));
        let a_late_tick_before = Timestamp::from_nanos(NOON.as_nanos() - 50_000_000);
        assert!(!outlook.holds(7, || a_late_tick_before), "it may be noon already");
        assert!(!outlook.holds(8, || at(1)));
    }

    #[test]
    fn a_time_that_is_too_far_off_is_near_the_end_and_not_never() {
        let outlook = Outlook::default();
        outlook.settle(1, Timestamp::from_nanos(u64::MAX - 1));
        assert!(outlook.holds(1, || at(86_400 * 365 * 9)));
        assert!(!outlook.holds(1, || at(86_400 * 365 * 10)));
    }
}
