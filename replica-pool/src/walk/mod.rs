//! The walk of one call over its candidates.

mod end;
mod record;
mod wait;

use std::{error::Error, future::Future, sync::Arc, time::Duration};

use breaker_core::{Clock, Mode, Now, Rejection, Timestamp};
use fastrand::Rng;
use tokio::time::timeout;

use crate::{
    Address, AllOpen, Attempt, AttemptResult, CallError, Cause, Diagnostics, FailedAttempt, Gone, Judge,
    Lease, RefreshReason, Refreshed, Replica, ReplicaSet, Signal, Verdict,
    config::WhenAllOpen,
    order::{Rules, View},
    partition::Partition,
    request::Limits,
    verdict::Next,
};

type Set<A, H> = Arc<ReplicaSet<A, H>>;

/// What one call has done so far, over all partitions that it was sent to.
pub(crate) struct Walk<'a, A: Address, H: Send + Sync + 'static, T, E> {
    limits: Limits,
    diagnostics: Option<&'a mut Diagnostics>,
    clock: Arc<dyn Clock>,
    /// The deadline.
    until: Timestamp,
    /// Attempts may go on until then, be the deadline past or not.
    grace: Timestamp,
    rng: Rng,
    attempts: u32,
    /// Whether the addresses of the present partition were asked for because everybody failed.
    resolved: bool,
    partition: Option<Arc<Partition<A, H>>>,
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

/// How a pass over the candidates ended.
enum Pass<T, E: Error + 'static> {
    Walked(Walked<T, E>),
    /// None of those who were asked helped.
    Failed,
    /// Nobody was asked.
    AllRejected(Vec<(String, Rejection)>),
}

