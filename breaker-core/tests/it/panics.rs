//! Code that is not the breaker's panics in the middle of its work. The breaker goes on, and nothing is lost.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use breaker_core::{
    Attendant, Breaker, Change, Circuit, Event, Now, Outcome, Report, Settlement, State, Strategy, Tick,
    Timestamp,
    config::{NonResilient, StrategyConfig, Violations},
};
use serde::Serialize;
use tracing::{Metadata, Subscriber, span};

/// Opens at the first failure, for good, and panics when it is asked why for the first time.
#[derive(Clone, Debug, Serialize)]
struct Shy;

#[derive(Debug)]
struct Machine {
    state: State,
    asked: AtomicBool,
}

impl StrategyConfig for Shy {
    const NAME: &'static str = "SHY";
    type Keys = NonResilient;

    fn from_keys(_: NonResilient) -> Result<Self, Violations> {
        Ok(Self)
    }

    fn build(&self, _: Timestamp) -> Box<dyn Strategy> {
        Box::new(Machine { state: State::Closed, asked: AtomicBool::new(false) })
    }
}

impl Strategy for Machine {
    fn state(&self) -> State {
        self.state
    }

    fn tick(&mut self, _: &Now<'_>) -> Tick {
        Tick::SameEpoch
    }

    fn admit(&mut self, _: &Now<'_>) -> bool {
        true
    }

    fn settle(&mut self, report: &Report, _: &Now<'_>) {
        if report.outcome == Outcome::Failure {
            self.state = State::Open { until: None };
        }
    }

    fn change(&self) -> Change {
        assert!(self.asked.swap(true, SeqCst), "why?");
        Change::default()
    }
}

fn epochs() -> (Arc<Mutex<Vec<u64>>>, Arc<dyn breaker_core::Observer>) {
    let told = Arc::<Mutex<Vec<u64>>>::default();
    let log = Arc::clone(&told);
    (told, Arc::new(move |event: &Event| log.lock().unwrap().push(event.epoch)))
}

#[test]
fn a_change_of_state_that_a_panic_kept_from_being_told_is_told_by_the_next_operation() {
    let (told, observer) = epochs();
    let breaker = Breaker::builder(Shy).observer(observer).probed().build().unwrap();
    let (first, late) = (breaker.acquire().unwrap(), breaker.acquire().unwrap());
    assert!(catch_unwind(AssertUnwindSafe(|| first.settle(Outcome::Failure))).is_err());
    // The next one commits it, and from then on what was admitted before is of an older epoch.
    breaker.acquire().unwrap().settle(Outcome::Failure);
    assert_eq!(late.settle(Outcome::Success), Settlement::Stale);
    assert_eq!((breaker.state().circuit(), breaker.epoch()), (Circuit::Open, 2));
    assert_eq!(*told.lock().unwrap(), [2]);
}

/// A log that panics at its first event.
#[derive(Default)]
struct Log(AtomicBool);

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        assert!(self.0.swap(true, SeqCst), "the disk is full");
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[test]
fn a_log_that_panics_does_not_silence_the_events_after_it() {
    let (told, observer) = epochs();
    let breaker = Breaker::builder(NonResilient {}).observer(observer).build().unwrap();
    // While there is one log alone, whether anything is logged is up to the thread that comes first, maybe another test's.
    let _second = tracing::Dispatch::new(Log::default());
    tracing::subscriber::with_default(Log::default(), || {
        assert!(catch_unwind(AssertUnwindSafe(|| breaker.force_open())).is_err());
        breaker.release();
        breaker.disable();
    });
    assert_eq!(*told.lock().unwrap(), [3, 4]);
}

/// What it calls its circuit can't be written down.
struct Speechless;

impl Attendant for Speechless {
    fn circuit_changed(self: Arc<Self>) {}

    fn name(&self) -> Option<Arc<str>> {
        panic!("no words for it")
    }
}

#[test]
fn an_event_whose_circuit_nobody_can_name_is_told_without_a_name() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let note = move |event: &Event| log.lock().unwrap().push((event.epoch, event.name.clone()));
    let breaker = Breaker::builder(NonResilient::default()).observer(Arc::new(note)).build().unwrap();
    let attendant: Arc<dyn Attendant> = Arc::new(Speechless);
    breaker.attend(Arc::downgrade(&attendant));
    breaker.force_open();
    assert_eq!(*seen.lock().unwrap(), [(2, None)]);
}
