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

/// Is told of results, and how long calls took, if it wants to know.
#[derive(Clone, Debug, Default, Serialize)]
struct Told {
    wants_latency: bool,
    steady: bool,
    #[serde(skip)]
    told: Arc<Mutex<Vec<Option<Duration>>>>,
}

impl StrategyConfig for Told {
    const NAME: &'static str = "TOLD";
    type Keys = NoKeys;

    fn from_keys(_: NoKeys) -> Result<Self, Violations> {
        Ok(Self::default())
    }

    fn build(&self, _: Timestamp) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

impl Strategy for Told {
    fn state(&self) -> State {
        State::Closed
    }

    fn tick(&mut self, _: &Now<'_>) -> Tick {
        Tick::SameEpoch
    }

    fn admit(&mut self, _: &Now<'_>) -> bool {
        true
    }

    fn settle(&mut self, report: &Report, _: &Now<'_>) {
        self.told.lock().unwrap().push(report.latency);
    }

    fn steady(&self) -> bool {
        self.steady
    }

    fn wants_latency(&self) -> bool {
        self.wants_latency
    }
}

#[test]
fn a_strategy_is_told_how_long_a_call_took_if_it_wants_to_know() {
    for (wants_latency, measured) in [(true, Some(Duration::from_secs(2))), (false, None)] {
        let (clock, told) = (Arc::new(ManualClock::default()), Arc::default());
        let breaker = Breaker::builder(Told { wants_latency, steady: false, told: Arc::clone(&told) })
            .clock(Arc::clone(&clock) as _)
            .abandoned_call_is_failure_after(LEASE)
            .build()
            .unwrap();
        let (read, given) = (breaker.acquire().unwrap(), breaker.acquire_at(Timestamp::ZERO).unwrap());
        let timed = breaker.acquire().unwrap();
        clock.advance(Duration::from_secs(2));
        read.settle(Outcome::Failure);
        given.settle(Outcome::Failure);
        timed.settle_timed(Outcome::Failure, DELAY);
        assert_eq!(*told.lock().unwrap(), [measured, measured, Some(DELAY)]);
    }
}

#[test]
fn a_result_of_an_older_epoch_counts_for_nothing_although_a_new_one_would_change_nothing() {
    let bench = Bench::new();
    let old: Vec<_> = (0..4).map(|_| bench.breaker.acquire().unwrap()).collect();
    bench.trip();
    bench.wait(10);
    for _ in 0..3 {
        assert_eq!(
            bench.call(Outcome::Success),
            Settlement::Counted,
            "the trial, and two that make it steady"
        );
    }
    assert_eq!(bench.call(Outcome::Success), Settlement::Counted, "which nobody is told of");
    let outcomes = [Outcome::Success, Outcome::Failure, Outcome::Ignored, Outcome::Cancelled];
    for (permit, outcome) in old.into_iter().zip(outcomes) {
        assert_eq!(permit.settle(outcome), Settlement::Stale, "{outcome:?}");
    }
    assert_eq!(bench.breaker.snapshot().stale, 2, "a verdict came late twice");
}

#[test]
fn a_success_that_would_change_nothing_is_not_even_reported() {
    for (steady, reports) in [(true, 1), (false, 2)] {
        let told = Arc::default();
        let config = Told { wants_latency: false, steady, told: Arc::clone(&told) };
        let breaker = Breaker::builder(config).build().unwrap();
        for outcome in [Outcome::Success, Outcome::Failure] {
            assert_eq!(breaker.acquire().unwrap().settle(outcome), Settlement::Counted);
        }
        assert_eq!(told.lock().unwrap().len(), reports);
    }
}
