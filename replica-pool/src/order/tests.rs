//! The facts of the order, with seeds: they are the same on every run.

use std::{sync::Arc, time::Duration};

use breaker_core::{Breaker, ManualClock, RejectionReason, config::NonResilient};

use super::*;
use crate::kin::Kin;

const SHUFFLED: Rules = Rules { order: Order::Shuffled, trial_ratio: 0.0 };
const LISTED: Rules = Rules { order: Order::Listed, trial_ratio: 0.0 };
const TRIALS: Rules = Rules { order: Order::Shuffled, trial_ratio: 0.1 };

fn rng() -> Rng {
    Rng::with_seed(4711)
}

fn circuit(circuit: Circuit) -> View {
    // A status can only be had of a breaker.
    let mut status = Breaker::builder(NonResilient::default()).build().unwrap().status();
    status.circuit = circuit;
    View { circuit: status, health: HealthStatus::Unknown, overdue: false, forgiven_at: Timestamp::MAX }
}

fn closed() -> View {
    circuit(Circuit::Closed)
}

fn half_open() -> View {
    circuit(Circuit::HalfOpen)
}

fn full() -> View {
    let mut view = half_open();
    view.circuit.full = true;
    view
}

fn open(until: Option<u64>) -> View {
    let mut view = circuit(Circuit::Open);
    view.circuit.until = until.map(Timestamp::from_secs);
    view
}

fn in_mode(mode: Mode, mut view: View) -> View {
    view.circuit.mode = mode;
    view
}

fn healthy(health: HealthStatus, view: View) -> View {
    View { health, ..view }
}

/// The indices in the order of a selection.
fn all(rules: Rules, views: &[View], rng: &mut Rng) -> Vec<usize> {
    rules.best(views.len(), views.iter().copied().enumerate(), rng)
}

/// The indices in the order of a walk in which everybody fails.
fn walk(rules: Rules, views: &[View], rng: &mut Rng) -> Vec<usize> {
    let mut tried = Vec::new();
    while let Some(index) = first(rules, views, &tried, &[], rng) {
        tried.push(index);
    }
    tried
}

fn first(rules: Rules, views: &[View], tried: &[usize], failed: &[usize], rng: &mut Rng) -> Option<usize> {
    let candidates = views.iter().enumerate().filter(|(index, _)| !tried.contains(index));
    let candidates = candidates.map(|(index, view)| (index, *view, failed.contains(&index)));
    rules.first(candidates, rng)
}

/// How often each of `views` came first in 10,000 selections and in 10,000 walks.
fn firsts(rules: Rules, views: &[View]) -> [Vec<u32>; 2] {
    let mut rng = rng();
    let mut counts = [vec![0; views.len()], vec![0; views.len()]];
    for _ in 0..10_000 {
        counts[0][all(rules, views, &mut rng)[0]] += 1;
        counts[1][first(rules, views, &[], &[], &mut rng).unwrap()] += 1;
    }
    counts
}

#[test]
fn the_worse_of_circuit_and_health_ranks_and_nobody_is_left_out() {
    use HealthStatus::{Connected, Unhealthy, UnhealthyPending};
    // From the last to the first.
    let views = [
        in_mode(Mode::ForcedOpen, circuit(Circuit::Open)),
        healthy(Unhealthy, open(Some(9))),
        open(Some(8)),
        healthy(Unhealthy, half_open()),
        healthy(UnhealthyPending, half_open()),
        half_open(),
        healthy(Connected, closed()),
    ];
    for (rules, order) in [(SHUFFLED, [6, 5, 4, 3, 2, 1, 0]), (LISTED, [5, 6, 4, 3, 2, 1, 0])] {
        assert_eq!(all(rules, &views, &mut rng()), order);
        assert_eq!(walk(rules, &views, &mut rng()), order);
    }
}

#[test]
fn every_rank_is_as_the_rules_say() {
    use HealthStatus::{Connected, Unhealthy, UnhealthyPending, Unknown};
    let circuits = [(closed(), 0), (half_open(), 1), (full(), 1), (open(None), 4)];
    let healths = [(Unknown, 0), (Connected, 0), (UnhealthyPending, 2), (Unhealthy, 3)];
    for (view, of_circuit) in circuits {
        for (health, of_health) in healths {
            let key = healthy(health, view).key(false, Order::Shuffled);
            assert_eq!(key.rank, of_circuit.max(of_health), "{view:?} {health}");
            let failed = healthy(health, view).key(true, Order::Shuffled);
            assert_eq!(failed.rank, of_circuit.max(3), "{view:?} {health}, failed in this request");
        }
    }
    for mode in [Mode::Disabled, Mode::ObserveOnly] {
        assert_eq!(in_mode(mode, open(None)).key(false, Order::Shuffled).rank, 0, "{mode} admits all");
    }
    assert!(in_mode(Mode::ForcedOpen, closed()).key(false, Order::Shuffled).rank > 4);
}

