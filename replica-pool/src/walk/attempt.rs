//! One attempt, and what its result means for the walk.

use std::{
    error::Error,
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use tokio::time::timeout;

use super::{Walk, Walked};
use crate::{
    Address, Attempt, AttemptResult, CallError, FailedAttempt, Gone, Judge, Lease, RefreshReason, Refreshed,
    Replica, Signal, Verdict, order::View, verdict::Next,
};

/// How long an attempt may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) limit: Duration,
    /// The call's deadline comes before the attempt's own.
    cut: bool,
}

impl<A, H, T, E> Walk<'_, A, H, T, E>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
{
    /// One attempt. Says how the walk ends, if it does.
    pub(super) async fn attempt<Fut>(
        &mut self,
        lease: Lease<A, H>,
        view: Option<View>,
        judge: &impl Judge<T, E>,
        body: &mut impl FnMut(Attempt<A, H>) -> Fut,
    ) -> Option<Walked<T, E>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let (attempt, span) = self.begin(&lease);
        let result = within(span.limit, body(attempt)).await;
        self.conclude(lease, view, span, result, judge)
    }

    pub(super) fn begin(&mut self, lease: &Lease<A, H>) -> (Attempt<A, H>, Span) {
        self.attempts += 1;
        let now = lease.began_at().unwrap_or_else(|| self.clock.now());
        let left = self.until.max(self.grace).since(now);
        let limit = self.limits.attempt_timeout.min(left);
        let attempt = Attempt::new(Arc::clone(lease.replica()), self.attempts, now + limit);
        (attempt, Span { limit, cut: left < self.limits.attempt_timeout })
    }

    /// Settles an attempt; `result` is `None` when it took too long. Says how the walk ends, if it does.
    pub(super) fn conclude(
        &mut self,
        mut lease: Lease<A, H>,
        view: Option<View>,
        span: Span,
        result: Option<Result<T, E>>,
        judge: &impl Judge<T, E>,
    ) -> Option<Walked<T, E>> {
        if result.is_none() && span.cut {
            self.record(lease.replica(), view, AttemptResult::CutShort, lease.elapsed());
            return Some(self.out_of_time());
        }
        let verdict = result.as_ref().map_or(Verdict::BROKEN, |result| judge.judge(result));
        let elapsed = if self.diagnostics.is_some() { lease.elapsed() } else { Duration::ZERO };
        let (_, request) = lease.end(&verdict);
        let record = if result.is_some() { AttemptResult::Judged(verdict) } else { AttemptResult::TimedOut };
        self.record(lease.replica(), view, record, elapsed);
        self.record_refresh(Refreshed::Addresses, RefreshReason::MarkedFailed, request, None);
        let may_go_on = self.limits.idempotent || !verdict.sent;
        let gone = verdict.signal.gone();
        if gone.is_some() || (may_go_on && verdict.next == Next::TryNext) {
            self.fail(lease.replica(), verdict.signal, result);
            return match gone {
                None => None,
                Some(Gone::Replica) if may_go_on => None,
                Some(gone) => Some(self.gone(gone, !may_go_on)),
            };
        }
        let replica = || lease.replica().address().to_string();
        Some(Walked::Ended(match result {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(source)) => Err(CallError::Remote { replica: replica(), source }),
            None => Err(CallError::TimedOut { replica: replica(), after: span.limit }),
        }))
    }

    fn fail(&mut self, replica: &Arc<Replica<A, H>>, signal: Signal, result: Option<Result<T, E>>) {
        self.trail.push(FailedAttempt { replica: replica.address().to_string(), signal });
        self.failed.push(Arc::clone(replica));
        self.signal = signal;
        self.last = result;
    }
}

/// Awaits `answer` for `limit` at most. What is ready at once needs no timer.
pub(super) async fn within<F: Future>(limit: Duration, answer: F) -> Option<F::Output> {
    let mut answer = pin!(answer);
    match poll_fn(|cx| Poll::Ready(answer.as_mut().poll(cx))).await {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => timeout(limit, answer).await.ok(),
    }
}
