//! What the models share: a small strategy, a breaker of it, and the count of interleavings.

use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake},
    thread,
    time::Duration,
};

use loom::{model::Builder, sync::atomic::AtomicU64};
use serde::Serialize;

use crate::{
    Breaker, BreakerBuilder, Change, Circuit, Clock, Event, EventKind, Evidence, ManualClock, Now, Outcome,
    Report, State, Strategy, Tally, Tick, Timestamp,
    config::{NonResilient, StrategyConfig, Violations},
    window::CountWindow,
};

pub(super) const DELAY: Duration = Duration::from_secs(10);
pub(super) const LEASE: Duration = Duration::from_secs(60);

/// Explores every interleaving of `model`, and prints how many there were.
pub(super) fn explore(model: impl Fn() + Send + Sync + 'static) {
    explored(Builder::new(), "", model);
}

/// Explores the interleavings of `model` in which threads are preempted at most so often.
pub(super) fn explore_bounded(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    explored(builder, &format!(" of at most {preemptions} preemptions"), model);
}

fn explored(mut builder: Builder, bound: &str, model: impl Fn() + Send + Sync + 'static) {
    builder.max_branches = 10_000;
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let name = thread::current().name().unwrap_or_default().to_owned();
    println!("{name}: {} interleavings{bound}", count.load(Ordering::Relaxed));
}

/// `failures` of the last `window` calls open; half-open after [`DELAY`] with so many `places` in flight and a
/// [`LEASE`]; so many `successes` close.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Rules {
    pub(super) failures: u32,
    pub(super) window: u32,
    pub(super) places: u32,
    pub(super) successes: u32,
}

impl Default for Rules {
    fn default() -> Self {
        Self { failures: 1, window: 1, places: 1, successes: 1 }
    }
}

impl StrategyConfig for Rules {
    const NAME: &'static str = "LOOM";
    type Keys = NonResilient;

    fn from_keys(_: NonResilient) -> Result<Self, Violations> {
        Ok(Self::default())
    }

    fn build(&self, _: Timestamp) -> Box<dyn Strategy> {
        let window = CountWindow::new(self.window.try_into().unwrap());
        Box::new(Machine { rules: self.clone(), state: State::Closed, window, out: 0, successes: 0 })
    }
}

#[derive(Debug)]
struct Machine {
    rules: Rules,
    state: State,
    window: CountWindow,
    out: u32,
    successes: u32,
}

impl Machine {
    fn enter(&mut self, state: State) {
        (self.state, self.out, self.successes) = (state, 0, 0);
        self.window.clear();
    }

    fn open(&mut self, at: Timestamp) {
        self.enter(State::Open { until: Some(at + DELAY) });
    }

    fn half_open(&mut self, last_news: Timestamp) {
        self.state = State::HalfOpen { until: self.full().then(|| last_news + LEASE) };
    }
}

impl Strategy for Machine {
    fn state(&self) -> State {
        self.state
    }

    fn state_at(&self, now: Timestamp) -> State {
        match self.state.until() {
            Some(until) if now >= until => State::HalfOpen { until: None },
            _ => self.state,
        }
    }

    fn tick(&mut self, now: &Now<'_>) -> Tick {
        if self.state.until().is_none_or(|until| now.get() < until) {
            return Tick::SameEpoch;
        }
        let lease = self.state.circuit() == Circuit::HalfOpen;
        self.enter(State::HalfOpen { until: None });
        if lease { Tick::NewEpoch } else { Tick::SameEpoch }
    }

    fn admit(&mut self, now: &Now<'_>) -> bool {
        let free = !self.full();
        if free {
            self.out += 1;
            self.half_open(now.get());
        }
        free
    }

    fn settle(&mut self, report: &Report, now: &Now<'_>) {
        let closed = self.state == State::Closed;
        match report.outcome {
            Outcome::Success | Outcome::Failure if closed => {
                self.window.record(report.outcome == Outcome::Failure, false);
                if self.window.tally().failures >= self.rules.failures {
                    self.open(now.get());
                }
            }
            Outcome::Failure => self.open(now.get()),
            outcome if !closed => {
                self.out -= 1;
                self.successes += u32::from(outcome == Outcome::Success);
                self.half_open(now.get());
                if self.successes >= self.rules.successes {
                    self.enter(State::Closed);
                }
            }
            _ => {}
        }
    }

