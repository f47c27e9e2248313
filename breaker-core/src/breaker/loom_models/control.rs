//! A person at the controls, and the traffic that goes on.

use loom::thread;

use super::kit::{Bench, DELAY, Rules, explore};
use crate::{Circuit, Mode, Outcome, RejectionReason, Settlement, Timestamp};

#[test]
fn forced_open_and_released_while_a_call_fails() {
    explore(|| {
        let bench = Bench::new(Rules::default());
        let breaker = bench.breaker.clone();
        let person = thread::spawn(move || {
            breaker.force_open();
            breaker.release();
        });
        let counted = match bench.breaker.acquire() {
            Ok(permit) => permit.settle(Outcome::Failure) == Settlement::Counted,
            Err(rejection) => {
                assert_eq!((rejection.reason, rejection.retry_at), (RejectionReason::ForcedOpen, None));
                false
            }
        };
        person.join().unwrap();
        assert_eq!(bench.breaker.mode(), Mode::Automatic);
        // What was counted before outlives the control; what was admitted before and came after is stale.
        assert_eq!(bench.circuit() == Circuit::Open, counted);
        assert_eq!(bench.breaker.epoch(), if counted { 4 } else { 3 });
        bench.told_all();
    });
}

#[test]
fn disabled_while_the_circuit_is_open() {
    explore(|| {
        let bench = Bench::new(Rules::default());
        bench.call(Outcome::Failure);
        let breaker = bench.breaker.clone();
        let person = thread::spawn(move || breaker.disable());
        match bench.breaker.acquire() {
            Ok(permit) => assert_eq!(permit.settle(Outcome::Failure), Settlement::NotCounted),
            Err(rejection) => {
                assert_eq!(rejection.reason, RejectionReason::Open);
                assert_eq!(rejection.retry_at, Some(Timestamp::ZERO + DELAY));
            }
        }
        person.join().unwrap();
        assert!(bench.breaker.acquire().is_ok());
        bench.told_all();
    });
}

#[test]
fn reset_while_callers_are_refused() {
    explore(|| {
        let bench = Bench::new(Rules::default());
        bench.call(Outcome::Failure);
        let breaker = bench.breaker.clone();
        let person = thread::spawn(move || breaker.reset());
        match bench.breaker.acquire() {
            Ok(permit) => assert_eq!(permit.settle(Outcome::Success), Settlement::Counted),
            Err(rejection) => assert_eq!(rejection.retry_at, Some(Timestamp::ZERO + DELAY)),
        }
        person.join().unwrap();
        assert_eq!(bench.circuit(), Circuit::Closed);
        bench.told_all();
    });
}

#[test]
fn reset_by_the_gateway_only_if_nothing_has_changed_since_it_was_asked() {
    explore(|| {
        let bench = Bench::due(Rules::default());
        let (breaker, asked) = (bench.breaker.clone(), bench.breaker.epoch());
        let gateway = thread::spawn(move || breaker.reset_if_open_since(asked));
        let trial = bench.breaker.acquire().unwrap();
        let settled = trial.settle(Outcome::Failure);
        assert!(!gateway.join().unwrap(), "the delay has passed: it is not open any more");
        assert_eq!((settled, bench.circuit()), (Settlement::Counted, Circuit::Open));
        bench.told_all();
    });
}

#[test]
fn observed_from_one_call_to_the_next() {
    explore(|| {
        let bench = Bench::new(Rules::default());
        let breaker = bench.breaker.clone();
        let person = thread::spawn(move || breaker.observe_only());
        let settled = bench.breaker.acquire().unwrap().settle(Outcome::Failure);
        person.join().unwrap();
        let next = bench.breaker.acquire().unwrap();
        assert_eq!(next.would_reject(), settled == Settlement::Counted);
        bench.told_all();
    });
}
