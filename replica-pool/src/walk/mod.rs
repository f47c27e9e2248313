//! The walk of one call over its candidates.

mod attempt;
mod chance;
mod end;
mod pass;
mod race;
mod record;
mod wait;

use std::{error::Error, future::Future, sync::Arc, time::Duration};

use breaker_core::{Clock, Mode, Rejection, Timestamp};
use fastrand::Rng;

use crate::{
    Address, AllOpen, Attempt, CallError, Cause, Diagnostics, FailedAttempt, Gone, Judge, Lease,
    RefreshReason, Refreshed, Replica, ReplicaSet, Signal, candidates::Candidates, config::WhenAllOpen,
    partition::Partition, request::Limits, set::Place,
};

use self::pass::Pass;

type Set<A, H> = Arc<ReplicaSet<A, H>>;

/// What one call has done so far, over all partitions that it was sent to.
pub(crate) struct Walk<'a, A: Address, H: Send + Sync + 'static, T, E> {
    limits: Limits,
    diagnostics: Option<&'a mut Diagnostics>,
    clock: &'a dyn Clock,
    /// When the call began, as long as that is now.
    began: Option<Timestamp>,
    /// The deadline.
    until: Timestamp,
    /// For how long the call has waited for circuits to admit it.
    waited: Duration,
    /// Attempts may go on until then, be the deadline past or not.
    grace: Timestamp,
    rng: Rng,
    attempts: u32,
    /// Whether the addresses of the present partition were asked for because everybody failed.
    resolved: bool,
    /// Which that is: where it lies in memory.
    partition: usize,
    /// Who failed in this call.
    failed: Vec<Arc<Replica<A, H>>>,
    trail: Vec<FailedAttempt>,
    /// The version of the set that was walked last.
    seen: u64,
    /// What the last attempt told about addresses and routes.
    signal: Signal,
    /// What the last attempt brought; `None` when it timed out.
    last: Option<Result<T, E>>,
}

/// How a walk over a partition ended.
pub(crate) enum Walked<T, E: Error + 'static> {
    Ended(Result<T, CallError<E>>),
    Gone {
        gone: Gone,
        cause: Option<Cause<E>>,
        /// The request may not be sent again.
        hopeless: bool,
    },
}

impl<'a, A, H, T, E> Walk<'a, A, H, T, E>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
{
    pub(crate) fn new(
        clock: &'a dyn Clock,
        limits: Limits,
        diagnostics: Option<&'a mut Diagnostics>,
    ) -> Self {
        let now = clock.now();
        Self {
            limits,
            diagnostics,
            began: Some(now),
            until: now + limits.deadline,
            waited: Duration::ZERO,
            grace: Timestamp::ZERO,
            clock,
            rng: Rng::new(),
            attempts: 0,
            resolved: false,
            partition: 0,
            failed: Vec::new(),
            trail: Vec::new(),
            seen: 0,
            signal: Signal::None,
            last: None,
        }
    }

    /// The present instant; the clock is read once for the beginning of the call and of its first attempt.
    fn now(&mut self) -> Timestamp {
        self.began.take().unwrap_or_else(|| self.clock.now())
    }

    /// Walks over the candidates of `partition`, and once more when all of them failed and the addresses were
    /// asked for again.
    pub(crate) async fn over<Fut>(
        &mut self,
        partition: &Arc<Partition<A, H>>,
        judge: &impl Judge<T, E>,
        body: &mut impl FnMut(Attempt<A, H>) -> Fut,
    ) -> Walked<T, E>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let before = std::mem::replace(&mut self.partition, Arc::as_ptr(partition).addr());
        self.resolved &= before == self.partition;
        loop {
            // No guard: calls wait for long, and a thread has few places for those who read.
            let set = partition.set.load_full();
            self.seen = set.version();
            if set.replicas().is_empty() {
                match self.await_addresses(partition).await {
                    Some(ended) => return ended,
                    None => continue,
                }
            }
            match self.pass(partition, &set, judge, body).await {
                Pass::Walked(walked) => return walked,
                Pass::AllRejected(_) if partition.set().version() != set.version() => {}
                Pass::AllRejected(rejections) => {
                    return self.all_open(partition, &set, rejections, judge, body).await;
                }
                Pass::Failed if self.resolved || partition.fixed || self.is_out_of_attempts() => {
                    return self.exhausted();
                }
                Pass::Failed => {
                    self.resolved = true;
                    if let Some(ended) = self.resolve_again(partition).await {
                        return ended;
                    }
                }
            }
        }
    }

    /// Nobody may be asked: one attempt at the least bad one, without asking its circuit, or an error.
    async fn all_open<Fut>(
        &mut self,
        partition: &Arc<Partition<A, H>>,
        set: &Set<A, H>,
        replicas: Vec<(String, Rejection)>,
        judge: &impl Judge<T, E>,
        body: &mut impl FnMut(Attempt<A, H>) -> Fut,
    ) -> Walked<T, E>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let request = partition.refresh(set.version(), RefreshReason::Exhausted);
        self.record_refresh(Refreshed::Addresses, RefreshReason::Exhausted, request, None);
        if partition.shared.config.when_all_open() == WhenAllOpen::TryLeastBad {
            let forced = |index: &usize| set.replicas()[*index].breaker().mode() == Mode::ForcedOpen;
            let excluded = (0..set.replicas().len()).filter(forced).collect();
            let candidates = Candidates::without(partition, set, excluded);
            if let Some(index) = self.choose(&candidates) {
                let view = self.view(&candidates, index);
                let lease = Lease::unasked(Place::shared(set, index), self.clock.now());
                let ended = self.attempt(lease, view, judge, body).await;
                return ended.unwrap_or_else(|| self.exhausted());
            }
        }
        Walked::Ended(Err(CallError::AllOpen(AllOpen::new(replicas, self.clock.now()))))
    }
}
