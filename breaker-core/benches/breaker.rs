//! What guarding a call costs. The strategy is the smallest that counts: the shipped ones are measured by the
//! `peers` benchmark of the examples, since a dependency on them from here would bring a second copy of this crate.

use std::{
    future::Future,
    hint::black_box,
    num::NonZeroU32,
    pin::pin,
    sync::Arc,
    task::{Context, Waker},
    time::Duration,
};

use breaker_core::{
    Breaker, Now, Outcome, Report, State, Strategy, Tick, Timestamp,
    config::{StrategyConfig, Violations},
    window::{CountWindow, TimeWindow},
};
use divan::{Bencher, counter::ItemsCount};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const THREADS: [usize; 4] = [1, 2, 4, 8];
/// Long enough for threads to meet in it.
const SAMPLE: u32 = 50_000;
/// Of one task.
const CALLS: u32 = 1_000;
const SIZE: NonZeroU32 = NonZeroU32::new(100).unwrap();

fn main() {
    divan::main();
}

/// 50 failures of the last 100 calls open the circuit for an hour.
#[derive(Clone, Debug, Serialize)]
struct HalfOfHundred;

#[derive(Default, Deserialize, JsonSchema)]
struct NoKeys {}

impl StrategyConfig for HalfOfHundred {
    const NAME: &'static str = "HALF_OF_HUNDRED";
    type Keys = NoKeys;

    fn from_keys(_: NoKeys) -> Result<Self, Violations> {
        Ok(Self)
    }

    fn build(&self, _: Timestamp) -> Box<dyn Strategy> {
        Box::new(Machine { window: CountWindow::new(SIZE), state: State::Closed })
    }
}

#[derive(Debug)]
struct Machine {
    window: CountWindow,
    state: State,
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

    fn settle(&mut self, report: &Report, now: &Now<'_>) {
        self.window.record(report.outcome == Outcome::Failure, false);
        if self.window.tally().failures >= 50 {
            self.state = State::Open { until: Some(now.get() + Duration::from_secs(3_600)) };
        }
    }

    fn steady(&self) -> bool {
        self.window.is_steady()
    }
}

/// Closed, with a window full of successes.
fn settled() -> Breaker {
    let breaker = Breaker::builder(HalfOfHundred).build().expect("it needs no probe");
    (0..200).for_each(|_| guard(&breaker, Outcome::Success));
    breaker
}

fn opened() -> Breaker {
    let breaker = settled();
    while let Ok(permit) = breaker.acquire() {
        permit.settle(Outcome::Failure);
    }
    breaker
}

fn guard(breaker: &Breaker, outcome: Outcome) {
    if let Ok(permit) = black_box(breaker).acquire() {
        black_box(permit.settle(black_box(outcome)));
    }
}

#[divan::bench(threads = THREADS, sample_count = 20, sample_size = SAMPLE)]
fn closed(bencher: Bencher<'_, '_>) {
    let breaker = settled();
    bencher.bench(|| guard(&breaker, Outcome::Success));
}

#[divan::bench(threads = THREADS, sample_count = 20, sample_size = SAMPLE)]
fn closed_owned(bencher: Bencher<'_, '_>) {
    let breaker = Arc::new(settled());
    bencher.bench(|| black_box(breaker.acquire_owned()).map(|permit| permit.settle(Outcome::Success)));
}

/// Ten calls, one of which fails.
#[divan::bench(threads = THREADS, sample_count = 20, sample_size = SAMPLE)]
fn failures(bencher: Bencher<'_, '_>) {
    let breaker = settled();
    bencher.counter(ItemsCount::new(10_u32)).bench(|| {
        guard(&breaker, Outcome::Failure);
        (0..9).for_each(|_| guard(&breaker, Outcome::Success));
    });
}

#[divan::bench(threads = THREADS, sample_count = 20, sample_size = SAMPLE)]
fn open(bencher: Bencher<'_, '_>) {
    let breaker = opened();
    bencher.bench(|| black_box(&breaker).acquire().is_err());
}

async fn ready() -> Result<u32, ()> {
    Ok(black_box(7))
}

/// A task that awaits one call after another, all ready at once.
async fn task<F: Future>(call: impl Fn() -> F) {
    for _ in 0..CALLS {
        black_box(call().await);
    }
}

fn poll_once(future: impl Future<Output = ()>) -> bool {
    pin!(future).poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

#[divan::bench]
fn future_bare(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(CALLS)).bench(|| poll_once(task(ready)));
}

#[divan::bench]
fn future_guarded(bencher: Bencher<'_, '_>) {
    let breaker = settled();
    let call = || black_box(&breaker).call(ready());
    bencher.counter(ItemsCount::new(CALLS)).bench(|| poll_once(task(call)));
}

/// One result in, the counts out; one in ten fails.
#[divan::bench]
fn count_window(bencher: Bencher<'_, '_>) {
    let (mut window, mut turn) = (CountWindow::new(SIZE), 0_u32);
    bencher.bench_local(|| {
        turn = turn.wrapping_add(1);
        window.record(turn % 10 == 0, false);
        black_box(&window).tally()
    });
}

/// The same over 100 seconds; a thousand calls a second.
#[divan::bench]
fn time_window(bencher: Bencher<'_, '_>) {
    let (mut window, mut now) = (TimeWindow::new(SIZE), Timestamp::ZERO);
    bencher.bench_local(|| {
        now = now + Duration::from_millis(1);
        window.record(now.as_nanos() % 10_000_000 == 0, false, now);
        black_box(&window).tally(now)
    });
}