#[test]
fn open_circuits_come_by_the_soonest_retry_and_those_that_only_a_probe_opens_last() {
    let views = [open(None), open(Some(30)), open(Some(10)), open(Some(20))];
    for rules in [SHUFFLED, LISTED] {
        assert_eq!(all(rules, &views, &mut rng()), [2, 3, 1, 0]);
        assert_eq!(walk(rules, &views, &mut rng()), [2, 3, 1, 0]);
    }
}

#[test]
fn a_half_open_circuit_has_no_retry_that_would_order_it() {
    let mut leased = full();
    leased.circuit.until = Some(Timestamp::from_secs(60));
    assert_eq!(leased.key(false, Order::Shuffled), full().key(false, Order::Shuffled));
}

#[test]
fn each_of_three_equals_is_first_about_as_often_and_so_is_each_permutation() {
    for counts in firsts(SHUFFLED, &[closed(), closed(), closed()]) {
        assert!(counts.iter().all(|count| (3_200..=3_470).contains(count)), "{counts:?}");
    }
    let (mut rng, mut permutations) = (rng(), std::collections::BTreeMap::new());
    for _ in 0..12_000 {
        *permutations.entry(all(SHUFFLED, &[closed(); 3], &mut rng)).or_insert(0) += 1;
        *permutations.entry(walk(SHUFFLED, &[closed(); 3], &mut rng)).or_insert(0) += 1;
    }
    assert_eq!(permutations.len(), 6);
    assert!(permutations.values().all(|count| (3_850..=4_150).contains(count)), "{permutations:?}");
}

#[test]
fn a_list_is_walked_as_it_is_and_a_half_open_server_keeps_its_place() {
    let views = [closed(), half_open(), closed(), full(), closed()];
    for ratio in [0.0, 0.1, 1.0] {
        let rules = Rules { trial_ratio: ratio, ..LISTED };
        let mut rng = rng();
        for _ in 0..100 {
            assert_eq!(all(rules, &views, &mut rng), [0, 1, 2, 4, 3], "a full one is behind");
            assert_eq!(walk(rules, &views, &mut rng), [0, 1, 2, 4, 3]);
        }
    }
}

#[test]
fn one_request_in_ten_tries_a_half_open_replica_first() {
    for counts in firsts(TRIALS, &[closed(), half_open(), closed()]) {
        assert!((940..=1_060).contains(&counts[1]), "{counts:?}");
    }
    for counts in firsts(TRIALS, &[half_open(), closed(), half_open()]) {
        let trials = counts[0] + counts[2];
        assert!((940..=1_060).contains(&trials), "ten in a hundred for all of them: {counts:?}");
        assert!((430..=570).contains(&counts[0]), "shared evenly: {counts:?}");
    }
}

#[test]
fn the_ratio_may_be_nothing_or_everything() {
    for counts in firsts(SHUFFLED, &[closed(), half_open()]) {
        assert_eq!(counts, [10_000, 0]);
    }
    for counts in firsts(Rules { trial_ratio: 1.0, ..SHUFFLED }, &[closed(), half_open()]) {
        assert_eq!(counts, [0, 10_000]);
    }
}

#[test]
fn no_trial_goes_to_a_replica_that_could_not_use_it() {
    use HealthStatus::{Unhealthy, UnhealthyPending};
    let always = Rules { trial_ratio: 1.0, ..SHUFFLED };
    let useless = [
        full(),
        healthy(Unhealthy, half_open()),
        healthy(UnhealthyPending, half_open()),
        open(Some(0)),
        in_mode(Mode::ForcedOpen, half_open()),
    ];
    for view in useless {
        for counts in firsts(always, &[closed(), view]) {
            assert_eq!(counts, [10_000, 0], "{view:?}");
        }
    }
    // Nor to one that has failed in this very request.
    assert_eq!(first(always, &[closed(), half_open()], &[], &[1], &mut rng()), Some(0));
    // To one that admits everybody no trial need go: it is as good as closed.
    for counts in firsts(always, &[closed(), in_mode(Mode::ObserveOnly, half_open())]) {
        assert!((4_850..=5_150).contains(&counts[1]), "{counts:?}");
    }
}

