//! Half-open places, when everybody wants one.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use loom::thread;

use super::kit::{Bench, Rules, explore, explore_bounded};
use crate::{Circuit, Outcome, OwnedPermit, Rejection, RejectionReason, Settlement};

const PATIENT: Rules = Rules { failures: 1, window: 1, places: 1, successes: 9 };

/// Once the delay has passed, nobody is told that the circuit is open.
fn half_open(acquired: &Result<OwnedPermit, Rejection>) {
    if let Err(rejection) = acquired {
        assert_eq!(rejection.reason, RejectionReason::NoPlace);
    }
}

#[test]
fn one_of_three_gets_the_one_place() {
    explore_bounded(2, || {
        let bench = Bench::due(PATIENT);
        let acquire = || {
            let breaker = bench.breaker.clone();
            thread::spawn(move || breaker.acquire_owned())
        };
        let (one, two) = (acquire(), acquire());
        let all = [bench.breaker.acquire_owned(), one.join().unwrap(), two.join().unwrap()];
        all.iter().for_each(half_open);
        assert_eq!(all.iter().filter(|acquired| acquired.is_ok()).count(), 1);
        assert_eq!(bench.transitions().len(), 2, "committed once, whoever came first");
        drop(all);
        assert!(bench.breaker.acquire().is_ok());
    });
}

#[test]
fn two_of_three_get_the_two_places() {
    explore_bounded(2, || {
        let bench = Bench::due(Rules { places: 2, ..PATIENT });
        let acquire = || {
            let breaker = bench.breaker.clone();
            thread::spawn(move || breaker.acquire_owned())
        };
        let (one, two) = (acquire(), acquire());
        let all = [bench.breaker.acquire_owned(), one.join().unwrap(), two.join().unwrap()];
        all.iter().for_each(half_open);
        assert_eq!(all.iter().filter(|acquired| acquired.is_ok()).count(), 2);
    });
}

#[test]
fn a_place_that_is_given_back_is_taken_by_one_other() {
    explore_bounded(3, || {
        let bench = Bench::due(PATIENT);
        let (out, breaker) = (Arc::new(AtomicUsize::new(0)), bench.breaker.clone());
        let use_it = move |outcome: Option<Outcome>| {
            if let Ok(permit) = breaker.acquire() {
                assert_eq!(out.fetch_add(1, SeqCst), 0, "never more out than places");
                // A step at which others may run.
                thread::yield_now();
                out.fetch_sub(1, SeqCst);
                match outcome {
                    Some(outcome) => assert_eq!(permit.settle(outcome), Settlement::Counted),
                    None => drop(permit),
                }
            }
        };
        let other = use_it.clone();
        let other = thread::spawn(move || {
            other(None);
            other(Some(Outcome::Ignored));
        });
        use_it(Some(Outcome::Success));
        other.join().unwrap();
        assert!(bench.breaker.acquire().is_ok(), "no place was lost");
        assert_eq!(bench.circuit(), Circuit::HalfOpen);
    });
}

#[test]
fn a_state_that_is_due_never_reads_as_open_while_someone_commits_it() {
    explore(|| {
        let bench = Bench::due(PATIENT);
        let breaker = bench.breaker.clone();
        let committing = thread::spawn(move || drop(breaker.acquire()));
        assert_eq!(bench.breaker.status().circuit, Circuit::HalfOpen);
        committing.join().unwrap();
        bench.told_all();
    });
}
