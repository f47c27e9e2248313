//! Asking the gateway: one question at a time about one thing, in the background, and not too often.

use std::{
    future::Future,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use breaker_core::{Clock, GrowingDelay, Timestamp};
use futures::FutureExt;
use tokio::{sync::Notify, time};

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

    /// Whether what is known now is a reason to ask again.
    fn wish(&self) -> Wish {
        Wish::Nothing
    }

    /// Starts a question, or joins the one under way; `news` if something failed that it can't know of.
    fn start_refresh(self: &Arc<Self>, reason: RefreshReason, news: bool) -> Request {
        let mut state = self.refresher().lock();
        if state.stopped {
            return Request::Closed;
        }
        state.forced |= reason.is_forced();
        if state.running && std::mem::take(&mut state.asleep) {
            // Nobody but the pool itself wanted to know, and later.
            state.calm_down(self.clock().now());
            self.refresher().news.notify_waiters();
            return Request::Run { number: state.begun, started: true };
        }
        if state.running {
            state.again |= news;
            return Request::Run { number: state.begun, started: false };
        }
        let number = state.begin();
        state.calm_down(self.clock().now());
        drop(state);
        let started = self.spawn();
        if started { Request::Run { number, started } } else { Request::Closed }
    }

    /// Asks after `span` if there is a [wish](Self::wish) then, and nobody has asked before.
    fn ask_later(self: &Arc<Self>, span: Duration) {
        let mut state = self.refresher().lock();
        if state.stopped || state.running {
            return;
        }
        state.begin();
        (state.asleep, state.own_due) = (true, state.not_before.max(self.clock().now() + span));
        drop(state);
        self.spawn();
    }

    fn spawn(self: &Arc<Self>) -> bool {
        let asking = Asking(Arc::clone(self));
        self.tasks().spawn(async move { run(&asking.0).await })
    }
}

/// What the pool itself wants to know of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Nothing,
    /// Something is open for now: to ask once it has been so for that long.
    After(Duration),
    /// To ask as soon as that is not too soon.
    Soon,
}

/// Numbers questions about one thing. There is at most one in a second, so that they last for a century.
pub(crate) type Number = u32;

/// What became of a request for fresh answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// What is known is newer than what the caller saw, or can't change: there is nothing to wait for.
    Served,
    /// The question of this number answers it.
    Run { number: Number, started: bool },
    /// Nobody asks any more: what was asked for is gone.
    Closed,
}

/// How a question ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The number of the last question that has ended; 0 before the first.
    number: Number,
    /// Why it brought nothing.
    pub(crate) error: Option<GatewayError>,
}

impl Ended {
    /// How all questions end that nobody asks any more.
    pub(crate) const CLOSED: Self = Self { number: Number::MAX, error: Some(GatewayError::NoSuchPartition) };
}

/// When the gateway may be asked, and how that went.
#[derive(Debug)]
pub(crate) struct Refresher {
    state: Mutex<State>,
    /// A question has ended, no more will be asked, or someone wants to know what the pool meant to ask for later.
    news: Notify,
}

#[derive(Debug)]
struct State {
    /// How the last question ended, in parts, and the one that few have elsewhere: there may be many partitions.
    ended: Number,
    error: Option<Box<GatewayError>>,
    /// Questions begun so far; the present one's number while running.
    begun: Number,
    running: bool,
    stopped: bool,
    /// Something failed after the present question was asked: ask once more.
    again: bool,
    forced: bool,
    pause: Pause,
    /// No question before this.
    not_before: Timestamp,
    /// The pauses between questions that nobody but the pool itself wants answered.
    own_pause: Pause,
    /// The next question is one of those. It is due at `own_due`, unless somebody else wants to know before.
    asleep: bool,
    own_due: Timestamp,
}

/// A pause that grows from a second to fifteen. Only its step is kept: there may be many partitions.
#[derive(Clone, Copy, Debug, Default)]
struct Pause {
    trips: u32,
}

impl Pause {
    fn delay(self) -> GrowingDelay {
        GrowingDelay::new(FIRST_PAUSE, LONGEST_PAUSE).with_trips(self.trips)
    }

    fn current(self) -> Duration {
        self.delay().current()
    }

    fn trip(&mut self) -> Duration {
        let mut delay = self.delay();
        let span = delay.trip();
        self.trips = delay.trips();
        span
    }

    fn reset(&mut self) {
        self.trips = 0;
    }
}

impl State {
    /// A question is under way. Says which.
    fn begin(&mut self) -> Number {
        (self.running, self.asleep) = (true, false);
        self.begun += 1;
        self.begun
    }

