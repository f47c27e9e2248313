//! A success in a steady circuit takes no lock. What if a failure comes at the same time?

use loom::thread;

use super::kit::{Bench, Rules, explore, explore_bounded};
use crate::{Circuit, Outcome, Settlement};

/// Two failures of the last four calls open it; so far there were successes alone.
fn steady() -> Bench {
    let bench = Bench::new(Rules { failures: 2, window: 4, ..Rules::default() });
    for _ in 0..4 {
        bench.call(Outcome::Success);
    }
    bench
}

#[test]
fn a_success_beside_a_failure_does_not_hide_it() {
    explore(|| {
        let bench = steady();
        let breaker = bench.breaker.clone();
        let other = thread::spawn(move || breaker.acquire().unwrap().settle(Outcome::Success));
        bench.call(Outcome::Failure);
        assert_eq!(other.join().unwrap(), Settlement::Counted);
        assert_eq!(bench.breaker.snapshot().tally.failures, 1);
        // Whoever saw the failure counted knows that the circuit is steady no more: successes count again, and push it out.
        for _ in 0..4 {
            bench.call(Outcome::Success);
        }
        assert_eq!(bench.breaker.snapshot().tally.failures, 0);
        bench.call(Outcome::Failure);
        bench.call(Outcome::Failure);
        assert_eq!(bench.circuit(), Circuit::Open);
    });
}

#[test]
fn two_failures_among_successes_open_the_circuit_whatever_the_order() {
    explore_bounded(3, || {
        let bench = steady();
        let call = |outcome| {
            let breaker = bench.breaker.clone();
            thread::spawn(move || breaker.acquire().map(|permit| permit.settle(outcome)))
        };
        let (first, success) = (call(Outcome::Failure), call(Outcome::Success));
        bench.call(Outcome::Failure);
        assert_eq!(first.join().unwrap(), Ok(Settlement::Counted));
        success.join().unwrap().ok();
        assert_eq!(bench.transitions(), [(Circuit::Closed, Circuit::Open)]);
        bench.told_all();
    });
}
