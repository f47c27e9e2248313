//! The hot paths, each as a loop of so many calls, for callgrind: `.ci/instructions` counts them.
//!
//! `paths NAME CALLS` runs one of them; without arguments it lists them.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use std::{
    convert::Infallible,
    env,
    future::Future,
    hint::black_box,
    io,
    pin::pin,
    task::{Context, Poll, Waker},
};

use breaker_canary::{CanaryRateThreshold, CanaryRateThresholdKeys, InitialState, SlidingWindowType};
use breaker_core::{Breaker, Outcome, config::Blueprint};
use breaker_static::{StaticThreshold, StaticThresholdKeys};
use replica_pool::{Gateway, GatewayError, ReplicaPool, Verdict};

type Path = (&'static str, fn(u32));

const PATHS: [Path; 16] = [
    ("loop", |n| (0..n).for_each(|i| _ = black_box(i))),
    ("closed", |n| guard(&settled(StaticThreshold::default()), n, 0)),
    ("closed-canary", |n| guard(&settled(canary(InitialState::Closed, SlidingWindowType::CountBased)), n, 0)),
    ("closed-canary-time", |n| {
        guard(&settled(canary(InitialState::Closed, SlidingWindowType::TimeBased)), n, 0)
    }),
    ("failures", |n| guard(&settled(fixed()), n, 10)),
    ("failures-canary", |n| {
        guard(&settled(canary(InitialState::Closed, SlidingWindowType::CountBased)), n, 10)
    }),
    ("failures-canary-time", |n| {
        guard(&settled(canary(InitialState::Closed, SlidingWindowType::TimeBased)), n, 10)
    }),
    ("open-deadline", |n| reject(&opened(), n)),
    ("open", |n| reject(&breaker(canary(InitialState::Open, SlidingWindowType::CountBased)), n)),
    ("async-bare", |n| {
        for _ in 0..n {
            let _ = black_box(poll_once(ready()));
        }
    }),
    ("async", |n| {
        let breaker = settled(StaticThreshold::default());
        for _ in 0..n {
            let _ = black_box(poll_once(breaker.call(ready())));
        }
    }),
    ("pool-pick-4", |n| pick(4, n)),
    ("pool-pick-64", |n| pick(64, n)),
    ("pool-pick-1000", |n| pick(1_000, n)),
    ("pool-call-4", |n| call(4, n)),
    ("pool-call-64", |n| call(64, n)),
];

fn main() {
    let arguments: Vec<_> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [name, calls] = &arguments[..] else {
        PATHS.iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    let (_, path) = PATHS.iter().find(|(known, _)| known == name).expect("the name of a path");
    path(calls.parse().expect("a number of calls"));
}

fn breaker(blueprint: impl Into<Blueprint>) -> Breaker {
    Breaker::builder(blueprint).probed().build().unwrap()
}

/// Closed, with a window full of successes.
fn settled(blueprint: impl Into<Blueprint>) -> Breaker {
    let breaker = breaker(blueprint);
    guard(&breaker, 200, 0);
    breaker
}

fn opened() -> Breaker {
    let breaker = breaker(StaticThreshold::default());
    while let Ok(permit) = breaker.acquire() {
        permit.settle(Outcome::Failure);
    }
    breaker
}

/// 50 failures of the last 100 calls.
fn fixed() -> StaticThreshold {
    let keys = StaticThresholdKeys {
        failure_threshold: Some(50),
        failure_threshold_capacity: Some(100),
        ..StaticThresholdKeys::default()
    };
    keys.try_into().unwrap()
}

/// 50 % of the last 100 calls, or of those of the last minute.
fn canary(state: InitialState, window: SlidingWindowType) -> CanaryRateThreshold {
    let keys = CanaryRateThresholdKeys {
        initial_state: Some(state),
        sliding_window_type: Some(window),
        failure_rate_threshold: Some(50.0),
        ..CanaryRateThresholdKeys::default()
    };
    keys.try_into().unwrap()
}

/// `calls` calls; one in `every` fails, or none when it is 0.
#[inline(never)]
fn guard(breaker: &Breaker, calls: u32, every: u32) {
    let mut next = every;
    for _ in 0..calls {
        let permit = black_box(breaker).acquire().unwrap();
        let outcome = if next == 1 { Outcome::Failure } else { Outcome::Success };
        next = if next <= 1 { every } else { next - 1 };
        black_box(permit.settle(black_box(outcome)));
    }
}

#[inline(never)]
fn reject(breaker: &Breaker, calls: u32) {
    for _ in 0..calls {
        assert!(black_box(breaker).acquire().is_err());
    }
}

async fn ready() -> Result<u64, Infallible> {
    Ok(black_box(7))
}

fn poll_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("it is ready"),
    }
}

struct Numbers(u16);

#[async_trait::async_trait]
impl Gateway<u16> for Numbers {
    async fn addresses(&self, (): &()) -> Result<Vec<u16>, GatewayError> {
        Ok((0..self.0).collect())
    }
}

/// Runs `work` with a pool of the usual settings whose replicas are all known to be well.
fn in_pool<F: Future<Output = ()>>(replicas: u16, work: impl FnOnce(ReplicaPool<u16>) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let pool = ReplicaPool::builder(Numbers(replicas)).build().unwrap();
        pool.ready().await.unwrap();
        for _ in 0..20 {
            for candidate in pool.select(usize::MAX) {
                candidate.begin().unwrap().finish(&Verdict::SUCCESS);
            }
        }
        work(pool).await;
    });
}

#[inline(never)]
fn pick(replicas: u16, calls: u32) {
    in_pool(replicas, |pool| async move {
        for _ in 0..calls {
            black_box(pool.acquire().unwrap().finish(&Verdict::SUCCESS));
        }
    });
}

#[inline(never)]
fn call(replicas: u16, calls: u32) {
    in_pool(replicas, |pool| async move {
        for _ in 0..calls {
            let answer = pool.request().call(|_| async { Ok::<_, io::Error>(black_box(7)) }).await;
            black_box(answer.unwrap());
        }
    });
}
