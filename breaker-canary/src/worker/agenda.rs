//! When something is to be done, and about whom.

use std::{cmp::Reverse, collections::BinaryHeap};

use breaker_core::Timestamp;

use super::line::Address;

/// Names an entry of an agenda.
pub(super) type Turn = u64;

/// Soonest first, and of those at the same instant the one that was put down first. In one piece of memory: after a time
/// with many entries nothing is left of them.
///
/// Nothing is crossed out. Whoever owns the agenda says which entries still stand, and those that don't are skipped.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    entries: BinaryHeap<Reverse<(Timestamp, Turn, Address)>>,
    turns: Turn,
}

/// How many entries may be there that no longer stand, besides as many as do.
const SLACK: usize = 64;

impl Agenda {
    pub(super) fn put(&mut self, at: Timestamp, address: Address) -> Turn {
        self.turns += 1;
        self.entries.push(Reverse((at, self.turns, address)));
        self.turns
    }

    /// When the first entry is due that still stands.
    pub(super) fn next(&mut self, stands: impl Fn(Address, Turn) -> bool) -> Option<Timestamp> {
        while let Some(Reverse((at, turn, address))) = self.entries.peek() {
            if stands(*address, *turn) {
                return Some(*at);
            }
            self.entries.pop();
        }
        None
    }

    /// Takes the first entry that still stands, if it is due by `now`.
    pub(super) fn take(&mut self, now: Timestamp, stands: impl Fn(Address, Turn) -> bool) -> Option<Address> {
        self.next(stands).filter(|at| *at <= now)?;
        self.entries.pop().map(|Reverse((.., address))| address)
    }

    /// Whether too many entries are there when so many stand.
    pub(super) fn is_littered(&self, standing: usize) -> bool {
        self.entries.len() > 2 * standing + SLACK
    }

    /// Takes away what does not stand, and gives the room back.
    pub(super) fn tidy(&mut self, stands: impl Fn(Address, Turn) -> bool) {
        self.entries.retain(|Reverse((_, turn, address))| stands(*address, *turn));
        self.entries.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Timestamp {
        Timestamp::from_secs(secs)
    }

    fn any(_: Address, _: Turn) -> bool {
        true
    }

    #[test]
    fn the_soonest_comes_first_and_of_equals_the_first() {
        let mut agenda = Agenda::default();
        for (secs, address) in [(3, 1), (2, 9), (2, 4), (5, 2)] {
            agenda.put(at(secs), address);
        }
        assert_eq!(agenda.next(any), Some(at(2)));
        assert_eq!(agenda.take(at(1), any), None, "nothing is due");
        let due: Vec<_> = std::iter::from_fn(|| agenda.take(at(3), any)).collect();
        assert_eq!(due, [9, 4, 1]);
        assert_eq!(agenda.next(any), Some(at(5)));
    }

    #[test]
    fn what_no_longer_stands_is_skipped() {
        let mut agenda = Agenda::default();
        let (early, late) = (agenda.put(at(1), 7), agenda.put(at(2), 7));
        let stands = |_, turn| turn == late;
        assert_ne!(early, late);
        assert_eq!(agenda.next(stands), Some(at(2)));
        assert_eq!(agenda.take(at(2), stands), Some(7));
        assert_eq!(agenda.next(any), None, "the other one is gone too");
    }

    #[test]
    fn litter_is_noticed_and_taken_away() {
        let mut agenda = Agenda::default();
        for address in 0..100 {
            agenda.put(at(1), address);
        }
        assert!(!agenda.is_littered(18), "2 * 18 + 64");
        assert!(agenda.is_littered(17));
        agenda.tidy(|address, _| address < 10);
        assert_eq!(agenda.entries.len(), 10);
        assert!(agenda.entries.capacity() < 64);
        assert_eq!(agenda.take(at(1), any), Some(0));
    }
}
