//! The lease of a half-open place ends while its call comes back after all.

use std::sync::Arc;

use loom::thread;

use super::kit::{Bench, DELAY, LEASE, LoomClock, Rules, explore, explore_bounded};
use crate::{Circuit, Outcome, Settlement, Timestamp};

const PATIENT: Rules = Rules { failures: 1, window: 1, places: 1, successes: 9 };

#[test]
fn an_expired_place_goes_to_one_newcomer_and_its_late_return_to_nobody() {
    explore_bounded(2, || {
        let bench = Bench::due(PATIENT);
        let lost = bench.breaker.acquire_owned().unwrap();
        bench.clock.advance(LEASE);
        let breaker = bench.breaker.clone();
        let other = thread::spawn(move || breaker.acquire_owned());
        let late = thread::spawn(move || lost.settle(Outcome::Success));
        let mine = bench.breaker.acquire_owned();
        assert!(mine.is_ok() != other.join().unwrap().is_ok(), "one place");
        assert_eq!(late.join().unwrap(), Settlement::Stale);
        assert_eq!((bench.circuit(), bench.breaker.epoch()), (Circuit::HalfOpen, 4));
        bench.told_all();
    });
}

#[test]
fn a_lease_that_ends_at_any_moment_leaves_one_call_out() {
    explore_bounded(4, || {
        let clock = Arc::new(LoomClock::at(Timestamp::ZERO));
        let breaker = Arc::new(Bench::builder(Rules::default(), clock.clone()).build().unwrap());
        breaker.acquire().unwrap().settle(Outcome::Failure);
        clock.advance(DELAY);
        let first = breaker.acquire_owned().unwrap();
        let hands = thread::spawn(move || clock.advance(LEASE));
        let other = breaker.clone();
        let newcomer = thread::spawn(move || other.acquire_owned());
        let settled = first.settle(Outcome::Success);
        hands.join().unwrap();
        let newcomer = newcomer.join().unwrap();
        if settled == Settlement::Counted {
            assert_eq!(breaker.state().circuit(), Circuit::Closed);
        } else {
            assert_eq!(breaker.state().circuit(), Circuit::HalfOpen);
            let free = breaker.acquire_owned();
            assert!(newcomer.is_ok() != free.is_ok(), "one place");
        }
    });
}

#[test]
fn a_delay_that_ends_at_any_moment_admits_or_says_when() {
    explore(|| {
        let clock = Arc::new(LoomClock::at(Timestamp::ZERO));
        let breaker = Arc::new(Bench::builder(Rules::default(), clock.clone()).build().unwrap());
        breaker.acquire().unwrap().settle(Outcome::Failure);
        let hands = thread::spawn(move || clock.advance(DELAY));
        if let Err(rejection) = breaker.acquire_owned() {
            assert_eq!(rejection.retry_at, Some(Timestamp::ZERO + DELAY));
        }
        hands.join().unwrap();
        assert!(breaker.acquire().is_ok());
    });
}
