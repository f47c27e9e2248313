//! Who passes, and which results count.

use super::*;

#[test]
fn an_open_circuit_rejects_and_says_why_and_when_to_come_back() {
    let bench = Bench::new();
    bench.trip();
    let rejection = bench.breaker.acquire().unwrap_err();
    assert_eq!(rejection.reason, RejectionReason::Open);
    assert_eq!(rejection.retry_at, Some(Timestamp::from_secs(10)));
    bench.wait(4);
    assert_eq!(rejection.retry_after(Timestamp::from_secs(4)), Some(Duration::from_secs(6)));
}

#[test]
fn a_delay_has_passed_at_its_last_nanosecond_and_not_before() {
    let bench = Bench::new();
    bench.trip();
    bench.clock.advance(DELAY - Duration::from_nanos(1));
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
    assert!(bench.breaker.acquire().is_err());
    bench.clock.advance(Duration::from_nanos(1));
    assert_eq!(bench.breaker.state().circuit(), Circuit::HalfOpen);
    assert!(bench.breaker.acquire().is_ok());
}

#[test]
fn reading_a_due_state_changes_nothing_and_the_event_bears_the_date_of_the_deadline() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(25);
    assert_eq!(bench.breaker.state(), State::HalfOpen { until: None });
    assert_eq!(bench.breaker.snapshot().state, State::HalfOpen { until: None });
    assert_eq!(bench.breaker.snapshot().epoch, 2);
    assert_eq!(bench.transitions(), ["closed>open@0"]);
    let permit = bench.breaker.acquire().unwrap();
    assert_eq!(bench.transitions(), ["closed>open@0", "open>half_open@10"]);
    assert_eq!(permit.epoch(), Some(3));
    assert_eq!(permit.settle(Outcome::Success), Settlement::Counted);
    assert_eq!(bench.transitions().len(), 3);
}

#[test]
fn a_late_result_is_stale_in_every_later_state() {
    let bench = Bench::new();
    let late: Vec<_> = (0..4).map(|_| bench.breaker.acquire().unwrap()).collect();
    let mut late = late.into_iter();
    bench.trip();
    assert_eq!(late.next().unwrap().settle(Outcome::Success), Settlement::Stale);
    bench.wait(10);
    let trial = bench.breaker.acquire().unwrap();
    assert_eq!(late.next().unwrap().settle(Outcome::Failure), Settlement::Stale);
    assert_eq!(bench.breaker.state().circuit(), Circuit::HalfOpen);
    trial.settle(Outcome::Success);
    assert_eq!(late.next().unwrap().settle(Outcome::Failure), Settlement::Stale);
    assert_eq!(bench.breaker.snapshot().tally, Tally::default());
    drop(late);
    assert_eq!(bench.breaker.snapshot().stale, 3);
}

#[test]
fn a_late_return_gives_back_no_place_of_a_newer_epoch() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(10);
    let first = bench.breaker.acquire().unwrap();
    bench.wait(60);
    let second = bench.breaker.acquire().unwrap();
    drop(first);
    assert_eq!(bench.breaker.acquire().unwrap_err().reason, RejectionReason::NoPlace);
    drop(second);
    assert!(bench.breaker.acquire().is_ok());
}

#[test]
fn ignored_and_cancelled_calls_give_their_place_back_and_close_nothing() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(10);
    for outcome in [Outcome::Ignored, Outcome::Cancelled] {
        assert_eq!(bench.call(outcome), Settlement::Counted);
        assert_eq!(bench.breaker.state(), State::HalfOpen { until: None });
    }
    drop(bench.breaker.acquire().unwrap());
    drop(bench.breaker.acquire_owned().unwrap());
    assert!(bench.breaker.acquire().is_ok());
}

#[test]
fn the_lease_of_a_lost_place_ends_in_a_new_epoch_with_one_event() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(10);
    let lost = bench.breaker.acquire().unwrap();
    let rejection = bench.breaker.acquire().unwrap_err();
    assert_eq!(
        (rejection.reason, rejection.retry_at),
        (RejectionReason::NoPlace, Some(Timestamp::from_secs(70)))
    );
    bench.clock.advance(LEASE - Duration::from_nanos(1));
    assert!(bench.breaker.acquire().is_err());
    assert!(bench.breaker.status().full);
    bench.clock.advance(Duration::from_nanos(1));
    assert!(!bench.breaker.status().full);
    let fresh = bench.breaker.acquire().unwrap();
    assert_eq!(lost.settle(Outcome::Success), Settlement::Stale);
    assert_eq!(bench.breaker.state().circuit(), Circuit::HalfOpen);
    fresh.settle(Outcome::Success);
    assert_eq!(bench.transitions()[2..], ["half_open again@70", "half_open>closed@70"]);
}

#[test]
fn a_steady_circuit_forgets_nothing_when_a_failure_comes() {
    let bench = Bench::new();
    for _ in 0..5 {
        bench.call(Outcome::Success);
    }
    bench.call(Outcome::Failure);
    assert_eq!(bench.breaker.snapshot().tally.failures, 1);
    bench.call(Outcome::Failure);
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
}

#[test]
fn evidence_outlives_the_breaker() {
    let bench = Bench::new();
    bench.trip();
    let evidence = bench.breaker.evidence();
    let next = Bench::with(TwoStrikes { probed: false }, |b| b.adopt(evidence));
    assert_eq!(next.breaker.state().circuit(), Circuit::Open);
}

#[test]
fn shared_types_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Breaker>();
    crosses::<crate::Permit<'_>>();
    crosses::<crate::OwnedPermit>();
    crosses::<crate::Snapshot>();
}

/// Waits for good if any of them asks for the lock.
#[test]
fn whoever_is_refused_needs_no_lock() {
    let bench = Bench::new();
    let refused = |reason: RejectionReason| {
        let _held = crate::sync::lock(&bench.breaker.core);
        assert_eq!(bench.breaker.acquire().unwrap_err().reason, reason);
    };
    bench.trip();
    refused(RejectionReason::Open);
    bench.wait(10);
    let place = bench.breaker.acquire().unwrap();
    refused(RejectionReason::NoPlace);
    drop(place);
    bench.breaker.force_open();
    refused(RejectionReason::ForcedOpen);
}

#[test]
fn an_owned_permit_tells_what_a_borrowed_one_tells() {
    let bench = Bench::new();
    let told = || {
        let (owned, borrowed) = (bench.breaker.acquire_owned().unwrap(), bench.breaker.acquire().unwrap());
        assert_eq!((owned.epoch(), owned.would_reject()), (borrowed.epoch(), borrowed.would_reject()));
        (owned.epoch(), owned.would_reject())
    };
    assert_eq!(told(), (Some(1), false));
    bench.trip();
    bench.breaker.observe_only();
    assert_eq!(told(), (None, true));
    bench.breaker.reset();
    assert_eq!(told(), (Some(4), false), "closed, open, observing, reset");
    bench.breaker.disable();
    assert_eq!(told(), (None, false));
}

#[test]
fn every_call_passes_where_the_circuit_is_closed_and_its_strategy_decides() {
    let bench = Bench::new();
    assert!(bench.breaker.passes());
    bench.breaker.disable();
    assert!(!bench.breaker.passes(), "nothing is counted");
    bench.breaker.release();
    bench.trip();
    assert!(!bench.breaker.passes());
}
