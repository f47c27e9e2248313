use std::{error::Error, fmt, future::Future, sync::Arc, time::Duration};

use breaker_core::Clock;

use crate::{
    Address, Attempt, CallError, Diagnostics, IoJudge, Judge, config::PoolConfig, recovery::recover,
    route::Route, walk::Walk,
};

/// A call to be made: its limits, its judge, and who wants to know what it saw. Made by
/// [`ReplicaPool::request`](crate::ReplicaPool::request) and
/// [`PartitionedPool::request`](crate::PartitionedPool::request); `R` is how it finds its replicas.
#[must_use = "a request does nothing until it is called"]
pub struct Request<'a, R, J = IoJudge> {
    route: R,
    clock: &'a Arc<dyn Clock>,
    judge: J,
    limits: Limits,
    diagnostics: Option<&'a mut Diagnostics>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) idempotent: bool,
    pub(crate) deadline: Duration,
    pub(crate) attempt_timeout: Duration,
    pub(crate) max_attempts: Option<usize>,
}

impl<'a, R> Request<'a, R> {
    pub(crate) fn new(route: R, clock: &'a Arc<dyn Clock>, config: &PoolConfig) -> Self {
        let limits = Limits {
            idempotent: false,
            deadline: config.deadline(),
            attempt_timeout: config.attempt_timeout(),
            max_attempts: config.max_attempts(),
        };
        Self { route, clock, judge: IoJudge::default(), limits, diagnostics: None }
    }
}

impl<'a, R, J> Request<'a, R, J> {
    /// Whether the call may be made twice. Unless it may, it is not tried again once the remote may have received it.
    /// Default: no.
    pub const fn idempotent(mut self, idempotent: bool) -> Self {
        self.limits.idempotent = idempotent;
        self
    }

    /// The longest that the whole call may take. Default: the pool's `deadline`.
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.limits.deadline = deadline;
        self
    }

    /// The longest that one attempt may take. Default: the pool's `attemptTimeout`.
    pub const fn attempt_timeout(mut self, limit: Duration) -> Self {
        self.limits.attempt_timeout = limit;
        self
    }

    /// The most attempts, at least one. Default: the pool's `maxAttempts`, and without that every candidate once, and once
    /// more when all of them failed and the addresses were asked for again.
    pub const fn max_attempts(mut self, attempts: usize) -> Self {
        self.limits.max_attempts = Some(if attempts == 0 { 1 } else { attempts });
        self
    }

    /// Who finds the verdict on each attempt. Default: [`IoJudge`].
    pub fn judge<K>(self, judge: K) -> Request<'a, R, K> {
        let Self { route, clock, limits, diagnostics, .. } = self;
        Request { route, clock, judge, limits, diagnostics }
    }

    /// Where to write down what the call saw. Written to as the call goes on, so it is of use even when the call is
    /// dropped.
    pub fn diagnostics(mut self, diagnostics: &'a mut Diagnostics) -> Self {
        self.diagnostics = Some(diagnostics);
        self
    }

    /// Makes the call: `body` once for each attempt, until one of them brings an answer.
    ///
    /// Cancel safe: a call dropped at any point leaks nothing. The attempt under way counts as cancelled, or as
    /// a failure of its replica after `abandonedCallIsFailureAfter`. The same holds when `body` or the judge panics; the
    /// panic goes on to the caller.
    ///
    /// # Errors
    ///
    /// See [`CallError`].
    #[expect(private_bounds, reason = "requests find their replicas in the ways that this crate knows")]
    pub async fn call<A, H, T, E, Fut>(
        self,
        body: impl FnMut(Attempt<A, H>) -> Fut,
    ) -> Result<T, CallError<E>>
    where
        A: Address,
        H: Send + Sync + 'static,
        E: Error + 'static,
        Fut: Future<Output = Result<T, E>>,
        R: Route<A, H>,
        J: Judge<T, E>,
    {
        let walk = Walk::new(&**self.clock, self.limits, self.diagnostics);
        recover(&self.route, walk, &self.judge, body).await
    }
}

impl<R, J> fmt::Debug for Request<'_, R, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("limits", &self.limits).finish_non_exhaustive()
    }
}