impl<'a, A, H, T, E> Walk<'a, A, H, T, E>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
{
    pub(crate) fn new(
        clock: Arc<dyn Clock>,
        limits: Limits,
        diagnostics: Option<&'a mut Diagnostics>,
    ) -> Self {
        Self {
            limits,
            diagnostics,
            until: clock.now() + limits.deadline,
            grace: Timestamp::ZERO,
            clock,
            rng: Rng::new(),
            attempts: 0,
            resolved: false,
            partition: None,
            failed: Vec::new(),
            trail: Vec::new(),
            seen: 0,
            signal: Signal::None,
            last: None,
        }
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
        if self.partition.as_ref().is_none_or(|before| !Arc::ptr_eq(before, partition)) {
            self.partition = Some(Arc::clone(partition));
            self.resolved = false;
        }
        let mut waited = false;
        loop {
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
                Pass::AllRejected(_) if !waited && self.await_first_rounds(partition).await => waited = true,
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

    /// Asks one candidate after another, each once, the best first.
    async fn pass<Fut>(
        &mut self,
        partition: &Arc<Partition<A, H>>,
        set: &Set<A, H>,
        judge: &impl Judge<T, E>,
        body: &mut impl FnMut(Attempt<A, H>) -> Fut,
    ) -> Pass<T, E>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let (mut tried, mut rejections, before) = (Vec::new(), Vec::new(), self.attempts);
        self.record_selection(partition, set);
        while let Some((index, view)) = self.choose(partition, set, &tried) {
            if self.is_out_of_attempts() {
                break;
            }
            tried.push(index);
            let replica = &set.replicas()[index];
            let permit = match replica.breaker().acquire_owned() {
                Ok(permit) => permit,
                Err(rejection) => {
                    self.record(replica, view, AttemptResult::Rejected, Duration::ZERO);
                    rejections.push((replica.address().to_string(), rejection));
                    continue;
                }
            };
            if self.attempts > 0 && self.clock.now() >= self.until.max(self.grace) {
                return Pass::Walked(self.out_of_time());
            }
            let lease = Lease::new(Arc::clone(partition), Arc::clone(replica), set.version(), Some(permit));
            if let Some(walked) = self.attempt(lease, view, judge, body).await {
                return Pass::Walked(walked);
            }
        }
        if self.attempts == before && self.attempts == 0 {
            Pass::AllRejected(rejections)
        } else {
            Pass::Failed
        }
    }

    fn choose(
        &mut self,
        partition: &Arc<Partition<A, H>>,
        set: &Set<A, H>,
        tried: &[usize],
    ) -> Option<(usize, View)> {
        let config = &partition.shared.config;
        let trial_ratio = if self.attempts == 0 && tried.is_empty() { config.trial_ratio() } else { 0.0 };
        let (rules, bound) = (Rules { order: config.order(), trial_ratio }, config.unhealthy_timeout());
        let now = Now::of(&*partition.shared.clock);
        let (failed, mut overdue) = (&self.failed, false);
        let views = set.replicas().iter().enumerate().filter(|(index, _)| !tried.contains(index)).map(
            |(index, replica)| {
                let view = View::of(replica, &now, bound);
                overdue |= view.overdue;
                (index, view, failed.iter().any(|other| Arc::ptr_eq(other, replica)))
            },
        );
        let chosen = rules.first(views, &mut self.rng);
        if let Some((reason, request)) = partition.look_after(set, overdue) {
            self.record_refresh(Refreshed::Addresses, reason, request, None);
        }
        chosen
    }

    /// One attempt. Says how the walk ends, if it does.
    async fn attempt<Fut>(
        &mut self,
        mut lease: Lease<A, H>,
        view: View,
        judge: &impl Judge<T, E>,
        body: &mut impl FnMut(Attempt<A, H>) -> Fut,
    ) -> Option<Walked<T, E>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        self.attempts += 1;
        let (now, limit) = (self.clock.now(), self.limits.attempt_timeout);
        let left = self.until.max(self.grace).since(now);
        let replica = Arc::clone(lease.replica());
        let attempt = Attempt::new(Arc::clone(&replica), self.attempts, now + limit.min(left));
        let (verdict, result) = match timeout(limit.min(left), body(attempt)).await {
            Ok(result) => (judge.judge(&result), Some(result)),
            Err(_) if left < limit => {
                self.record(&replica, view, AttemptResult::CutShort, lease.elapsed());
                return Some(self.out_of_time());
            }
            Err(_) => (Verdict::BROKEN, None),
        };
        let elapsed = lease.elapsed();
        let (_, request) = lease.end(&verdict);
        let record = if result.is_some() { AttemptResult::Judged(verdict) } else { AttemptResult::TimedOut };
        self.record(&replica, view, record, elapsed);
        self.record_refresh(Refreshed::Addresses, RefreshReason::MarkedFailed, request, None);
        let may_go_on = self.limits.idempotent || !verdict.sent;
        let gone = verdict.signal.gone();
        if gone.is_some() || (may_go_on && verdict.next == Next::TryNext) {
            self.fail(replica, verdict.signal, result);
            return match gone {
                None => None,
                Some(Gone::Replica) if may_go_on => None,
                Some(gone) => Some(self.gone(gone, !may_go_on)),
            };
        }
        let replica = replica.address().to_string();
        Some(Walked::Ended(match result {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(source)) => Err(CallError::Remote { replica, source }),
            None => Err(CallError::TimedOut { replica, after: limit }),
        }))
    }

    fn fail(&mut self, replica: Arc<Replica<A, H>>, signal: Signal, result: Option<Result<T, E>>) {
        self.trail.push(FailedAttempt { replica: replica.address().to_string(), signal });
        self.failed.push(replica);
        self.signal = signal;
        self.last = result;
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
            let excluded: Vec<_> = (0..set.replicas().len()).filter(forced).collect();
            if let Some((index, view)) = self.choose(partition, set, &excluded) {
                let replica = Arc::clone(&set.replicas()[index]);
                let lease = Lease::new(Arc::clone(partition), replica, set.version(), None);
                let ended = self.attempt(lease, view, judge, body).await;
                return ended.unwrap_or_else(|| self.exhausted());
            }
        }
        let retry_at = replicas.iter().filter_map(|(_, rejection)| rejection.retry_at).min();
        let retry_after = retry_at.map(|at| at.since(self.clock.now()));
        Walked::Ended(Err(CallError::AllOpen(AllOpen { replicas, retry_at, retry_after })))
    }
}
