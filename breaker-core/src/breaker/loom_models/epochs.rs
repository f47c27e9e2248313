//! A trip, and the calls that were out when it came.

use loom::thread;

use super::kit::{Bench, DELAY, Rules, explore, explore_bounded};
use crate::{Circuit, Outcome, RejectionReason, Settlement, Timestamp};

#[test]
fn acquired_settled_and_dropped_across_a_trip() {
    explore_bounded(3, || {
        let bench = Bench::new(Rules::default());
        let (one, two) = (bench.breaker.clone(), bench.breaker.clone());
        let succeeding = thread::spawn(move || one.acquire().map(|permit| permit.settle(Outcome::Success)));
        let dropping = thread::spawn(move || drop(two.acquire()));
        bench.call(Outcome::Failure);
        let stale = match succeeding.join().unwrap() {
            Ok(Settlement::Counted) => 0,
            Ok(_) => 1,
            Err(rejection) => {
                assert_eq!(rejection.reason, RejectionReason::Open);
                assert_eq!(rejection.retry_at, Some(Timestamp::ZERO + DELAY));
                0
            }
        };
        dropping.join().unwrap();
        assert_eq!(bench.breaker.snapshot().stale, stale);
        assert_eq!(bench.transitions(), [(Circuit::Closed, Circuit::Open)]);
        bench.told_all();
    });
}

#[test]
fn of_two_failures_at_once_one_opens_and_the_other_is_stale() {
    explore(|| {
        let bench = Bench::new(Rules::default());
        let permits = [bench.breaker.acquire_owned().unwrap(), bench.breaker.acquire_owned().unwrap()];
        let [mine, theirs] = permits;
        let other = thread::spawn(move || theirs.settle(Outcome::Failure));
        let mut settled = [mine.settle(Outcome::Failure), other.join().unwrap()];
        settled.sort_by_key(|settled| *settled == Settlement::Stale);
        assert_eq!(settled, [Settlement::Counted, Settlement::Stale]);
        assert_eq!(bench.breaker.snapshot().stale, 1);
        assert_eq!(bench.transitions().len(), 1);
    });
}

#[test]
fn a_result_from_before_the_trip_decides_nothing_after_it() {
    explore(|| {
        let bench = Bench::new(Rules::default());
        let late = bench.breaker.acquire_owned().unwrap();
        bench.call(Outcome::Failure);
        bench.clock.advance(DELAY);
        let other = thread::spawn(move || late.settle(Outcome::Failure));
        // Half-open, and closed by the one success that it wants.
        let trial = bench.breaker.acquire().unwrap();
        assert_eq!(trial.settle(Outcome::Success), Settlement::Counted);
        assert_eq!(other.join().unwrap(), Settlement::Stale);
        assert_eq!((bench.circuit(), bench.breaker.epoch()), (Circuit::Closed, 4));
        assert_eq!(bench.breaker.snapshot().tally.calls, 0);
        bench.told_all();
    });
}

#[test]
fn a_permit_from_before_the_trip_gives_no_place_back_after_it() {
    explore_bounded(3, || {
        let bench = Bench::new(Rules::default());
        let late = bench.breaker.acquire_owned().unwrap();
        bench.call(Outcome::Failure);
        bench.clock.advance(DELAY);
        let breaker = bench.breaker.clone();
        let holding = thread::spawn(move || breaker.acquire_owned());
        drop(late);
        let mine = bench.breaker.acquire();
        let theirs = holding.join().unwrap();
        assert!(mine.is_ok() != theirs.is_ok(), "one place");
        assert_eq!(bench.circuit(), Circuit::HalfOpen);
    });
}
