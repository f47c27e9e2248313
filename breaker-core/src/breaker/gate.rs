//! The lock-free face of a circuit: what admission and settlement read before they take a lock, if ever.
//!
//! One word holds the epoch, the manual mode, the state, some flags, and what never changes: how admission reads the clock.
//! A second holds the deadline. Only the holder of the breaker's lock writes them. While the two do not go together, the first one says so.

use crate::{
    Circuit, Mode, State, Timestamp,
    sync::{AtomicU64, Ordering, written},
};

const CIRCUIT: u64 = 0b11;
const MODE_SHIFT: u32 = 2;
const MODE: u64 = 0b11 << MODE_SHIFT;
const STEADY: u64 = 1 << 4;
const FULL: u64 = 1 << 5;
/// The deadline is being written. All else in the word is still true.
const BUSY: u64 = 1 << 6;
/// Counts the deadlines, so that a word with another one differs even when it says the same.
const VERSION_SHIFT: u32 = 7;
const VERSION: u64 = 0x1ff << VERSION_SHIFT;
const START_SHIFT: u32 = 16;
const START: u64 = 0b11 << START_SHIFT;
const EPOCH_SHIFT: u32 = 18;

/// How closely admission reads the clock: when calls began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Nothing asks.
    Unread,
    /// For whether a call was abandoned late, a tick of the system more or less does not matter.
    Coarsely,
    /// For the latency of the call.
    Closely,
}

/// The first word, as it was read or will be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(u64);

impl Word {
    pub(super) fn new(epoch: u64, mode: Mode, circuit: Circuit) -> Self {
        Self((epoch << EPOCH_SHIFT) | ((mode as u64) << MODE_SHIFT) | circuit as u64)
    }

    pub(super) fn steady(self, steady: bool) -> Self {
        Self(if steady { self.0 | STEADY } else { self.0 })
    }

    pub(super) fn full(self, full: bool) -> Self {
        Self(if full { self.0 | FULL } else { self.0 })
    }

    /// What it says of the circuit.
    pub(super) const fn plain(self) -> u64 {
        self.0 & !(BUSY | VERSION | START)
    }

    pub(super) const fn start(self) -> Start {
        match (self.0 & START) >> START_SHIFT {
            0 => Start::Unread,
            1 => Start::Coarsely,
            _ => Start::Closely,
        }
    }

    const fn busy(self) -> u64 {
        self.0 | BUSY
    }

    const fn next_version(self) -> u64 {
        (self.0 & VERSION).wrapping_add(1 << VERSION_SHIFT) & VERSION
    }

    pub(super) const fn epoch(self) -> u64 {
        self.0 >> EPOCH_SHIFT
    }

    pub(super) const fn circuit(self) -> Circuit {
        match self.0 & CIRCUIT {
            0 => Circuit::Closed,
            1 => Circuit::HalfOpen,
            _ => Circuit::Open,
        }
    }

    pub(super) const fn mode(self) -> Mode {
        match (self.0 & MODE) >> MODE_SHIFT {
            0 => Mode::Automatic,
            1 => Mode::ForcedOpen,
            2 => Mode::Disabled,
            _ => Mode::ObserveOnly,
        }
    }

    pub(super) const fn is_full(self) -> bool {
        self.0 & FULL != 0
    }

    /// Closed and under no manual control: every call passes.
    pub(super) const fn passes(self) -> bool {
        self.0 & (CIRCUIT | MODE) == 0
    }

    /// Passing, and one more success changes nothing.
    pub(super) const fn is_steady(self) -> bool {
        self.0 & (CIRCUIT | MODE | STEADY) == STEADY
    }
}

#[derive(Debug)]
pub(super) struct Gate {
    word: AtomicU64,
    deadline: AtomicU64,
}

impl Gate {
    pub(super) fn new(word: Word, state: State, start: Start) -> Self {
        let word = word.plain() | (start as u64) << START_SHIFT;
        Self { word: AtomicU64::new(word), deadline: AtomicU64::new(nanos(state)) }
    }

    /// Acquire: a call that passes sees everything that led to the state it passes in.
    #[inline]
    pub(super) fn word(&self) -> Word {
        Word(self.word.load(Ordering::Acquire))
    }

    /// The word with the deadline that belongs to it; `None` while they are being written: ask under the lock.
    pub(super) fn read(&self) -> Option<(Word, Option<Timestamp>)> {
        let word = self.word();
        // Acquire: whoever sees a new deadline sees below that the word was busy, or changed.
        let deadline = self.deadline.load(Ordering::Acquire);
        let undisturbed = word.0 & BUSY == 0 && self.word.load(Ordering::Relaxed) == word.0;
        undisturbed.then(|| (word, (deadline != u64::MAX).then(|| Timestamp::from_nanos(deadline))))
    }

    /// To be called under the breaker's lock only, in a circuit that is closed: whether it is steady now.
    pub(super) fn set_steady(&self, steady: bool) {
        let old = Word(written(&self.word));
        if (old.0 & STEADY != 0) != steady {
            self.word.store(old.0 ^ STEADY, Ordering::Release);
        }
    }

