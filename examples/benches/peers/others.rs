//! Other crates' breakers, set up as nearly alike as they can be.

use std::{
    future::{Future, Ready, poll_fn, ready},
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use failsafe::{CircuitBreaker as _, backoff, failure_policy, failure_policy::FailurePolicy as _};
use tokio::runtime::{Builder, Handle, Runtime};
use tower_resilience_circuitbreaker::{
    CircuitBreaker, CircuitBreakerError, CircuitBreakerLayer, DefaultClassifier, SlidingWindowType,
};
use tower_service::Service;

use crate::{measure::Subject, ours::work};

const HOUR: Duration = Duration::from_secs(3_600);
const WINDOW: Duration = Duration::from_secs(30);

pub struct Recloser(Arc<recloser::Recloser>);

impl Subject for Recloser {
    const NAME: &'static str = "recloser";
    type Handle = Arc<recloser::Recloser>;

    fn build() -> Self {
        let builder = recloser::Recloser::custom().error_rate(0.5).closed_len(100).half_open_len(1);
        Self(Arc::new(builder.open_wait(HOUR).build()))
    }

    fn handle(&self) -> Self::Handle {
        Arc::clone(&self.0)
    }

    #[inline(always)]
    fn call(handle: &mut Self::Handle, fails: bool) -> bool {
        !matches!(handle.call(|| work(fails)), Err(recloser::Error::Rejected))
    }
}

type Machine<P> = failsafe::StateMachine<P, ()>;
type Consecutive = failure_policy::ConsecutiveFailures<backoff::Constant>;
type OverTime = failure_policy::SuccessRateOverTimeWindow<backoff::Constant>;
type Pair = failure_policy::OrElse<OverTime, Consecutive>;

/// It has no count window: 50 failures in a row.
pub struct Failsafe(Machine<Consecutive>);

impl Subject for Failsafe {
    const NAME: &'static str = "failsafe";
    type Handle = Machine<Consecutive>;

    fn build() -> Self {
        let policy = failure_policy::consecutive_failures(50, backoff::constant(HOUR));
        Self(failsafe::Config::new().failure_policy(policy).build())
    }

    fn handle(&self) -> Self::Handle {
        self.0.clone()
    }

    #[inline(always)]
    fn call(handle: &mut Self::Handle, fails: bool) -> bool {
        !matches!(handle.call(|| work(fails)), Err(failsafe::Error::Rejected))
    }
}

/// Its usual pair: a moving average over 30 s, or 50 failures in a row.
pub struct FailsafeTime(Machine<Pair>);

impl Subject for FailsafeTime {
    const NAME: &'static str = "failsafe";
    type Handle = Machine<Pair>;

    fn build() -> Self {
        let pause = backoff::constant(HOUR);
        let policy = failure_policy::success_rate_over_time_window(0.5, 100, WINDOW, pause.clone())
            .or_else(failure_policy::consecutive_failures(50, pause));
        Self(failsafe::Config::new().failure_policy(policy).build())
    }

    fn handle(&self) -> Self::Handle {
        self.0.clone()
    }

    #[inline(always)]
    fn call(handle: &mut Self::Handle, fails: bool) -> bool {
        !matches!(handle.call(|| work(fails)), Err(failsafe::Error::Rejected))
    }
}

/// A service that answers at once.
#[derive(Clone)]
pub struct Work;

impl Service<bool> for Work {
    type Response = u64;
    type Error = ();
    type Future = Ready<Result<u64, ()>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, fails: bool) -> Self::Future {
        ready(work(fails))
    }
}

type Guarded = CircuitBreaker<Work, DefaultClassifier>;

async fn guard(service: &mut Guarded, fails: bool) -> bool {
    if poll_fn(|cx| service.poll_ready(cx)).await.is_err() {
        return false;
    }
    !matches!(service.call(fails).await, Err(CircuitBreakerError::OpenCircuit))
}

pub struct Tower(Guarded);

impl Subject for Tower {
    const NAME: &'static str = "tower-resilience";
    type Handle = Guarded;

    fn build() -> Self {
        let builder = CircuitBreakerLayer::builder().failure_rate_threshold(0.5).sliding_window_size(100);
        let layer = builder.minimum_number_of_calls(100).wait_duration_in_open(HOUR).build();
        Self(layer.expect("the settings are valid").layer_fn(Work))
    }

    fn handle(&self) -> Self::Handle {
        self.0.clone()
    }

    #[inline(always)]
    fn call(handle: &mut Self::Handle, fails: bool) -> bool {
        block_on(guard(handle, fails))
    }
}

/// The calls of the last 30 s.
pub struct TowerTime(Guarded);

impl Subject for TowerTime {
    const NAME: &'static str = "tower-resilience";
    type Handle = Guarded;

    fn build() -> Self {
        let builder = CircuitBreakerLayer::builder().failure_rate_threshold(0.5).minimum_number_of_calls(100);
        let builder =
            builder.sliding_window_type(SlidingWindowType::TimeBased).sliding_window_duration(WINDOW);
        let layer = builder.wait_duration_in_open(HOUR).build();
        Self(layer.expect("the settings are valid").layer_fn(Work))
    }

    fn handle(&self) -> Self::Handle {
        self.0.clone()
    }

    #[inline(always)]
    fn call(handle: &mut Self::Handle, fails: bool) -> bool {
        block_on(guard(handle, fails))
    }
}

thread_local! {
    /// Its lock is asynchronous and its timers are tokio's: a call that has to wait does so in a runtime of the thread's own.
    static RUNTIME: Runtime =
        Builder::new_current_thread().enable_time().build().expect("a runtime can be built");
}

/// The context of the thread's runtime, in which timers are made.
pub fn handle() -> Handle {
    RUNTIME.with(|runtime| runtime.handle().clone())
}

/// A call that need not wait takes no detour through the runtime.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => RUNTIME.with(|runtime| runtime.block_on(future)),
    }
}
