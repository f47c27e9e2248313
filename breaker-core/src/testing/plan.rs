//! What a sequence will try, chosen before anything is known of how the circuit answers.

use super::random::Random;
use crate::{Circuit, Evidence, Outcome, Sample, Tally};

/// One choice. What it comes to depends on the circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// So many calls, each of which ends before the next one begins.
    Calls {
        count: u32,
        outcome: Outcome,
        millis: u64,
    },
    /// A call begins.
    Begin,
    /// One of the calls that are out ends.
    End {
        nth: u32,
        outcome: Outcome,
        millis: u64,
    },
    Wait {
        millis: u64,
    },
    /// Until the state's deadline, or so much before it.
    WaitForDeadline {
        less_millis: u64,
    },
    Probe(bool),
    Reset,
}

/// How one sequence leans.
struct Leaning {
    failures: u64,
    dropped: u64,
    slow: u64,
    longest_run: u64,
    longest_wait: u64,
    healthy: u64,
}

impl Leaning {
    fn of(random: &mut Random) -> Self {
        let mut pick = |from: &[u64]| random.pick(from).unwrap_or_default();
        Self {
            failures: pick(&[0, 5, 20, 50, 90, 100]),
            dropped: pick(&[0, 10, 50]),
            slow: pick(&[0, 0, 30, 100]),
            longest_run: pick(&[1, 3, 12, 60, 120]),
            longest_wait: pick(&[10, 2_000, 30_000, 200_000]),
            healthy: pick(&[50, 90]),
        }
    }

    fn outcome(&self, random: &mut Random) -> Outcome {
        if random.chance(self.dropped) {
            return if random.chance(50) { Outcome::Ignored } else { Outcome::Cancelled };
        }
        if random.chance(self.failures) { Outcome::Failure } else { Outcome::Success }
    }

    fn millis(&self, random: &mut Random) -> u64 {
        if random.chance(self.slow) { 1 + random.below(120_000) } else { 0 }
    }

    fn next(&self, random: &mut Random) -> Move {
        match random.below(20) {
            0..=4 => Move::Calls {
                count: 1 + u32::try_from(random.below(self.longest_run)).unwrap_or_default(),
                outcome: self.outcome(random),
                millis: self.millis(random),
            },
            5..=10 => Move::Begin,
            11..=14 => Move::End {
                nth: u32::try_from(random.below(16)).unwrap_or_default(),
                outcome: self.outcome(random),
                millis: self.millis(random),
            },
            15 => Move::Wait { millis: random.below(self.longest_wait) },
            16 | 17 => Move::WaitForDeadline { less_millis: u64::from(random.chance(25)) },
            18 => Move::Probe(random.chance(self.healthy)),
            _ if random.chance(15) => Move::Reset,
            _ => Move::Begin,
        }
    }
}

pub(super) fn plan(random: &mut Random, moves: usize) -> Vec<Move> {
    let leaning = Leaning::of(random);
    (0..moves).map(|_| leaning.next(random)).collect()
}

/// Evidence of a strategy that had other settings, or of another one, or of a file that someone has edited.
pub(super) fn evidence(random: &mut Random) -> Evidence {
    let circuits = [Circuit::Closed, Circuit::HalfOpen, Circuit::Open];
    let spans = [None, Some(0), Some(1), Some(3_600), Some(u64::MAX)];
    let counts = [0, 1, 2, 7, 100, u32::MAX];
    let ages = [0, 1, 59, 60, u64::MAX];
    let mut sample = || Sample {
        age_secs: random.pick(&ages).unwrap_or_default(),
        tally: Tally {
            calls: random.pick(&counts).unwrap_or_default(),
            failures: random.pick(&counts).unwrap_or_default(),
            slow: random.pick(&counts).unwrap_or_default(),
        },
    };
    let samples = [sample(), sample(), sample()];
    let kept = usize::try_from(random.below(4)).unwrap_or_default();
    Evidence {
        circuit: random.pick(&circuits).unwrap_or_default(),
        remaining: random.pick(&spans).flatten().map(std::time::Duration::from_secs),
        trips: random.pick(&counts).unwrap_or_default(),
        samples: samples.into_iter().take(kept).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives numbers that end in 73, 23 and 31, and the second of which leaves 90 423 below 120 000.
    fn known() -> Random {
        Random::of(1_234_567, 0)
    }

    fn leaning() -> Leaning {
        Leaning { failures: 0, dropped: 0, slow: 0, longest_run: 3, longest_wait: 10, healthy: 50 }
    }

    #[test]
    fn outcomes_come_in_the_shares_of_the_leaning() {
        let outcome = |leaning: Leaning| leaning.outcome(&mut known());
        assert_eq!(outcome(Leaning { dropped: 74, ..leaning() }), Outcome::Ignored);
        assert_eq!(outcome(Leaning { failures: 24, ..leaning() }), Outcome::Failure);
        assert_eq!(outcome(Leaning { failures: 23, ..leaning() }), Outcome::Success);
    }

    #[test]
    fn a_slow_call_takes_a_millisecond_at_least() {
        assert_eq!(Leaning { slow: 74, ..leaning() }.millis(&mut known()), 90_424);
        assert_eq!(Leaning { slow: 73, ..leaning() }.millis(&mut known()), 0);
    }

    #[test]
    fn every_kind_of_move_comes_up_in_its_share() {
        let mut random = known();
        let moves: Vec<Move> = (0..4_000).map(|_| leaning().next(&mut random)).collect();
        let share =
            |kind: fn(&Move) -> bool| (moves.iter().filter(|chosen| kind(chosen)).count() + 100) / 200;
        // In twentieths, rounded, of which the last goes to calls that begin, but for a few resets.
        assert_eq!(share(|chosen| matches!(chosen, Move::Calls { .. })), 5);
        assert_eq!(share(|chosen| matches!(chosen, Move::Begin)), 7);
        assert_eq!(share(|chosen| matches!(chosen, Move::End { .. })), 4);
        assert_eq!(share(|chosen| matches!(chosen, Move::Wait { .. })), 1);
        assert_eq!(share(|chosen| matches!(chosen, Move::WaitForDeadline { .. })), 2);
        assert_eq!(share(|chosen| matches!(chosen, Move::Probe(_))), 1);
        let resets = moves.iter().filter(|chosen| **chosen == Move::Reset).count();
        assert!((1..100).contains(&resets), "{resets}");
    }

    #[test]
    fn a_run_has_a_call_at_least_and_as_many_as_the_leaning_says_at_most() {
        let mut random = known();
        let mut counts = std::collections::BTreeSet::new();
        for _ in 0..1_000 {
            if let Move::Calls { count, .. } = leaning().next(&mut random) {
                counts.insert(count);
            }
        }
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn a_plan_is_as_long_as_it_is_to_be() {
        assert_eq!(plan(&mut known(), 30).len(), 30);
    }

    #[test]
    fn evidence_is_of_every_state_and_has_at_most_three_samples() {
        let mut random = known();
        let all: Vec<Evidence> = (0..200).map(|_| evidence(&mut random)).collect();
        for circuit in [Circuit::Closed, Circuit::HalfOpen, Circuit::Open] {
            assert!(all.iter().any(|evidence| evidence.circuit == circuit), "{circuit}");
        }
        for kept in 0..=3 {
            assert!(all.iter().any(|evidence| evidence.samples.len() == kept), "{kept}");
        }
    }
}
