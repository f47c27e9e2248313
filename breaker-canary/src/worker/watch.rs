//! Attending to one circuit.

use std::{
    convert::Infallible,
    future::Future,
    panic::AssertUnwindSafe,
    pin::pin,
    sync::{Arc, Weak},
    time::Duration,
};

use breaker_core::{Breaker, Circuit, ProbePlan};
use futures::FutureExt;
use tokio::{
    sync::oneshot,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{crew::Crew, registration::Entry};

/// After a strategy has panicked under the worker's hands.
const PANIC_PAUSE: Duration = Duration::from_secs(1);

/// The worker's side of a registration.
pub(super) struct Watch<T> {
    entry: Weak<Entry<T>>,
    gone: oneshot::Receiver<Infallible>,
    crew: Arc<Crew<T>>,
}

impl<T> Watch<T> {
    pub(super) fn new(
        entry: Weak<Entry<T>>,
        gone: oneshot::Receiver<Infallible>,
        crew: Arc<Crew<T>>,
    ) -> Self {
        Self { entry, gone, crew }
    }
}

impl<T> Drop for Watch<T> {
    fn drop(&mut self) {
        // Nobody will knock any more, so nobody should wait for it.
        if let Some(entry) = self.entry.upgrade() {
            entry.end_first_round();
        }
    }
}

impl<T: Send + Sync + 'static> Watch<T> {
    /// Attends to the circuit until its registration is gone.
    pub(super) async fn run(mut self) {
        let gone = std::mem::replace(&mut self.gone, oneshot::channel().1);
        tokio::select! {
            biased;
            _ = gone => {}
            () = self.attend() => {}
        }
    }

    async fn attend(&self) {
        // As if seen open before: a circuit that is open now has been so from the start.
        let mut seen_open = true;
        loop {
            match AssertUnwindSafe(self.attend_once(&mut seen_open)).catch_unwind().await {
                Ok(Some(())) => {}
                Ok(None) => return,
                Err(_) => {
                    tracing::error!(
                        "a strategy panicked while it was probed; its circuit is looked at again soon"
                    );
                    seen_open = false;
                    if let Some(entry) = self.entry.upgrade() {
                        entry.end_first_round();
                    }
                    Box::pin(sleep(PANIC_PAUSE)).await;
                }
            }
        }
    }

    /// Waits until the circuit is open, or probes it while it is; `None` when the registration is gone.
    async fn attend_once(&self, seen_open: &mut bool) -> Option<()> {
        let (changed, epoch, plan, due) = {
            let entry = self.entry.upgrade()?;
            let breaker = &*entry.breaker;
            // Listening comes first, so that no change is missed.
            let changed = breaker.changed();
            let plan = breaker.probe_plan();
            if plan.is_none() {
                entry.end_first_round();
            }
            (changed, breaker.epoch(), plan, due_in(breaker))
        };
        match (plan, due) {
            (Some(plan), _) => Box::pin(self.attend_open(plan, epoch, seen_open)).await?,
            (None, Some(due)) => {
                *seen_open = false;
                drop(Box::pin(timeout(due, changed)).await);
            }
            (None, None) => {
                *seen_open = false;
                changed.await;
            }
        }
        Some(())
    }

    /// Knocks at a circuit that is open in `epoch`, round after round, until that epoch is over.
    async fn attend_open(&self, plan: ProbePlan, epoch: u64, seen_open: &mut bool) -> Option<()> {
        // Open, and open before, in another epoch: it started open or was reset. Else it has just been tripped.
        let (mut fresh, delay) = match std::mem::replace(seen_open, true) {
            true => {
                let (fresh, delay) = self.crew.join_fresh(plan.interval);
                (Some(fresh), delay)
            }
            false => (None, self.crew.jittered(plan.interval)),
        };
        let mut next = pin!(sleep(delay));
        let mut over = pin!(self.over(epoch));
        loop {
            tokio::select! {
                biased;
                () = &mut over => return Some(()),
                () = &mut next => {}
            }
            let _slot = tokio::select! {
                biased;
                () = &mut over => return Some(()),
                slot = self.crew.slots.acquire() => slot.ok()?,
            };
            drop(fresh.take());
            next.set(sleep(self.crew.jittered(plan.interval)));
            let Some(ticket) = self.entry.upgrade()?.breaker.begin_probe() else {
                return Some(());
            };
            let healthy = tokio::select! {
                biased;
                () = &mut over => return Some(()),
                healthy = self.round(plan) => healthy?,
            };
            let entry = self.entry.upgrade()?;
            // A healthy verdict makes it half-open: if it is open when seen next, that was a trip.
            *seen_open = !healthy;
            entry.breaker.finish_probe(ticket, healthy);
            entry.end_round();
        }
    }

    /// Whether one of the plan's probes is healthy.
    async fn round(&self, plan: ProbePlan) -> Option<bool> {
        for _ in 0..plan.attempts {
            let (entry, crew) = (self.entry.upgrade()?, Arc::clone(&self.crew));
            // A task of its own: it may panic, or block, and is aborted when the set is dropped.
            let mut task = JoinSet::new();
            task.spawn(async move { crew.probe.probe(&entry.target).await });
            if matches!(timeout(plan.timeout, task.join_next()).await, Ok(Some(Ok(true)))) {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Completes when the circuit is no longer in `epoch`, or its registration is gone.
    async fn over(&self, epoch: u64) {
        while let Some(changed) = self.changed_in(epoch) {
            changed.await;
        }
    }

    fn changed_in(&self, epoch: u64) -> Option<impl Future<Output = ()> + use<T>> {
        let entry = self.entry.upgrade()?;
        let changed = entry.breaker.changed();
        (entry.breaker.epoch() == epoch).then_some(changed)
    }
}

/// How long until time alone changes a circuit that is not open.
fn due_in(breaker: &Breaker) -> Option<Duration> {
    let status = breaker.status();
    let until = status.until.filter(|_| status.circuit != Circuit::Open)?;
    Some(until.since(breaker.clock().now()))
}