    /// To be called under the breaker's lock only. Writes what differs: a line that others read stays
    /// theirs when nothing changed.
    pub(super) fn publish(&self, word: Word, state: State) {
        let (old, deadline) = (Word(written(&self.word)), nanos(state));
        if written(&self.deadline) != deadline {
            self.word.store(old.busy(), Ordering::Release);
            self.deadline.store(deadline, Ordering::Release);
            self.word.store(word.plain() | old.next_version() | old.0 & START, Ordering::Release);
        } else if old.plain() != word.plain() {
            self.word.store(word.plain() | old.0 & (VERSION | START), Ordering::Release);
        }
    }
}

fn nanos(state: State) -> u64 {
    state.until().map_or(u64::MAX, Timestamp::as_nanos)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_word_gives_back_what_was_put_in() {
        for mode in [Mode::Automatic, Mode::ForcedOpen, Mode::Disabled, Mode::ObserveOnly] {
            for circuit in [Circuit::Closed, Circuit::HalfOpen, Circuit::Open] {
                let word = Word::new((1 << 40) + 3, mode, circuit).full(true);
                assert_eq!((word.epoch(), word.mode(), word.circuit()), ((1 << 40) + 3, mode, circuit));
                assert!(word.is_full() && !word.is_steady());
                assert_eq!(word.passes(), mode == Mode::Automatic && circuit == Circuit::Closed);
            }
        }
    }

    #[test]
    fn only_a_closed_automatic_circuit_is_steady() {
        assert!(Word::new(1, Mode::Automatic, Circuit::Closed).steady(true).is_steady());
        assert!(!Word::new(1, Mode::ObserveOnly, Circuit::Closed).steady(true).is_steady());
        assert!(!Word::new(1, Mode::Automatic, Circuit::Open).steady(true).is_steady());
    }

    #[test]
    fn what_is_said_twice_is_said() {
        let word = Word::new(1, Mode::Automatic, Circuit::Closed);
        assert!(word.steady(true).steady(true).is_steady());
        assert!(word.full(true).full(true).is_full());
    }

    #[test]
    fn a_closed_circuit_becomes_steady_and_ceases_to_be_and_stays_what_else_it_was() {
        let word = Word::new(7, Mode::Automatic, Circuit::Closed);
        let gate = Gate::new(word, State::Closed, Start::Closely);
        for steady in [false, true, true, false, false, true] {
            gate.set_steady(steady);
            let now = gate.word();
            assert_eq!((now.is_steady(), now.epoch(), now.start()), (steady, 7, Start::Closely));
        }
    }

    #[test]
    fn how_the_clock_is_read_stays_where_the_deadline_stays() {
        let gate = Gate::new(Word::new(1, Mode::Automatic, Circuit::Closed), State::Closed, Start::Closely);
        gate.publish(Word::new(2, Mode::Automatic, Circuit::Open), State::Open { until: None });
        assert_eq!((gate.word().epoch(), gate.word().start()), (2, Start::Closely));
    }

    #[test]
    fn nobody_reads_a_deadline_that_is_being_written() {
        let gate = Gate::new(Word::new(1, Mode::Automatic, Circuit::Closed), State::Closed, Start::Unread);
        gate.word.store(gate.word().busy(), Ordering::Relaxed);
        assert_eq!((gate.read(), gate.word().start()), (None, Start::Unread));
    }

    #[test]
    fn a_deadline_belongs_to_its_word() {
        let open = State::Open { until: Some(Timestamp::from_secs(3)) };
        let gate = Gate::new(Word::new(1, Mode::Automatic, Circuit::Closed), State::Closed, Start::Coarsely);
        assert_eq!(gate.read().map(|read| read.1), Some(None));
        let word = Word::new(2, Mode::Automatic, Circuit::Open);
        gate.publish(word, open);
        let (read, deadline) = gate.read().expect("nobody is writing");
        assert_eq!((read.plain(), deadline), (word.0, Some(Timestamp::from_secs(3))));
        assert_eq!(read.start(), Start::Coarsely, "it never changes");
    }

    #[test]
    fn a_word_whose_deadline_was_another_in_between_is_not_the_same() {
        let full = State::HalfOpen { until: Some(Timestamp::from_secs(3)) };
        let word = Word::new(1, Mode::Automatic, Circuit::HalfOpen);
        let gate = Gate::new(word.full(true), full, Start::Closely);
        let before = gate.word();
        gate.publish(word, State::HalfOpen { until: None });
        gate.publish(word.full(true), full);
        assert_ne!(gate.word(), before);
        for _ in 0..1_000 {
            let before = gate.word();
            gate.publish(word, State::HalfOpen { until: None });
            gate.publish(word.full(true), full);
            assert_ne!(gate.word(), before);
            assert_eq!(
                (gate.word().epoch(), gate.word().is_full(), gate.word().start()),
                (1, true, Start::Closely),
                "versions stay in their bits"
            );
        }
    }
}
