//! Whoever waits for a chance is woken by it, however it comes. Loom finds the one who sleeps for ever.

use loom::thread;

use super::kit::{Bench, Rules, block_on, explore};
use crate::Outcome;

const PATIENT: Rules = Rules { failures: 1, window: 1, places: 1, successes: 9 };

#[test]
fn a_place_that_comes_back_wakes_the_one_who_waits() {
    explore(|| {
        let bench = Bench::due(PATIENT);
        let permit = bench.breaker.acquire_owned().unwrap();
        let other = thread::spawn(move || drop(permit));
        block_on(bench.breaker.ready(|_| std::future::pending()));
        assert!(bench.breaker.acquire().is_ok());
        other.join().unwrap();
    });
}

#[test]
fn a_reset_wakes_the_one_who_waits() {
    explore(|| {
        let bench = Bench::new(Rules::default());
        bench.call(Outcome::Failure);
        let breaker = bench.breaker.clone();
        let other = thread::spawn(move || breaker.reset());
        block_on(bench.breaker.ready(|_| std::future::pending()));
        assert!(bench.breaker.acquire().is_ok());
        other.join().unwrap();
    });
}

#[test]
fn a_release_wakes_the_one_who_waits() {
    explore(|| {
        let bench = Bench::new(Rules::default());
        bench.breaker.force_open();
        let breaker = bench.breaker.clone();
        let other = thread::spawn(move || breaker.release());
        block_on(bench.breaker.ready(|_| std::future::pending()));
        assert!(bench.breaker.acquire().is_ok());
        other.join().unwrap();
    });
}
