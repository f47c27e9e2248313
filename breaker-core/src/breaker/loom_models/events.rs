//! Events: each once, in order, by one teller at a time, and none left untold.

use std::sync::{Arc, Mutex, OnceLock, Weak};

use loom::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    thread,
};

use super::kit::{Bench, DELAY, Rules, explore, explore_bounded};
use crate::{Breaker, Event, ManualClock, Outcome};

/// A breaker whose observer checks that it is alone, and takes a step in which others may run.
struct Scene {
    breaker: Arc<Breaker>,
    clock: Arc<ManualClock>,
    told: Arc<Mutex<Vec<u64>>>,
}

impl Scene {
    fn new(also: impl Fn(&Breaker, &Event) + Send + Sync + 'static) -> Self {
        let (clock, told) = (Arc::new(ManualClock::default()), Arc::new(Mutex::new(Vec::new())));
        let myself: Arc<OnceLock<Weak<Breaker>>> = Arc::default();
        let (busy, log, weak) = (AtomicBool::new(false), Arc::clone(&told), Arc::clone(&myself));
        let observer = move |event: &Event| {
            assert!(!busy.swap(true, SeqCst), "one at a time");
            log.lock().unwrap().push(event.epoch);
            if let Some(breaker) = weak.get().and_then(Weak::upgrade) {
                also(&breaker, event);
            }
            busy.store(false, SeqCst);
        };
        let builder = Bench::builder(Rules::default(), Arc::clone(&clock) as _);
        let breaker = Arc::new(builder.observer(Arc::new(observer)).build().unwrap());
        myself.set(Arc::downgrade(&breaker)).unwrap();
        Self { breaker, clock, told }
    }

    fn told_all(&self) {
        let wanted: Vec<u64> = (2..=self.breaker.epoch()).collect();
        assert_eq!(*self.told.lock().unwrap(), wanted);
    }
}

#[test]
fn what_two_threads_cause_is_told_by_one_of_them() {
    explore(|| {
        let scene = Scene::new(|_, _| {});
        let breaker = scene.breaker.clone();
        let other = thread::spawn(move || breaker.force_open());
        if let Ok(permit) = scene.breaker.acquire() {
            permit.settle(Outcome::Failure);
        }
        other.join().unwrap();
        scene.told_all();
    });
}

#[test]
fn an_event_that_comes_as_the_teller_ends_is_told() {
    explore(|| {
        let scene = Scene::new(|_, _| {});
        let (one, two) = (scene.breaker.clone(), scene.breaker.clone());
        let one = thread::spawn(move || one.reset());
        let two = thread::spawn(move || two.reset());
        one.join().unwrap();
        two.join().unwrap();
        assert_eq!(scene.breaker.epoch(), 3);
        scene.told_all();
    });
}

#[test]
fn an_observer_that_uses_the_breaker_hears_of_what_it_did_in_its_turn() {
    explore(|| {
        // A trip is answered with a reset: the circuit is closed again before anyone hears of it.
        let scene = Scene::new(|breaker, event| {
            if event.epoch == 2 {
                breaker.reset();
            }
        });
        let breaker = scene.breaker.clone();
        let other = thread::spawn(move || breaker.acquire().map(|permit| permit.settle(Outcome::Failure)));
        if let Ok(permit) = scene.breaker.acquire() {
            permit.settle(Outcome::Failure);
        }
        let _ = other.join().unwrap();
        assert!(scene.breaker.epoch() >= 3);
        scene.told_all();
    });
}

#[test]
fn a_half_open_circuit_that_trips_and_recovers_tells_a_consistent_story() {
    explore_bounded(4, || {
        let scene = Scene::new(|_, _| {});
        scene.breaker.acquire().unwrap().settle(Outcome::Failure);
        scene.clock.advance(DELAY);
        let breaker = scene.breaker.clone();
        let other = thread::spawn(move || breaker.acquire().map(|permit| permit.settle(Outcome::Success)));
        let _ = scene.breaker.acquire().map(|permit| permit.settle(Outcome::Failure));
        let _ = other.join().unwrap();
        scene.told_all();
    });
}
