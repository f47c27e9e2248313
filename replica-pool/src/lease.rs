use std::{fmt, future::pending, sync::Arc, time::Duration};

use breaker_core::{Outcome, OwnedPermit, Rejection, Settlement, Timestamp};

use tokio::time::timeout;

use crate::{
    Address, HealthStatus, Replica, Signal, Verdict, health::HealthEpoch, partition::Partition,
    refresher::Request, waiting::Sending,
};

/// A replica that [`select`](crate::ReplicaPool::select) found, to send a request to.
pub struct Candidate<A, H = ()> {
    partition: Arc<Partition<A, H>>,
    replica: Arc<Replica<A, H>>,
    version: u64,
}

impl<A: Address, H: Send + Sync + 'static> Candidate<A, H> {
    pub(crate) fn new(partition: Arc<Partition<A, H>>, replica: Arc<Replica<A, H>>, version: u64) -> Self {
        Self { partition, replica, version }
    }

    /// The replica.
    pub fn replica(&self) -> &Arc<Replica<A, H>> {
        &self.replica
    }

    /// Begins an attempt, if the replica's circuit admits it.
    ///
    /// # Errors
    ///
    /// The circuit's [`Rejection`].
    pub fn begin(&self) -> Result<Lease<A, H>, Rejection> {
        let now = self.partition.now();
        let permit = self.replica.breaker().acquire_owned_at(now)?;
        Ok(Lease::new(
            Arc::clone(&self.partition),
            Arc::clone(&self.replica),
            self.version,
            now,
            Some(permit),
        ))
    }
}

impl<A: Address, H> fmt::Debug for Candidate<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate").field("replica", &self.replica).finish_non_exhaustive()
    }
}

/// One attempt under way. [Finish](Self::finish) it with the verdict.
///
/// Dropped without one, it gives its place back; after `abandonedCallIsFailureAfter` it counts as a failure
/// of its replica, since a timeout placed outside the pool must not blind it.
#[must_use = "an attempt that is dropped at once counts as cancelled"]
pub struct Lease<A: Address, H: Send + Sync + 'static = ()> {
    partition: Arc<Partition<A, H>>,
    replica: Arc<Replica<A, H>>,
    /// Absent when the attempt is made without asking the circuit, or was settled.
    permit: Option<OwnedPermit>,
    /// Absent once it is finished.
    began: Option<Began>,
}

#[derive(Clone, Copy, Debug)]
struct Began {
    at: Timestamp,
    epoch: HealthEpoch,
    version: u64,
    /// Its place among the calls that wait for the replica, where that is looked at.
    sending: Option<Sending>,
}

impl<A: Address, H: Send + Sync + 'static> Lease<A, H> {
    pub(crate) fn new(
        partition: Arc<Partition<A, H>>,
        replica: Arc<Replica<A, H>>,
        version: u64,
        at: Timestamp,
        permit: Option<OwnedPermit>,
    ) -> Self {
        let sending = replica.waiting().map(|waiting| waiting.begin(at));
        let began = Began { at, epoch: replica.mark().epoch(), version, sending };
        Self { partition, replica, permit, began: Some(began) }
    }

    /// The replica.
    pub fn replica(&self) -> &Arc<Replica<A, H>> {
        &self.replica
    }

    /// Gives the verdict: settles the circuit, then marks the replica and asks for its addresses if the
    /// signal says so. [`Settlement::Stale`] when the circuit has changed its state since the attempt began.
    pub fn finish(mut self, verdict: &Verdict) -> Settlement {
        self.end(verdict).0
    }

    pub(crate) fn end(&mut self, verdict: &Verdict) -> (Settlement, Request) {
        let settlement =
            self.permit.take().map_or(Settlement::NotCounted, |permit| permit.settle(verdict.outcome));
        let Some(began) = self.began.take() else { return (settlement, Request::Served) };
        self.wait_no_more(began, verdict.signal != Signal::Unreachable);
        if verdict.signal.marks() {
            return (settlement, self.mark(began));
        }
        if verdict.outcome == Outcome::Success && !self.partition.fixed {
            self.replica.connected(began.epoch);
        }
        (settlement, Request::Served)
    }

    fn mark(&self, began: Began) -> Request {
        if self.partition.fixed {
            return Request::Served;
        }
        let news = self.replica.failed(began.epoch, self.partition.shared.config.unhealthy_timeout());
        if !news && self.replica.health() != HealthStatus::Unhealthy {
            // It began before the gateway, or another call, found the replica to be there.
            return Request::Served;
        }
        self.partition.marked(began.version, &self.replica, news)
    }

    fn wait_no_more(&self, began: Began, answered: bool) {
        let (Some(waiting), Some(sending)) = (self.replica.waiting(), began.sending) else { return };
        let now = answered.then(|| self.partition.now());
        waiting.end(sending, now);
        if let (Some(now), Some(hedging)) = (now, &self.partition.shared.hedging) {
            hedging.answered(now.since(began.at));
        }
    }

    /// A rival was faster. The attempt's own answer will not be seen any more, but the circuit must not be
    /// blinded: the permit is kept, and the attempt goes on waiting in the eyes of suspicion. It is cancelled
    /// once its replica answers a call that was sent no earlier, and a failure after `limit` from its start.
    pub(crate) fn park(mut self, limit: Duration) {
        let partition = Arc::clone(&self.partition);
        partition.shared.tasks.spawn(async move {
            let Some(began) = self.began else { return };
            let replica = Arc::clone(&self.replica);
            let answered = async {
                match (replica.waiting(), began.sending) {
                    (Some(waiting), Some(sending)) => waiting.answered_since(sending).await,
                    _ => pending().await,
                }
            };
            if timeout(limit.saturating_sub(self.elapsed()), answered).await.is_ok() {
                self.cancel();
            } else {
                self.end(&Verdict::BROKEN);
            }
        });
    }

    fn cancel(&mut self) {
        if let Some(began) = self.began.take() {
            self.wait_no_more(began, false);
        }
        if let Some(permit) = self.permit.take() {
            permit.settle(Outcome::Cancelled);
        }
    }

    /// When the attempt began, unless it is finished.
    pub(crate) fn began_at(&self) -> Option<Timestamp> {
        self.began.map(|began| began.at)
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.map_or(Duration::ZERO, |began| self.partition.now().since(began.at))
    }
}

impl<A: Address, H: Send + Sync + 'static> Drop for Lease<A, H> {
    fn drop(&mut self) {
        let limit = self.partition.shared.config.abandoned_call_is_failure_after();
        let outlived = self.elapsed() >= limit;
        // Dropping the permit settles the circuit by the same limit.
        drop(self.permit.take());
        if let Some(began) = self.began.take() {
            self.wait_no_more(began, false);
            if outlived {
                let _ = self.mark(began);
            }
        }
    }
}

impl<A: Address, H: Send + Sync + 'static> fmt::Debug for Lease<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("replica", &self.replica)
            .field("began", &self.began)
            .finish_non_exhaustive()
    }
}