/// A full one is of the same rank, and no good.
#[test]
fn a_trial_goes_before_a_half_open_replica_that_is_full() {
    let always = Rules { trial_ratio: 1.0, ..SHUFFLED };
    for counts in firsts(always, &[full(), half_open(), full()]) {
        assert_eq!(counts, [0, 10_000, 0]);
    }
    for counts in firsts(SHUFFLED, &[full(), half_open()]) {
        assert!((4_850..=5_150).contains(&counts[0]), "{counts:?}");
    }
}

#[test]
fn a_trial_takes_the_last_place_of_a_selection_that_had_none_for_it() {
    let always = Rules { trial_ratio: 1.0, ..SHUFFLED };
    let views = [closed(), half_open(), closed(), open(None)];
    let best = |n| always.best(n, views.iter().copied().enumerate(), &mut rng());
    assert!(best(0).is_empty());
    assert_eq!(best(1), [1]);
    let two = best(2);
    assert!(two == [1, 0] || two == [1, 2], "{two:?}");
    let three = best(3);
    assert!(three == [1, 0, 2] || three == [1, 2, 0], "{three:?}");
    assert_eq!(best(4)[3], 3);
    assert_eq!(best(5), best(4));
}

#[test]
fn a_trial_moves_nobody_else() {
    let always = Rules { trial_ratio: 1.0, ..SHUFFLED };
    let views = [healthy(HealthStatus::Unhealthy, closed()), open(Some(5)), half_open(), closed()];
    assert_eq!(all(always, &views, &mut rng()), [2, 3, 0, 1]);
}

#[test]
fn who_failed_in_this_request_comes_behind_all_who_did_not_but_before_the_open_ones() {
    let views = [closed(), half_open(), open(Some(5)), healthy(HealthStatus::UnhealthyPending, closed())];
    let mut order = Vec::new();
    while let Some(index) = first(SHUFFLED, &views, &order, &[0], &mut rng()) {
        order.push(index);
    }
    assert_eq!(order, [1, 3, 0, 2]);
}

#[test]
fn nobody_to_ask_is_no_candidate() {
    assert_eq!(first(TRIALS, &[], &[], &[], &mut rng()), None);
    assert!(all(TRIALS, &[], &mut rng()).is_empty());
}

#[test]
fn the_view_agrees_with_what_the_circuit_would_say() {
    assert_eq!(full().circuit.refusal(), Some(RejectionReason::NoPlace));
    assert!(!full().is_on_trial() && half_open().is_on_trial() && !closed().is_on_trial());
}

/// A mark counts for a minute, and then asks for a refresh. Until then, nothing happens by time alone.
#[test]
fn a_view_knows_until_when_it_holds() {
    const BOUND: Duration = Duration::from_secs(60);
    let clock = Arc::new(ManualClock::at(Timestamp::ZERO));
    let breaker = Breaker::builder(NonResilient::default()).clock(Arc::clone(&clock) as _).build().unwrap();
    let replica = Replica::<u8, ()>::new(1, breaker, None, Arc::new(Kin::new(None)));
    let config = PoolConfig::default();
    let view = || View::of(&*replica, &Now::of(&*clock), &config);
    let at = |secs| Timestamp::ZERO + Duration::from_secs(secs);
    assert_eq!((view().settled_until(), view().overdue), (Timestamp::MAX, false), "nothing is known");
    clock.advance(Duration::from_secs(10));
    assert!(replica.failed(replica.mark().epoch(), BOUND));
    assert_eq!((view().settled_until(), view().overdue), (at(70), false));
    clock.advance(Duration::from_secs(60));
    assert_eq!(
        (view().settled_until(), view().overdue),
        (Timestamp::ZERO, true),
        "the gateway is to be asked"
    );
    assert_eq!((view().health, replica.health()), (HealthStatus::Unknown, HealthStatus::Unhealthy));
    replica.confirmed(replica.mark(), true);
    assert_eq!((view().settled_until(), view().overdue), (at(130), false), "it is to be validated");
    clock.advance(Duration::from_secs(60));
    assert_eq!(
        (view().settled_until(), view().overdue),
        (Timestamp::MAX, false),
        "no longer held against it"
    );
}
