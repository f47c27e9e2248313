//! A sound strategy passes; one with a flaw fails, for the law that the flaw breaks.

mod flawed;
mod sequences;
mod traces;

use std::collections::BTreeSet;

use self::flawed::{Flaw, Flawed};
use super::{Act, Bench, Law, Suite, Trace, check};
use crate::{
    Circuit, Outcome,
    config::{Blueprint, NonResilient},
};

fn broken_by(flaw: Flaw) -> super::Violation {
    Suite::new(Flawed { flaw }).run().expect_err(&format!("{flaw:?} passes"))
}

#[test]
fn a_strategy_without_a_flaw_passes() {
    let report =
        Suite::new(Flawed { flaw: Flaw::None }).run().unwrap_or_else(|violation| panic!("{violation}"));
    assert_eq!((report.sequences, report.half_open_places), (300, Some(3)));
    assert!(report.acts > 10_000, "{report:?}");
}

#[test]
fn a_sound_strategy_of_another_kind_passes() {
    for (flaw, places) in [
        (Flaw::SlowIsFailure, Some(3)),
        (Flaw::WantsProbes, Some(3)),
        (Flaw::ReadsALeaseThatIsOver, Some(3)),
        (Flaw::LetsAllOut, None),
    ] {
        let report = Suite::new(Flawed { flaw }).run().unwrap_or_else(|violation| panic!("{violation}"));
        assert_eq!(report.half_open_places, places, "{flaw:?}");
    }
}

#[test]
fn what_is_shown_breaks_the_law_that_was_found_broken() {
    let flaw = Flaw::NoLeaseAndKeepsItsPlaces;
    let violations = (0..20).map(|seed| Suite::new(Flawed { flaw }).seed(seed).run().expect_err("flawed"));
    let (kept, stuck): (Vec<_>, Vec<_>) =
        violations.partition(|violation| violation.law == Law::DroppedPermitFreesItsPlace);
    assert!(!kept.is_empty() && !stuck.is_empty(), "{} and {}", kept.len(), stuck.len());
    for violation in kept {
        assert!(violation.what.contains("places were free before"), "{violation}");
    }
    for violation in stuck {
        assert_eq!(violation.law, Law::NeverStuck, "{violation}");
    }
}

#[test]
#[should_panic(expected = "\"never stuck\" does not hold after ")]
fn a_check_panics_with_the_law() {
    check(Flawed { flaw: Flaw::NoLease });
}

#[test]
fn no_strategy_at_all_passes() {
    check(NonResilient {});
}

#[test]
fn every_flaw_breaks_its_own_law() {
    for (flaw, law, what) in Flaw::ALL {
        let violation = broken_by(flaw);
        assert_eq!(violation.law, law, "{flaw:?}: {violation}");
        assert!(violation.what.contains(what), "{flaw:?}: {violation}");
    }
}

#[test]
fn every_law_is_broken_by_some_flaw() {
    let broken: BTreeSet<Law> = Flaw::ALL.iter().map(|(_, law, _)| *law).collect();
    assert_eq!(broken, BTreeSet::from(Law::ALL));
}

#[test]
fn a_violation_is_shown_by_the_shortest_steps_as_a_line_that_replay_takes() {
    let violation = broken_by(Flaw::IgnoredCloses);
    let line = violation.to_string();
    let line = line.lines().last().expect("a trace");
    let trace: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(trace["config"]["strategy"], "FLAWED");
    let ops: Vec<&str> =
        trace["steps"].as_array().into_iter().flatten().filter_map(|step| step["op"].as_str()).collect();
    // Two failures open it, its delay passes, and an ignored call closes it.
    assert_eq!(
        ops,
        ["acquire", "failure", "acquire", "failure", "advance", "acquire", "cancel"],
        "{violation}"
    );
}

#[test]
fn a_seed_reproduces_its_violation() {
    let run = |seed| Suite::new(Flawed { flaw: Flaw::KeepsItsPlaces }).seed(seed).run().expect_err("flawed");
    let (one, again) = (run(7), run(7));
    assert_eq!((one.to_string(), one.sequence), (again.to_string(), again.sequence));
}

#[test]
fn what_a_model_expected_stands_in_the_trace() {
    let blueprint = Blueprint::new(Flawed { flaw: Flaw::None });
    let (mut bench, mut trace) = (Bench::new(&blueprint), Trace::new("two failures", &blueprint));
    for call in 0..2 {
        for act in [Act::Acquire(call), Act::Settle { call, outcome: Outcome::Failure, latency: None }] {
            let seen = bench.step(act);
            trace.push_expecting(act, &seen);
        }
    }
    assert_eq!(bench.breaker().state().circuit(), Circuit::Open);
    assert_eq!(
        trace.to_string(),
        r#"{"name":"two failures","config":{"strategy":"FLAWED","flaw":"None"},"steps":[{"op":"acquire","call":0,"state":"closed","calls":0,"failures":0,"permitted":true},{"op":"failure","call":0,"state":"closed","calls":1,"failures":1,"stale":false},{"op":"acquire","call":1,"state":"closed","calls":1,"failures":1,"permitted":true},{"op":"failure","call":1,"state":"open","calls":0,"failures":0,"stale":false}]}"#
    );
}