    fn full(&self) -> bool {
        self.out >= self.rules.places
    }

    fn steady(&self) -> bool {
        self.window.is_steady()
    }

    fn change(&self) -> Change {
        Change::default()
    }

    fn tally(&self, _: Timestamp) -> Tally {
        self.window.tally()
    }

    fn adopt(&mut self, evidence: &Evidence, now: Timestamp) {
        match evidence.circuit {
            Circuit::Closed => self.window.adopt(&evidence.samples),
            Circuit::Open => self.open(now),
            Circuit::HalfOpen => self.enter(State::HalfOpen { until: None }),
        }
    }

    fn evidence(&self, now: Timestamp) -> Evidence {
        let samples = self.window.samples();
        Evidence { circuit: self.state_at(now).circuit(), samples, ..Evidence::default() }
    }
}

/// A breaker, the hands of its clock, and what it told.
pub(super) struct Bench {
    pub(super) breaker: Arc<Breaker>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) told: Arc<Mutex<Vec<Event>>>,
}

impl Bench {
    pub(super) fn new(rules: Rules) -> Self {
        let (clock, told) = (Arc::new(ManualClock::default()), Arc::new(Mutex::new(Vec::new())));
        let log = Arc::clone(&told);
        let breaker = Self::builder(rules, Arc::clone(&clock) as _)
            .observer(Arc::new(move |event: &Event| log.lock().unwrap().push(event.clone())));
        Self { breaker: Arc::new(breaker.build().unwrap()), clock, told }
    }

    pub(super) fn builder(rules: Rules, clock: Arc<dyn Clock>) -> BreakerBuilder {
        Breaker::builder(rules).clock(clock)
    }

    /// Open, with a delay that has just passed: half-open as soon as somebody comes.
    pub(super) fn due(rules: Rules) -> Self {
        let bench = Self::new(rules);
        bench.call(Outcome::Failure);
        bench.clock.advance(DELAY);
        bench
    }

    pub(super) fn call(&self, outcome: Outcome) {
        self.breaker.acquire().unwrap().settle(outcome);
    }

    pub(super) fn circuit(&self) -> Circuit {
        self.breaker.state().circuit()
    }

    pub(super) fn transitions(&self) -> Vec<(Circuit, Circuit)> {
        let transition = |event: &Event| match event.kind {
            EventKind::Transition { from, to, .. } => Some((from, to)),
            _ => None,
        };
        self.told.lock().unwrap().iter().filter_map(transition).collect()
    }

    /// Every event was told, once, in order: each began an epoch of its own.
    pub(super) fn told_all(&self) {
        let epochs: Vec<u64> = self.told.lock().unwrap().iter().map(|event| event.epoch).collect();
        let wanted: Vec<u64> = (2..=self.breaker.epoch()).collect();
        assert_eq!(epochs, wanted);
    }
}

/// Waits for `future`, parked while it is pending. Loom's own one wakes up without a reason now and then, which a breaker
/// must bear, but which multiplies the interleavings.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(loom::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(loom::thread::current())).into();
    let (mut context, mut future) = (Context::from_waker(&waker), pin!(future));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        loom::thread::park();
    }
}

/// A clock whose hands move while others read them: every reading is a step that loom may put anywhere. Relaxed, since
/// a clock orders nothing but itself; a read-modify-write, since time never goes back.
#[derive(Debug)]
pub(super) struct LoomClock(AtomicU64);

impl LoomClock {
    pub(super) fn at(at: Timestamp) -> Self {
        Self(AtomicU64::new(at.as_nanos()))
    }

    pub(super) fn advance(&self, span: Duration) {
        self.0.fetch_add(span.as_nanos() as u64, loom::sync::atomic::Ordering::Relaxed);
    }
}

impl Clock for LoomClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(self.0.fetch_add(0, loom::sync::atomic::Ordering::Relaxed))
    }
}
