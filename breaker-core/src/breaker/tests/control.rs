//! Manual control.

use super::*;

#[test]
fn forced_open_rejects_all_until_released() {
    let bench = Bench::new();
    let before = bench.breaker.acquire().unwrap();
    bench.breaker.force_open();
    bench.breaker.force_open();
    assert_eq!(bench.breaker.acquire().unwrap_err().reason, RejectionReason::ForcedOpen);
    assert_eq!(bench.breaker.state(), State::Open { until: None });
    assert_eq!(before.settle(Outcome::Failure), Settlement::Stale);
    bench.wait(3600);
    assert!(bench.breaker.acquire().is_err());
    bench.breaker.reset();
    assert!(bench.breaker.acquire().is_err(), "a reset leaves the mode alone");
    bench.breaker.release();
    assert!(bench.breaker.acquire().is_ok());
    assert_eq!(
        bench.transitions(),
        ["automatic>forced_open", "reset closed>closed", "forced_open>automatic"]
    );
}

#[test]
fn disabled_admits_all_and_records_nothing() {
    let bench = Bench::new();
    bench.trip();
    bench.breaker.disable();
    assert_eq!(bench.breaker.state(), State::Closed);
    for _ in 0..5 {
        assert_eq!(bench.call(Outcome::Failure), Settlement::NotCounted);
    }
    bench.breaker.release();
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
    assert_eq!(bench.breaker.snapshot().stale, 0);
}

#[test]
fn observing_admits_all_records_and_reports_what_would_have_been() {
    let bench = Bench::new();
    bench.breaker.observe_only();
    bench.trip();
    let permit = bench.breaker.acquire().unwrap();
    assert!(permit.would_reject());
    assert_eq!(permit.settle(Outcome::Success), Settlement::NotCounted);
    assert_eq!(bench.breaker.snapshot().would_reject, 1);
    assert_eq!(bench.breaker.status().refusal(), None);
    assert_eq!(bench.transitions(), ["automatic>observe_only", "closed>open@0"]);
    assert_eq!(bench.seen.lock().unwrap()[1].mode, Mode::ObserveOnly);
}

#[test]
fn releasing_a_half_open_circuit_frees_the_places_of_calls_that_no_longer_count() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(10);
    let lost = bench.breaker.acquire().unwrap();
    bench.breaker.force_open();
    bench.breaker.release();
    assert_eq!(bench.breaker.status().circuit, Circuit::HalfOpen);
    assert!(!bench.breaker.status().full);
    assert_eq!(lost.settle(Outcome::Failure), Settlement::Stale);
}

#[test]
fn a_reset_forgets_and_starts_a_new_epoch() {
    let bench = Bench::new();
    bench.call(Outcome::Failure);
    let before = bench.breaker.acquire().unwrap();
    bench.breaker.reset();
    assert_eq!(before.settle(Outcome::Failure), Settlement::Stale);
    bench.call(Outcome::Failure);
    assert_eq!(bench.breaker.state(), State::Closed);
}

#[test]
fn only_a_circuit_that_its_strategy_opened_in_that_epoch_is_reset() {
    let reset = |bench: &Bench, epoch| bench.breaker.reset_if_open_since(epoch);
    let bench = Bench::new();
    assert!(!reset(&bench, bench.breaker.epoch()), "closed");
    bench.trip();
    let tripped = bench.breaker.epoch();
    assert!(!reset(&bench, tripped - 1), "opened later");
    bench.breaker.force_open();
    assert!(!reset(&bench, bench.breaker.epoch()), "under manual control");
    let bench = Bench::new();
    bench.trip();
    bench.wait(9);
    assert!(reset(&bench, tripped));
    assert_eq!(bench.breaker.state(), State::Closed);
    bench.trip();
    let again = bench.breaker.epoch();
    bench.wait(10);
    assert!(!reset(&bench, again), "half-open");
}

#[test]
fn a_circuit_is_tripped_only_while_its_strategy_holds_it_open() {
    let bench = Bench::new();
    assert!(!bench.breaker.is_tripped(), "closed");
    bench.trip();
    assert!(bench.breaker.is_tripped());
    bench.breaker.force_open();
    assert!(!bench.breaker.is_tripped(), "forced open");
    bench.breaker.release();
    bench.breaker.reset();
    assert!(!bench.breaker.is_tripped(), "reset");
}
