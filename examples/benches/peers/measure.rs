//! Timing: threads that call one breaker until the time is up.

use std::{
    hint::black_box,
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use breaker_core::{Clock as _, MonotonicClock, Timestamp};

use crate::others;

/// Calls between two looks at whether the time is up.
const CHUNK: u32 = 100;

/// One crate's breaker, as it is measured.
pub trait Subject: Sized + Sync {
    const NAME: &'static str;
    const OURS: bool = false;
    /// What a thread calls it by.
    type Handle: Send;

    /// Closed; it never leaves the open state once it is there.
    fn build() -> Self;
    fn handle(&self) -> Self::Handle;
    /// A guarded call that succeeds or fails. Says whether it was admitted.
    fn call(handle: &mut Self::Handle, fails: bool) -> bool;
}

/// What happens to the calls, and from how many threads they come.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    pub kind: Kind,
    pub threads: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Successes,
    /// One call in so many fails.
    Failures(u32),
    Open,
}

impl Scenario {
    const KINDS: [Kind; 5] =
        [Kind::Successes, Kind::Failures(1_000), Kind::Failures(100), Kind::Failures(10), Kind::Open];

    pub fn all() -> impl Iterator<Item = Self> {
        Self::KINDS.into_iter().flat_map(|kind| [1, 2, 4, 8].map(|threads| Self { kind, threads }))
    }
}

/// Subjects that are compared with each other.
pub type Group = Vec<Box<dyn Measured>>;

/// A [`Subject`], whatever it is.
pub trait Measured {
    fn name(&self) -> &'static str;
    fn is_ours(&self) -> bool;
    /// Nanoseconds for each call: the time that passed over the calls of all threads.
    fn round(&self, scenario: Scenario, span: Duration) -> f64;
}

struct Of<S>(std::marker::PhantomData<S>);

pub fn of<S: Subject + 'static>() -> Box<dyn Measured> {
    Box::new(Of::<S>(std::marker::PhantomData))
}

/// The medians of all subjects of `group`.
pub fn row(group: &Group, scenario: Scenario, rounds: u64, span: Duration) -> Vec<f64> {
    let mut samples = vec![Vec::new(); group.len()];
    for _ in 0..rounds {
        for (subject, samples) in group.iter().zip(&mut samples) {
            samples.push(subject.round(scenario, span));
        }
    }
    samples.into_iter().map(median).collect()
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

impl<S: Subject> Measured for Of<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn is_ours(&self) -> bool {
        S::OURS
    }

    fn round(&self, scenario: Scenario, span: Duration) -> f64 {
        let (context, subject) = (others::handle(), S::build());
        let _inside = context.enter();
        let mut handle = subject.handle();
        match scenario.kind {
            Kind::Open => {
                assert!((0..100_000).any(|_| !S::call(&mut handle, true)), "{} never opened", S::NAME)
            }
            // Whatever is different about a young breaker is over.
            _ => drop(Calls::none_fails().make::<S>(&mut handle, 300)),
        }
        let (clock, start, stop) =
            (MonotonicClock::new(), Barrier::new(scenario.threads + 1), AtomicBool::new(false));
        let spans = thread::scope(|scope| {
            let worker = |number| {
                let mut handle = subject.handle();
                let (clock, start, stop) = (&clock, &start, &stop);
                scope.spawn(move || {
                    let context = others::handle();
                    let _inside = context.enter();
                    pin(number);
                    let mut calls = Calls::of(scenario.kind);
                    start.wait();
                    let (from, mut made) = (clock.now(), 0_u64);
                    loop {
                        let admitted = calls.make::<S>(&mut handle, CHUNK);
                        let expected = if scenario.kind == Kind::Open { 0 } else { CHUNK };
                        assert_eq!(admitted, expected, "{}: {scenario:?}", S::NAME);
                        made += u64::from(CHUNK);
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                    (from, clock.now(), made)
                })
            };
            let workers: Vec<_> = (0..scenario.threads).map(worker).collect();
            start.wait();
            wait(&clock, span);
            stop.store(true, Ordering::Relaxed);
            workers.into_iter().map(|worker| worker.join().expect("it ran to its end")).collect::<Vec<_>>()
        });
        let from = spans.iter().map(|(from, ..)| *from).min().unwrap_or(Timestamp::ZERO);
        let to = spans.iter().map(|(_, to, _)| *to).max().unwrap_or(Timestamp::ZERO);
        let made: u64 = spans.iter().map(|(.., made)| made).sum();
        to.since(from).as_secs_f64() * 1e9 / made as f64
    }
}

/// Sleeps, however often it is woken.
fn wait(clock: &MonotonicClock, span: Duration) {
    let until = clock.now() + span;
    while clock.now() < until {
        thread::park_timeout(until.since(clock.now()));
    }
}

/// Keeps the thread on one core, so that two threads meet in the breaker and don't take turns on one core.
fn pin(number: usize) {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

        let Ok(allowed) = sched_getaffinity(None) else { return };
        let cores: Vec<_> = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect();
        let Some(core) = cores.get(number % cores.len().max(1)) else { return };
        let mut own = CpuSet::new();
        own.set(*core);
        // Where it may not, it is measured as it is.
        let _ = sched_setaffinity(None, &own);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = number;
}

/// Calls, one in `every` of which fails, or none when that is 0.
struct Calls {
    every: u32,
    next: u32,
}

impl Calls {
    const fn none_fails() -> Self {
        Self { every: 0, next: 0 }
    }

    const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Successes | Kind::Open => Self::none_fails(),
            Kind::Failures(every) => Self { every, next: every },
        }
    }

    /// Says how many were admitted.
    #[inline(never)]
    fn make<S: Subject>(&mut self, handle: &mut S::Handle, count: u32) -> u32 {
        let (mut admitted, mut next) = (0, self.next);
        for _ in 0..count {
            let fails = next == 1;
            next = if next <= 1 { self.every } else { next - 1 };
            admitted += u32::from(black_box(S::call(handle, black_box(fails))));
        }
        self.next = next;
        admitted
    }
}
