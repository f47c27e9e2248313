use std::{
    collections::HashMap,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use breaker_core::{
    Breaker, Circuit, Event, EventKind, ManualClock, Outcome, OwnedPermit, RejectionReason, Settlement,
};

use crate::places::{DELAY, Places};

const THREADS: usize = 8;
const CALLS: usize = 500;

/// Rejections in a row after which there is no hope.
const PATIENCE: u32 = 2_000_000;

/// A breaker, its clock, and every change of state that it told of.
struct Scene {
    breaker: Arc<Breaker>,
    clock: Arc<ManualClock>,
    transitions: Arc<Mutex<Vec<(Circuit, Circuit)>>>,
}

impl Scene {
    fn new(places: Places) -> Self {
        let (clock, transitions) = (Arc::new(ManualClock::default()), Arc::new(Mutex::new(Vec::new())));
        let heard = Arc::clone(&transitions);
        let observer = move |event: &Event| {
            if let EventKind::Transition { from, to, .. } = event.kind {
                heard.lock().unwrap().push((from, to));
            }
        };
        let breaker = Breaker::builder(places)
            .clock(Arc::clone(&clock) as _)
            .observer(Arc::new(observer))
            .build()
            .unwrap();
        Self { breaker: Arc::new(breaker), clock, transitions }
    }

    /// Open, with a delay that has just passed: half-open as soon as somebody comes.
    fn due(places: Places) -> Self {
        let scene = Self::new(places);
        scene.breaker.acquire().unwrap().settle(Outcome::Failure);
        scene.clock.advance(DELAY);
        scene
    }

    fn acquire(&self) -> Option<OwnedPermit> {
        self.breaker.acquire_owned().ok()
    }

    fn transitions(&self) -> Vec<(Circuit, Circuit)> {
        self.transitions.lock().unwrap().clone()
    }
}

/// Half-open with so many places until somebody fails, both with a strategy that tells when they are taken and with
/// one that must be asked.
fn trials(places: u32) -> [Scene; 2] {
    [true, false].map(|tells_full| Scene::due(Places { places, successes: u32::MAX, tells_full }))
}

/// Runs `work` on every thread at once, and gives what each of them brought.
fn at_once<T: Send>(work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        let run = |number| {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(number)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

const CLOSED_OPEN: (Circuit, Circuit) = (Circuit::Closed, Circuit::Open);
const OPEN_HALF_OPEN: (Circuit, Circuit) = (Circuit::Open, Circuit::HalfOpen);
const HALF_OPEN_CLOSED: (Circuit, Circuit) = (Circuit::HalfOpen, Circuit::Closed);
const HALF_OPEN_OPEN: (Circuit, Circuit) = (Circuit::HalfOpen, Circuit::Open);

#[test]
fn never_more_calls_are_in_flight_than_there_are_places() {
    for (places, scene) in [1, 3].into_iter().flat_map(|places| trials(places).map(|scene| (places, scene))) {
        let (in_flight, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let admitted = at_once(|number| {
            // Half of the threads gives places back in one way, half in another.
            let outcome = if number % 2 == 0 { Outcome::Success } else { Outcome::Ignored };
            let (mut admitted, mut rejected) = (0, 0);
            while admitted < CALLS {
                let Some(permit) = scene.acquire() else {
                    rejected += 1;
                    assert!(rejected < PATIENCE, "places were lost");
                    thread::yield_now();
                    continue;
                };
                rejected = 0;
                let now = in_flight.fetch_add(1, SeqCst) + 1;
                most.fetch_max(now, SeqCst);
                if admitted % 16 == 0 {
                    thread::yield_now();
                }
                in_flight.fetch_sub(1, SeqCst);
                assert_eq!(permit.settle(outcome), Settlement::Counted);
                admitted += 1;
            }
            admitted
        });
        assert_eq!(admitted.iter().sum::<usize>(), THREADS * CALLS, "every call got its turn");
        assert!((1..=places as usize).contains(&most.into_inner()), "{places} places");
        assert_eq!(scene.transitions(), [CLOSED_OPEN, OPEN_HALF_OPEN]);
    }
}

#[test]
fn exactly_as_many_calls_are_admitted_as_there_are_places() {
    let rounds = [1, 1, 2, 3, 5, 64].repeat(8);
    for (places, scene) in rounds.into_iter().flat_map(|places| trials(places).map(|scene| (places, scene))) {
        for outcome in [Outcome::Cancelled, Outcome::Success, Outcome::Ignored] {
            let permits = at_once(|_| (0..CALLS).filter_map(|_| scene.acquire()).collect::<Vec<_>>());
            let permits: Vec<_> = permits.into_iter().flatten().collect();
            assert_eq!(permits.len(), places as usize);
            let rejection = scene.breaker.acquire().unwrap_err();
            assert_eq!((rejection.reason, rejection.retry_at), (RejectionReason::NoPlace, None));
            let counted = permits.into_iter().map(|permit| permit.settle(outcome));
            assert!(counted.into_iter().all(|settled| settled == Settlement::Counted));
        }
        assert_eq!(scene.transitions(), [CLOSED_OPEN, OPEN_HALF_OPEN], "committed once, whoever came first");
    }
}

#[test]
fn dropped_permits_give_their_places_back() {
    let scene = Scene::due(Places { places: 2, successes: u32::MAX, tells_full: true });
    let admitted: usize = at_once(|_| (0..CALLS).filter(|_| scene.acquire().is_some()).count()).iter().sum();
    assert!(admitted >= 2);
    let again: Vec<_> = std::iter::from_fn(|| scene.acquire()).collect();
    assert_eq!(again.len(), 2, "no place was lost, and none was won");
}

#[test]
fn of_many_failures_at_once_one_opens_the_circuit() {
    for _ in 0..50 {
        let scene = Scene::new(Places { places: 1, successes: 1, tells_full: true });
        let permits: Vec<_> = (0..THREADS).map(|_| Mutex::new(scene.acquire())).collect();
        let settled = at_once(|number| {
            let permit = permits[number].lock().unwrap().take().unwrap();
            permit.settle(Outcome::Failure)
        });
        let counted = settled.iter().filter(|settled| **settled == Settlement::Counted).count();
        assert_eq!((counted, scene.breaker.snapshot().stale), (1, THREADS as u64 - 1));
        assert_eq!(scene.transitions(), [CLOSED_OPEN]);
    }
}

#[test]
fn results_of_an_older_epoch_give_no_place_back_and_decide_nothing() {
    let scene = Scene::due(Places { places: 4, successes: 2, tells_full: true });
    let mut old: Vec<_> = std::iter::from_fn(|| scene.acquire()).collect();
    assert_eq!(old.len(), 4);
    old.remove(0).settle(Outcome::Failure);
    scene.clock.advance(DELAY);
    let present: Vec<_> = std::iter::from_fn(|| scene.acquire()).collect();
    assert_eq!(present.len(), 4);

    let old: Vec<_> = old.into_iter().map(|permit| Mutex::new(Some(permit))).collect();
    let outcomes = [Outcome::Failure, Outcome::Success, Outcome::Cancelled];
    at_once(|number| {
        if let (Some(permit), Some(outcome)) = (old.get(number), outcomes.get(number)) {
            let permit = permit.lock().unwrap().take().unwrap();
            assert_eq!(permit.settle(*outcome), Settlement::Stale);
        }
        assert!(scene.acquire().is_none());
    });
    assert_eq!(scene.breaker.state().circuit(), Circuit::HalfOpen);
    for permit in present.into_iter().take(2) {
        assert_eq!(permit.settle(Outcome::Success), Settlement::Counted);
    }
    assert_eq!(
        scene.transitions(),
        [CLOSED_OPEN, OPEN_HALF_OPEN, HALF_OPEN_OPEN, OPEN_HALF_OPEN, HALF_OPEN_CLOSED]
    );
}

#[test]
fn whatever_the_threads_do_the_states_follow_each_other_and_results_are_counted_or_stale() {
    let scene = Scene::new(Places { places: 2, successes: 3, tells_full: true });
    let settled = at_once(|number| {
        let mut settled = HashMap::<_, u64>::new();
        for call in 0..CALLS {
            if call % 50 == 0 {
                scene.clock.advance(DELAY);
            }
            let Some(permit) = scene.acquire() else { continue };
            let outcome = if (call + number) % 7 == 0 { Outcome::Failure } else { Outcome::Success };
            *settled.entry(permit.settle(outcome)).or_default() += 1;
        }
        settled
    });
    let stale: u64 = settled.iter().filter_map(|settled| settled.get(&Settlement::Stale)).sum();
    assert_eq!(scene.breaker.snapshot().stale, stale);
    let transitions = scene.transitions();
    assert_eq!(transitions.first(), Some(&CLOSED_OPEN));
    assert!(transitions.windows(2).all(|pair| pair[0].1 == pair[1].0), "{transitions:?}");
    assert_eq!(scene.breaker.epoch(), 1 + transitions.len() as u64, "an epoch for each, told once, in order");
}
