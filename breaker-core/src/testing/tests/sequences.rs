//! Single sequences: what they come to, what they look at, and how much of it.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use serde::Serialize;

use super::flawed::{Flaw, Flawed};
use crate::{
    Outcome, Strategy, Timestamp,
    config::{Blueprint, NonResilient, StrategyConfig, Violations},
    testing::{
        Act, Bench, Law, Suite,
        plan::Move,
        random::Random,
        run::{Run, Subject},
    },
};

fn subject(blueprint: impl Into<Blueprint>) -> Subject {
    Subject { blueprint: blueprint.into(), places: Some(3), wants_latency: false }
}

fn end(nth: u32, outcome: Outcome) -> Move {
    Move::End { nth, outcome, millis: 0 }
}

/// The law that a sequence breaks.
fn broken_by(flaw: Flaw, plan: &[Move]) -> Option<Law> {
    let subject = subject(Flawed { flaw });
    Run::new(&subject, None).play(plan).err().map(|broken| broken.law)
}

/// To a half-open state.
const HALF_OPEN: [Move; 2] = [
    Move::Calls { count: 2, outcome: Outcome::Failure, millis: 0 },
    Move::WaitForDeadline { less_millis: 0 },
];

#[test]
fn the_call_that_ends_is_one_of_those_that_are_out() {
    let subject = subject(Flawed { flaw: Flaw::None });
    let mut run = Run::new(&subject, None);
    let plan = [Move::Begin, Move::Begin, Move::Begin, end(5, Outcome::Success), end(0, Outcome::Ignored)];
    assert!(run.play(&plan).is_ok());
    // The last of three, since 5 leaves 2, then the first.
    let settled = |call, outcome| Act::Settle { call, outcome, latency: None };
    assert_eq!(
        run.acts,
        [
            Act::Acquire(1),
            Act::Acquire(2),
            Act::Acquire(3),
            settled(3, Outcome::Success),
            settled(1, Outcome::Ignored)
        ]
    );
}

#[test]
fn the_first_cancelled_call_is_looked_at() {
    let plan = [HALF_OPEN[0], HALF_OPEN[1], Move::Begin, end(0, Outcome::Cancelled)];
    assert_eq!(broken_by(Flaw::None, &plan), None);
    assert_eq!(broken_by(Flaw::KeepsItsPlaces, &plan), Some(Law::DroppedPermitFreesItsPlace));
}

#[test]
fn the_first_new_half_open_state_is_looked_at() {
    let again = Move::WaitForDeadline { less_millis: 0 };
    let plan = [HALF_OPEN[0], HALF_OPEN[1], Move::Begin, Move::Begin, end(0, Outcome::Failure), again];
    assert_eq!(broken_by(Flaw::None, &plan), None);
    assert_eq!(broken_by(Flaw::RemembersOldCalls, &plan), Some(Law::OlderEpochsChangeNothing));
}

/// Counts the strategies that are built.
#[derive(Clone, Debug, Default, Serialize)]
struct Counted {
    #[serde(skip)]
    built: Arc<AtomicU32>,
}

impl StrategyConfig for Counted {
    const NAME: &'static str = "COUNTED";
    type Keys = NonResilient;

    fn from_keys(_: NonResilient) -> Result<Self, Violations> {
        Ok(Self::default())
    }

    fn build(&self, now: Timestamp) -> Box<dyn Strategy> {
        self.built.fetch_add(1, Ordering::Relaxed);
        Flawed { flaw: Flaw::None }.build(now)
    }
}

#[test]
fn a_long_sequence_is_not_replayed_at_each_of_its_acts() {
    let cancelled = |calls: usize| {
        let counted = Counted::default();
        let subject = subject(counted.clone());
        let plan: Vec<Move> = HALF_OPEN
            .into_iter()
            .chain([Move::Begin, end(0, Outcome::Cancelled)].into_iter().cycle().take(2 * calls))
            .collect();
        assert!(Run::new(&subject, None).play(&plan).is_ok());
        counted.built.load(Ordering::Relaxed)
    };
    // At each act the evidence is put to a fresh strategy: two for each call that is begun and cancelled.
    assert_eq!(cancelled(60) - cancelled(20), 2 * 40);
}

#[test]
fn no_more_places_are_counted_than_asked_for() {
    let counted = |most| Bench::new(&Flawed { flaw: Flaw::None }.into()).free_places(most);
    assert_eq!((counted(0), counted(5)), (0, 5));
}

#[test]
fn a_circuit_with_more_places_than_it_should_have_breaks_that_law_and_no_other() {
    let subject = Subject { places: Some(1), ..subject(Flawed { flaw: Flaw::None }) };
    let plan = [HALF_OPEN[0], HALF_OPEN[1], Move::Begin, end(0, Outcome::Cancelled)];
    let broken = Run::new(&subject, None).play(&plan).expect_err("three calls are out at once");
    assert_eq!(broken.law, Law::NeverMoreOutThanAllowed);
}

#[test]
fn what_a_circuit_had_adopted_is_told_where_it_is_needed() {
    let of_seed = |seed| {
        assert!(Random::of(seed, 0).chance(12), "the first sequence begins with evidence");
        Suite::new(Flawed { flaw: Flaw::WantsNoProbe }).seed(seed).run().expect_err("flawed")
    };
    let needed = of_seed(48);
    assert_eq!((needed.sequence, needed.trace.len()), (0, 0), "it adopts that it is open");
    assert!(
        needed.to_string().contains("\non a circuit that had adopted Evidence { circuit: Open"),
        "{needed}"
    );
    let needless = of_seed(4);
    assert_eq!((needless.sequence, needless.adopted.is_none()), (0, true), "{needless}");
}
