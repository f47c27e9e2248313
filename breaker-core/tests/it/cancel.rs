//! Futures of the breaker, dropped at each point at which they can wait: no place is lost, and whoever waits for one is
//! woken.

use std::{
    convert::Infallible,
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use breaker_core::{Breaker, Circuit, ManualClock, Outcome, Settlement};

use crate::places::{DELAY, Places};

const PLACES: usize = 2;
/// How often a call waits before it ends.
const WAITS: u32 = 3;
/// From when on a dropped call is a failure.
const LIMIT: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// A future that somebody waits for, and how often it was woken.
struct Waiter<'a> {
    future: Pin<Box<dyn Future<Output = ()> + 'a>>,
    woken: Arc<Woken>,
}

impl<'a> Waiter<'a> {
    fn new(future: impl Future<Output = ()> + 'a) -> Self {
        Self { future: Box::pin(future), woken: Arc::default() }
    }

    fn is_ready(&mut self) -> bool {
        let waker = Waker::from(Arc::clone(&self.woken));
        self.future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
    }

    fn was_woken(&self) -> bool {
        self.woken.0.swap(0, SeqCst) > 0
    }
}

/// A circuit that is half-open with two places.
fn half_open() -> (Breaker, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::default());
    let places = Places { places: PLACES as u32, successes: 5, tells_full: true };
    let breaker = Breaker::builder(places)
        .clock(Arc::clone(&clock) as _)
        .abandoned_call_is_failure_after(LIMIT)
        .build()
        .unwrap();
    breaker.acquire().unwrap().settle(Outcome::Failure);
    clock.advance(DELAY);
    assert_eq!(breaker.state().circuit(), Circuit::HalfOpen);
    (breaker, clock)
}

fn free_places(breaker: &Breaker) -> usize {
    let out: Vec<_> = std::iter::from_fn(|| breaker.acquire().ok()).take(10).collect();
    out.len()
}

/// A call that waits so often, and then brings `result`.
fn body(result: Result<(), ()>) -> impl Future<Output = Result<(), ()>> {
    let mut waits = 0;
    poll_fn(move |_| {
        waits += 1;
        if waits > WAITS { Poll::Ready(result) } else { Poll::Pending }
    })
}

#[test]
fn a_call_dropped_at_any_point_gives_its_place_back_and_wakes_who_waits_for_it() {
    let ok = |result: &Result<(), ()>| if result.is_ok() { Outcome::Success } else { Outcome::Failure };
    for with in [false, true] {
        for polls in 0..=WAITS {
            let (breaker, _) = half_open();
            let mut call: Pin<Box<dyn Future<Output = ()>>> = match with {
                false => Box::pin(async { breaker.call(body(Ok(()))).await.unwrap() }),
                true => Box::pin(async { breaker.call_with(&ok, body(Ok(()))).await.unwrap() }),
            };
            for _ in 0..polls {
                assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            }
            let other = breaker.acquire().unwrap();
            let mut waiter = Waiter::new(async { breaker.ready(|_| std::future::pending()).await });
            assert_eq!(waiter.is_ready(), polls == 0, "the call has its place from its first poll on");
            drop(call);
            if polls > 0 {
                assert!(waiter.was_woken() && waiter.is_ready(), "after {polls} polls");
            }
            drop(other);
            assert_eq!(free_places(&breaker), PLACES, "after {polls} polls");
            assert_eq!(breaker.snapshot().tally.calls, 0);
        }
    }
}

#[test]
fn a_call_dropped_late_at_any_point_is_a_failure_and_wakes_who_waits() {
    for polls in 1..=WAITS {
        let (breaker, clock) = half_open();
        let mut call = Box::pin(breaker.call(body(Ok(()))));
        for _ in 0..polls {
            assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        let mut changed = Waiter::new(breaker.changed());
        clock.advance(LIMIT);
        assert!(!changed.is_ready());
        drop(call);
        assert_eq!(breaker.state().circuit(), Circuit::Open);
        assert!(changed.was_woken() && changed.is_ready());
        clock.advance(DELAY);
        assert_eq!(free_places(&breaker), PLACES, "a new epoch has all of its places");
    }
}

#[test]
fn whoever_waits_and_leaves_does_not_take_the_wake_of_another() {
    for polls in 0..=2 {
        for woken_before in [false, true] {
            let (breaker, _) = half_open();
            let permits: Vec<_> = (0..PLACES).map(|_| breaker.acquire().unwrap()).collect();
            let mut leaves = Waiter::new(async { breaker.ready(|_| std::future::pending()).await });
            let mut stays = Waiter::new(async { breaker.ready(|_| std::future::pending()).await });
            for _ in 0..polls {
                assert!(!leaves.is_ready());
            }
            assert!(!stays.is_ready());
            let mut permits = permits.into_iter();
            if woken_before {
                // It has been told of the place, and leaves without having looked.
                drop(permits.next());
                drop(leaves);
            } else {
                drop(leaves);
                drop(permits.next());
            }
            assert!(stays.was_woken() && stays.is_ready(), "{polls} polls, {woken_before}");
        }
    }
}

/// Waiting for a delay and waiting for a change end together: whichever was not needed leaves nothing behind.
#[test]
fn waiting_for_a_delay_can_be_dropped_and_begun_again() {
    let (breaker, clock) = half_open();
    breaker.acquire().unwrap().settle(Outcome::Failure);
    for polls in 0..3 {
        let mut waiter = Waiter::new(async { breaker.ready(|_| std::future::pending()).await });
        for _ in 0..polls {
            assert!(!waiter.is_ready());
        }
    }
    let mut waiter = Waiter::new(async { breaker.ready(|_| std::future::ready(())).await });
    clock.advance(DELAY);
    assert!(waiter.is_ready());
    assert_eq!(free_places(&breaker), PLACES);
}

#[test]
fn a_probe_that_is_dropped_takes_nothing_away_and_no_lock_is_held() {
    let (breaker, _) = half_open();
    assert!(breaker.begin_probe().is_none(), "it wants none");
    let permit = breaker.acquire().unwrap();
    let call = breaker.call(async { Ok::<_, Infallible>(()) });
    drop(call);
    assert_eq!(permit.settle(Outcome::Success), Settlement::Counted);
    assert_eq!(free_places(&breaker), PLACES);
}
