//! Asking the gateway: one question at a time about one thing, in the background, and not too often.

use std::{
    future::Future,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use breaker_core::{Clock, GrowingDelay, Timestamp};
use futures::FutureExt;
use tokio::{sync::watch, time};

use crate::{GatewayError, diagnostics::RefreshReason, tasks::Tasks};

const GATEWAY_TIMEOUT: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// Something that a gateway can be asked for again and again.
pub(crate) trait Question: Send + Sync + Sized + 'static {
    fn refresher(&self) -> &Refresher;
    fn tasks(&self) -> &Tasks;
    fn clock(&self) -> &dyn Clock;

    /// Asks, and puts the answer in place. Says whether that changed anything.
    fn ask(self: &Arc<Self>) -> impl Future<Output = Result<bool, GatewayError>> + Send;

    /// Starts a question, or joins the one under way; `news` if something failed that it can't know of.
    fn start_refresh(self: &Arc<Self>, reason: RefreshReason, news: bool) -> Request {
        let mut state = self.refresher().lock();
        if state.stopped {
            return Request::Closed;
        }
        state.forced |= reason.is_forced();
        if state.running {
            state.again |= news;
            return Request::Run { number: state.begun, started: false };
        }
        state.running = true;
        state.begun += 1;
        let number = state.begun;
        if self.clock().now() >= state.not_before + state.pause.current() {
            // It has been quiet for long enough: what went before is no reason to wait.
            state.pause.reset();
        }
        drop(state);
        let asking = Asking(Arc::clone(self));
        let started = self.tasks().spawn(async move { run(&asking.0).await });
        if started { Request::Run { number, started } } else { Request::Closed }
    }
}

/// What became of a request for fresh answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// What is known is newer than what the caller saw, or can't change: there is nothing to wait for.
    Served,
    /// The question of this number answers it.
    Run { number: u64, started: bool },
    /// Nobody asks any more: what was asked for is gone.
    Closed,
}

/// How a question ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ended {
    /// The number of the last question that has ended; 0 before the first.
    number: u64,
    /// Why it brought nothing.
    pub(crate) error: Option<GatewayError>,
}

impl Ended {
    /// How all questions end that nobody asks any more.
    pub(crate) const CLOSED: Self = Self { number: u64::MAX, error: Some(GatewayError::NoSuchPartition) };
}

/// When the gateway may be asked, and how that went.
#[derive(Debug)]
pub(crate) struct Refresher {
    state: Mutex<State>,
    ended: watch::Sender<Ended>,
}

#[derive(Debug)]
struct State {
    /// Questions begun so far; the present one's number while running.
    begun: u64,
    running: bool,
    stopped: bool,
    /// Something failed after the present question was asked: ask once more.
    again: bool,
    forced: bool,
    pause: GrowingDelay,
    /// No question before this.
    not_before: Timestamp,
}

impl Refresher {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                begun: 0,
                running: false,
                stopped: false,
                again: false,
                forced: false,
                pause: GrowingDelay::new(FIRST_PAUSE, LONGEST_PAUSE),
                not_before: Timestamp::ZERO,
            }),
            ended: watch::Sender::new(Ended::default()),
        }
    }

    /// Waits until question `number` has ended. Cancel safe.
    pub(crate) async fn wait(&self, number: u64) -> Ended {
        let mut ended = self.ended.subscribe();
        let reached = ended.wait_for(|ended| ended.number >= number).await;
        reached.map(|ended| ended.clone()).unwrap_or(Ended::CLOSED)
    }

    /// Asks no more, and tells so to those who wait.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        self.ended.send_replace(Ended::CLOSED);
    }

    /// Before this, asking again would be too soon.
    pub(crate) fn not_before(&self) -> Timestamp {
        self.lock().not_before
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks until nobody wants to know any more.
async fn run<Q: Question>(question: &Arc<Q>) {
    let refresher = question.refresher();
    let mut ended = refresher.ended.subscribe();
    let stopped = ended.wait_for(|ended| ended.number == u64::MAX);
    tokio::select! {
        biased;
        _ = stopped => {}
        () = ask_again(question) => {}
    }
}

async fn ask_again<Q: Question>(question: &Arc<Q>) {
    let refresher = question.refresher();
    loop {
        let not_before = refresher.not_before();
        time::sleep(not_before.since(question.clock().now())).await;
        // What failed before this question, it answers.
        refresher.lock().again = false;
        let asking = AssertUnwindSafe(question.ask()).catch_unwind();
        let answer = match time::timeout(GATEWAY_TIMEOUT, asking).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(GatewayError::Panicked),
            Err(_) => Err(GatewayError::TimedOut),
        };
        if let Err(error) = &answer {
            tracing::warn!(%error, "the gateway was asked in vain");
        }
        let mut state = refresher.lock();
        let forced = std::mem::take(&mut state.forced);
        match answer {
            Ok(changed) if changed || !forced => state.pause.reset(),
            _ => state.not_before = question.clock().now() + jitter(state.pause.trip()),
        }
        if !state.stopped {
            // Under the lock, so that no later end is overwritten by this one.
            refresher.ended.send_replace(Ended { number: state.begun, error: answer.err() });
        }
        state.running = std::mem::take(&mut state.again) && !state.stopped;
        if !state.running {
            return;
        }
        state.forced = true;
        state.begun += 1;
    }
}

/// Ends a question that nobody will answer any more, since its runtime has ended or its task has panicked.
struct Asking<Q: Question>(Arc<Q>);

impl<Q: Question> Drop for Asking<Q> {
    fn drop(&mut self) {
        let refresher = self.0.refresher();
        let mut state = refresher.lock();
        if std::mem::take(&mut state.running) && !state.stopped {
            let error = Some(GatewayError::failed("the pool's background work has ended"));
            refresher.ended.send_replace(Ended { number: state.begun, error });
        }
    }
}

/// `span` and up to a fifth more or less.
fn jitter(span: Duration) -> Duration {
    span.mul_f64(0.8 + 0.4 * fastrand::f64())
}
