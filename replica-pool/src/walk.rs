//! The walk of one call over its candidates.

use std::{error::Error, future::Future, sync::Arc, time::Duration};

use breaker_core::{Mode, Now, Rejection, Timestamp};
use fastrand::Rng;
use futures::future::join_all;
use tokio::time::timeout;

use crate::{
    Address, AllOpen, Attempt, AttemptRecord, AttemptResult, CallError, Diagnostics, Judge, Lease,
    RefreshReason, RefreshRecord, Replica, ReplicaSet, Verdict,
    config::WhenAllOpen,
    order::{Rules, View},
    partition::Partition,
    refresh::{Ended, Request},
    request::Limits,
    verdict::Next,
};

type Set<A, H> = Arc<ReplicaSet<A, H>>;

pub(crate) struct Walk<'a, A: Address, H: Send + Sync + 'static, T, E> {
    partition: &'a Arc<Partition<A, H>>,
    limits: Limits,
    diagnostics: Option<&'a mut Diagnostics>,
    until: Timestamp,
    rng: Rng,
    attempts: u32,
    /// Who failed in this call, in any pass.
    failed: Vec<Arc<Replica<A, H>>>,
    /// What the last attempt brought; `None` when it timed out.
    last: Option<Result<T, E>>,
}

/// How a pass over the candidates ended.
enum Pass<T, E: Error + 'static> {
    Ended(Result<T, CallError<E>>),
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
        partition: &'a Arc<Partition<A, H>>,
        limits: Limits,
        mut diagnostics: Option<&'a mut Diagnostics>,
    ) -> Self {
        if let Some(diagnostics) = &mut diagnostics {
            diagnostics.validation_enabled = partition.shared.config.validation();
        }
        let until = partition.now() + limits.deadline;
        Self {
            partition,
            limits,
            diagnostics,
            until,
            rng: Rng::new(),
            attempts: 0,
            failed: Vec::new(),
            last: None,
        }
    }

    pub(crate) async fn run<Fut>(
        mut self,
        judge: &impl Judge<T, E>,
        mut body: impl FnMut(Attempt<A, H>) -> Fut,
    ) -> Result<T, CallError<E>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let (mut resolved, mut waited) = (false, false);
        loop {
            let set = self.partition.set.load_full();
            if set.replicas().is_empty() {
                self.await_addresses(&set).await?;
                continue;
            }
            match self.pass(&set, judge, &mut body).await {
                Pass::Ended(result) => return result,
                Pass::AllRejected(_) if !waited && self.await_first_rounds().await => waited = true,
                Pass::AllRejected(rejections) => {
                    return self.all_open(&set, rejections, judge, &mut body).await;
                }
                Pass::Failed if resolved || self.partition.fixed || self.is_out_of_attempts() => {
                    return self.exhausted();
                }
                Pass::Failed => {
                    resolved = true;
                    self.resolve_again(&set).await?;
                }
            }
        }
    }

    /// Asks one candidate after another, each once, the best first.
    async fn pass<Fut>(
        &mut self,
        set: &Set<A, H>,
        judge: &impl Judge<T, E>,
        body: &mut impl FnMut(Attempt<A, H>) -> Fut,
    ) -> Pass<T, E>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let (mut tried, mut rejections, before) = (Vec::new(), Vec::new(), self.attempts);
        self.record_selection(set);
        while let Some((index, view)) = self.choose(set, &tried) {
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
            if self.attempts > 0 && self.partition.now() >= self.until {
                return Pass::Ended(self.out_of_time());
            }
            let lease =
                Lease::new(Arc::clone(self.partition), Arc::clone(replica), set.version(), Some(permit));
            if let Some(result) = self.attempt(lease, view, judge, body).await {
                return Pass::Ended(result);
            }
        }
        if self.attempts == before && self.attempts == 0 {
            Pass::AllRejected(rejections)
        } else {
            Pass::Failed
        }
    }

    fn choose(&mut self, set: &Set<A, H>, tried: &[usize]) -> Option<(usize, View)> {
        let config = &self.partition.shared.config;
        let trial_ratio = if self.attempts == 0 && tried.is_empty() { config.trial_ratio() } else { 0.0 };
        let (rules, bound) = (Rules { order: config.order(), trial_ratio }, config.unhealthy_timeout());
        let now = Now::of(&*self.partition.shared.clock);
        let (failed, mut overdue) = (&self.failed, false);
        let views = set.replicas().iter().enumerate().filter(|(index, _)| !tried.contains(index)).map(
            |(index, replica)| {
                let view = View::of(replica, &now, bound);
                overdue |= view.overdue;
                (index, view, failed.iter().any(|other| Arc::ptr_eq(other, replica)))
            },
        );
        let chosen = rules.first(views, &mut self.rng);
        if let Some((reason, request)) = self.partition.look_after(set, overdue) {
            self.record_refresh(reason, request, None);
        }
        chosen
    }

    /// One attempt. Says how the call ends, if it does.
    async fn attempt<Fut>(
        &mut self,
        mut lease: Lease<A, H>,
        view: View,
        judge: &impl Judge<T, E>,
        body: &mut impl FnMut(Attempt<A, H>) -> Fut,
    ) -> Option<Result<T, CallError<E>>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        self.attempts += 1;
        let (now, limit) = (self.partition.now(), self.limits.attempt_timeout);
        let left = self.until.since(now);
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
        self.record_refresh(RefreshReason::MarkedFailed, request, None);
        let go_on = verdict.next == Next::TryNext && (self.limits.idempotent || !verdict.sent);
        if go_on {
            self.failed.push(replica);
            self.last = result;
            return None;
        }
        let replica = replica.address().to_string();
        Some(match result {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(source)) => Err(CallError::Remote { replica, source }),
            None => Err(CallError::TimedOut { replica, after: limit }),
        })
    }

    /// Nobody may be asked: one attempt at the least bad one, without asking its circuit, or an error.
    async fn all_open<Fut>(
        mut self,
        set: &Set<A, H>,
        replicas: Vec<(String, Rejection)>,
        judge: &impl Judge<T, E>,
        body: &mut impl FnMut(Attempt<A, H>) -> Fut,
    ) -> Result<T, CallError<E>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let request = self.partition.refresh(set.version(), RefreshReason::Exhausted);
        self.record_refresh(RefreshReason::Exhausted, request, None);
        if self.partition.shared.config.when_all_open() == WhenAllOpen::TryLeastBad {
            let forced = |replica: &Arc<Replica<A, H>>| replica.breaker().mode() == Mode::ForcedOpen;
            let tried: Vec<_> =
                (0..set.replicas().len()).filter(|index| forced(&set.replicas()[*index])).collect();
            if let Some((index, view)) = self.choose(set, &tried) {
                let replica = Arc::clone(&set.replicas()[index]);
                let lease = Lease::new(Arc::clone(self.partition), replica, set.version(), None);
                let ended = self.attempt(lease, view, judge, body).await;
                return ended.unwrap_or_else(|| self.exhausted());
            }
        }
        let retry_at = replicas.iter().filter_map(|(_, rejection)| rejection.retry_at).min();
        let retry_after = retry_at.map(|at| at.since(self.partition.now()));
        Err(CallError::AllOpen(AllOpen { replicas, retry_at, retry_after }))
    }

    /// While all circuits are open and some were never probed: waits until that is no longer so. Says whether it is
    /// worth another look.
    async fn await_first_rounds(&self) -> bool {
        let left = self.until.since(self.partition.now()).min(self.partition.shared.config.startup_wait());
        let settled = async {
            loop {
                let changed = self.partition.shared.circuits_changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                let set = self.partition.set.load_full();
                if set.replicas().iter().any(|replica| replica.breaker().status().refusal().is_none()) {
                    return true;
                }
                let watches = self.partition.shared.directory.watches(&set);
                if watches.iter().all(|watch| watch.first_round_done()) {
                    return false;
                }
                let first_rounds = join_all(watches.iter().map(|watch| watch.first_round()));
                tokio::select! {
                    () = changed => {}
                    _ = first_rounds => {}
                }
            }
        };
        timeout(left, settled).await.unwrap_or(false)
    }

    /// The set is empty: waits for an answer of the gateway.
    async fn await_addresses(&mut self, set: &Set<A, H>) -> Result<(), CallError<E>> {
        if self.partition.fixed {
            return Err(CallError::NoReplicas { source: None });
        }
        let ended = self.wait_for_refresh(set, RefreshReason::NoAddresses).await?;
        match ended.error {
            Some(error) if self.partition.set().replicas().is_empty() => {
                Err(CallError::NoReplicas { source: Some(error) })
            }
            _ => Ok(()),
        }
    }

    /// Everybody failed: asks for the addresses, since they may all have changed, and waits for them.
    async fn resolve_again(&mut self, set: &Set<A, H>) -> Result<(), CallError<E>> {
        self.wait_for_refresh(set, RefreshReason::Exhausted).await.map(|_| ())
    }

    async fn wait_for_refresh(
        &mut self,
        set: &Set<A, H>,
        reason: RefreshReason,
    ) -> Result<Ended, CallError<E>> {
        let request = self.partition.refresh(set.version(), reason);
        let Request::Run { number, .. } = request else { return Ok(Ended::default()) };
        let begun = self.partition.now();
        let ended = timeout(self.until.since(begun), self.partition.refresher.wait(number)).await;
        self.record_refresh(reason, request, Some(self.partition.now().since(begun)));
        match ended {
            Ok(ended) => Ok(ended),
            Err(_) => self.out_of_time().map(|_| Ended::default()),
        }
    }

    fn is_out_of_attempts(&self) -> bool {
        self.limits.max_attempts.is_some_and(|most| self.attempts as usize >= most)
    }

    fn out_of_time(&mut self) -> Result<T, CallError<E>> {
        let (deadline, attempts) = (self.limits.deadline, self.failed.len() as u32);
        let source = self.last.take().and_then(Result::err);
        Err(CallError::DeadlineExceeded { deadline, attempts, source })
    }

    fn exhausted(&mut self) -> Result<T, CallError<E>> {
        match self.last.take() {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(source)) => Err(CallError::Exhausted { attempts: self.attempts, source: Some(source) }),
            None => Err(CallError::Exhausted { attempts: self.attempts, source: None }),
        }
    }

    fn record_selection(&mut self, set: &Set<A, H>) {
        let Some(diagnostics) = &mut self.diagnostics else { return };
        let (now, bound) =
            (Now::of(&*self.partition.shared.clock), self.partition.shared.config.unhealthy_timeout());
        diagnostics.replica_status_list = Default::default();
        for replica in set.replicas() {
            diagnostics.replica_status_list.push(replica.address(), View::of(replica, &now, bound));
        }
    }

    fn record(&mut self, replica: &Replica<A, H>, view: View, result: AttemptResult, elapsed: Duration) {
        if let Some(diagnostics) = &mut self.diagnostics {
            let (circuit, health) = (view.circuit.circuit, view.health);
            let replica = replica.address().to_string();
            diagnostics.attempts.push(AttemptRecord { replica, circuit, health, result, elapsed });
        }
    }

    fn record_refresh(&mut self, reason: RefreshReason, request: Request, waited: Option<Duration>) {
        if let (Some(diagnostics), Request::Run { started, .. }) = (&mut self.diagnostics, request) {
            diagnostics.refreshes.push(RefreshRecord { reason, started, waited });
        }
    }
}
