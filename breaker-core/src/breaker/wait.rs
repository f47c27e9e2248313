//! Waiting for a chance to call. Timers come from whoever waits: this crate has none.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use super::Breaker;

impl Breaker {
    /// Completes when the circuit has changed its state or a half-open place came back, after this method
    /// was called. Ask for it first, then look, then await it: so nothing is missed.
    ///
    /// Cancel safe. A change that is due by time alone wakes nobody until an operation commits it.
    pub fn changed(&self) -> impl Future<Output = ()> + Send + use<> {
        self.changed.listen()
    }

    /// Completes when a call may pass: at once, or when the circuit changes, a half-open place comes back,
    /// or `retry_at` is reached, whichever is first. Others may be faster to take the chance: loop.
    ///
    /// `sleep` waits for a span of time, as `tokio::time::sleep` does. A circuit that only a probe can end is waited
    /// for however long that takes; put a timeout around it.
    ///
    /// Cancel safe.
    pub async fn ready<S>(&self, sleep: impl Fn(Duration) -> S)
    where
        S: Future<Output = ()>,
    {
        loop {
            let changed = self.changed();
            let status = self.status();
            if status.refusal().is_none() {
                return;
            }
            match status.until {
                Some(at) => either(changed, sleep(at.since(self.setup.clock.now()))).await,
                None => changed.await,
            }
        }
    }
}

async fn either(a: impl Future<Output = ()>, b: impl Future<Output = ()>) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(|cx| {
        if a.as_mut().poll(cx).is_ready() || b.as_mut().poll(cx).is_ready() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}
