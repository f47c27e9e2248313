//! What a breaker tells, to whom, and in which order.

use super::*;

#[test]
fn an_observer_that_panics_silences_nobody() {
    let quiet =
        Bench::with(TwoStrikes { probed: false }, |b| b.observer(Arc::new(|_: &Event| panic!("observer"))));
    quiet.trip();
    quiet.wait(10);
    quiet.call(Outcome::Success);
    assert_eq!(quiet.transitions(), ["closed>open@0", "open>half_open@10", "half_open>closed@10"]);
}

#[test]
fn an_observer_may_call_the_breaker_and_events_stay_in_order() {
    let (clock, order) = (Arc::new(ManualClock::default()), Arc::new(Mutex::new(Vec::new())));
    let slot: Arc<Mutex<Option<Arc<Breaker>>>> = Arc::default();
    let (inner, log) = (Arc::clone(&slot), Arc::clone(&order));
    let nosy = move |event: &Event| {
        log.lock().unwrap().push((event.epoch, "first"));
        let breaker = inner.lock().unwrap().clone();
        if let (EventKind::Transition { to: Circuit::Open, .. }, Some(breaker)) = (&event.kind, breaker) {
            breaker.reset();
            assert_eq!(breaker.state(), State::Closed);
        }
    };
    let log = Arc::clone(&order);
    let second = move |event: &Event| log.lock().unwrap().push((event.epoch, "second"));
    let builder = Breaker::builder(TwoStrikes { probed: false }).clock(clock);
    let breaker = Arc::new(builder.observer(Arc::new(nosy)).observer(Arc::new(second)).build().unwrap());
    *slot.lock().unwrap() = Some(Arc::clone(&breaker));
    breaker.acquire().unwrap().settle(Outcome::Failure);
    breaker.acquire().unwrap().settle(Outcome::Failure);
    assert_eq!(*order.lock().unwrap(), [(2, "first"), (2, "second"), (3, "first"), (3, "second")]);
}

#[test]
fn events_carry_reason_numbers_and_the_next_try() {
    let bench = Bench::with(TwoStrikes { probed: false }, |b| b.name("db-1"));
    bench.trip();
    let seen = bench.seen.lock().unwrap();
    assert_eq!(seen[0].name.as_deref(), Some("db-1"));
    let EventKind::Transition { reason, tally, retry_at, .. } = seen[0].kind else { panic!() };
    assert_eq!((reason, tally.failures, retry_at), (Reason::Failures, 2, Some(Timestamp::from_secs(10))));
    assert_eq!(seen[0].to_string(), "closed -> open: too many failures (2 of 2 failed)");
}