    fn end(&mut self, Ended { number, error }: Ended) {
        (self.ended, self.error) = (number, error.map(Box::new));
    }

    /// When it has been quiet for long enough, what went before is no reason to wait.
    fn calm_down(&mut self, now: Timestamp) {
        if now >= self.not_before + self.pause.current() {
            self.pause.reset();
        }
    }
}

impl Refresher {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                begun: 0,
                ended: 0,
                error: None,
                running: false,
                stopped: false,
                again: false,
                forced: false,
                pause: Pause::default(),
                not_before: Timestamp::ZERO,
                own_pause: Pause::default(),
                asleep: false,
                own_due: Timestamp::ZERO,
            }),
            news: Notify::new(),
        }
    }

    /// Waits until question `number` has ended. Cancel safe.
    pub(crate) async fn wait(&self, number: Number) -> Ended {
        loop {
            // Listening comes before looking, so that nothing is missed.
            let news = self.news.notified();
            {
                let state = self.lock();
                if state.ended >= number {
                    return Ended { number: state.ended, error: state.error.as_deref().cloned() };
                }
            }
            news.await;
        }
    }

    /// Asks no more, and tells so to those who wait.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.end(Ended::CLOSED);
        drop(state);
        self.news.notify_waiters();
    }

    /// Before this, asking again would be too soon.
    pub(crate) fn not_before(&self) -> Timestamp {
        self.lock().not_before
    }

    /// Sleeps until the next question is due. Says whether there is one: not if only the pool itself wanted to know, and does
    /// no more.
    async fn sleep(&self, clock: &dyn Clock, wish: impl Fn() -> Wish) -> bool {
        loop {
            // Listening comes before looking, so that nothing is missed.
            let news = self.news.notified();
            let due = {
                let state = self.lock();
                if state.asleep { state.own_due } else { state.not_before }
            };
            // A timer would take until the next millisecond.
            let left = due.since(clock.now());
            if left.is_zero() {
                break;
            }
            tokio::select! {
                // In order: the same events make the same history.
                biased;
                () = time::sleep(left) => break,
                () = news => {}
            }
        }
        let mut state = self.lock();
        if state.asleep && wish() == Wish::Nothing {
            // Nobody waits for this one: whoever does takes the sleep away.
            (state.running, state.asleep, state.ended) = (false, false, state.begun);
            state.own_pause.reset();
            return false;
        }
        // What failed before the question that follows, it answers.
        (state.again, state.asleep) = (false, false);
        true
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks until nobody wants to know any more.
async fn run<Q: Question>(question: &Arc<Q>) {
    tokio::select! {
        biased;
        _ = question.refresher().wait(Ended::CLOSED.number) => {}
        () = ask_again(question) => {}
    }
}

async fn ask_again<Q: Question>(question: &Arc<Q>) {
    let refresher = question.refresher();
    loop {
        if !refresher.sleep(question.clock(), || question.wish()).await {
            return;
        }
        let asking = AssertUnwindSafe(question.ask()).catch_unwind();
        let answer = match time::timeout(GATEWAY_TIMEOUT, asking).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(GatewayError::Panicked),
            Err(_) => Err(GatewayError::TimedOut),
        };
        if let Err(error) = &answer {
            tracing::warn!(%error, "the gateway was asked in vain");
        }
        let wish = question.wish();
        let mut state = refresher.lock();
        let (now, forced) = (question.clock().now(), std::mem::take(&mut state.forced));
        match answer {
            Ok(true) => {
                state.pause.reset();
                state.own_pause.reset();
            }
            Ok(false) if !forced => state.pause.reset(),
            _ => state.not_before = now + jitter(state.pause.trip()),
        }
        if !state.stopped {
            let number = state.begun;
            state.end(Ended { number, error: answer.err() });
            refresher.news.notify_waiters();
        }
        let again = std::mem::take(&mut state.again);
        state.running = (again || wish != Wish::Nothing) && !state.stopped;
        if !state.running {
            state.own_pause.reset();
            return;
        }
        state.begun += 1;
        state.forced = again;
        state.asleep = !again;
        if state.asleep {
            let pause = match wish {
                Wish::After(span) => span,
                _ => jitter(state.own_pause.trip()),
            };
            state.own_due = state.not_before.max(now + pause);
        }
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
            let number = state.begun;
            state.end(Ended { number, error });
            refresher.news.notify_waiters();
        }
    }
}

/// `span` and up to a fifth more or less.
fn jitter(span: Duration) -> Duration {
    span.mul_f64(0.8 + 0.4 * fastrand::f64())
}
