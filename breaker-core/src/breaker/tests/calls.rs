//! Guarded calls, and waiting for a chance to make one.

use super::*;

#[test]
fn a_classifier_that_panics_gives_the_place_back_and_the_breaker_lives() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(10);
    let classifier = |_: &Result<(), ()>| -> Outcome { panic!("classifier") };
    let run = AssertUnwindSafe(|| bench.breaker.run_with(&classifier, || Ok(())));
    assert!(catch_unwind(run).is_err());
    assert!(!bench.breaker.status().full);
    assert_eq!(bench.breaker.run(|| Ok::<_, ()>(7)), Ok(7));
    assert_eq!(bench.breaker.state(), State::Closed);
}

#[test]
fn a_call_abandoned_after_the_limit_is_a_failure_and_sooner_is_cancelled() {
    let limit = Duration::from_secs(1);
    let bench = Bench::with(TwoStrikes { probed: false }, |b| b.abandoned_call_is_failure_after(limit));
    for (nanos_less, failures) in [(1, 0), (0, 1)] {
        let permit = bench.breaker.acquire().unwrap();
        bench.clock.advance(limit - Duration::from_nanos(nanos_less));
        drop(permit);
        assert_eq!(bench.breaker.snapshot().tally.failures, failures);
    }
    let owned = bench.breaker.acquire_owned().unwrap();
    bench.clock.advance(limit);
    drop(owned);
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
}

#[test]
fn a_future_is_not_polled_when_rejected_and_is_cancelled_when_dropped() {
    let bench = Bench::new();
    bench.trip();
    let never = async { unreachable!("polled while open") as Result<(), ()> };
    assert!(matches!(block_on(bench.breaker.call(never)), Err(CallError::Rejected(_))));
    bench.wait(10);
    assert!(bench.breaker.call(pending::<Result<(), ()>>()).now_or_never().is_none());
    assert!(!bench.breaker.status().full);
    assert_eq!(block_on(bench.breaker.call(async { Err::<(), _>("no") })), Err(CallError::Failed("no")));
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
}

#[test]
fn a_waiter_is_woken_by_a_returned_place_by_time_and_by_a_transition() {
    let bench = Bench::new();
    let no_timer = |_| pending::<()>();
    assert!(bench.breaker.ready(no_timer).now_or_never().is_some(), "closed: at once");
    bench.trip();
    let mut asked = Vec::new();
    let asleep = |span| {
        asked.push(span);
        bench.clock.advance(span);
        std::future::ready(())
    };
    let asleep = Mutex::new(asleep);
    block_on(bench.breaker.ready(|span| (asleep.lock().unwrap())(span)));
    assert_eq!(asked, [DELAY]);
    let place = bench.breaker.acquire().unwrap();
    let mut waiter = Box::pin(bench.breaker.ready(no_timer));
    assert!(waiter.as_mut().now_or_never().is_none());
    drop(place);
    assert!(waiter.as_mut().now_or_never().is_some(), "a place came back");
    let place = bench.breaker.acquire().unwrap();
    let mut waiter = Box::pin(bench.breaker.ready(no_timer));
    assert!(waiter.as_mut().now_or_never().is_none());
    place.settle(Outcome::Success);
    assert!(waiter.as_mut().now_or_never().is_some(), "closed");
}

#[test]
fn a_failed_trial_wakes_a_waiter_too_who_then_waits_for_the_delay() {
    let bench = Bench::new();
    bench.trip();
    bench.wait(10);
    let place = bench.breaker.acquire().unwrap();
    let changed = bench.breaker.changed();
    place.settle(Outcome::Failure);
    assert!(changed.now_or_never().is_some());
    assert_eq!(bench.breaker.acquire().unwrap_err().retry_at, Some(Timestamp::from_secs(20)));
}
