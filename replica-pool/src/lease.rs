use std::{fmt, sync::Arc, time::Duration};

use breaker_core::{Outcome, OwnedPermit, Rejection, Settlement, Timestamp};

use crate::{
    Address, HealthStatus, Replica, Verdict, health::HealthEpoch, partition::Partition, refresher::Request,
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
        let permit = self.replica.breaker().acquire_owned()?;
        Ok(Lease::new(Arc::clone(&self.partition), Arc::clone(&self.replica), self.version, Some(permit)))
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
}

impl<A: Address, H: Send + Sync + 'static> Lease<A, H> {
    pub(crate) fn new(
        partition: Arc<Partition<A, H>>,
        replica: Arc<Replica<A, H>>,
        version: u64,
        permit: Option<OwnedPermit>,
    ) -> Self {
        let began = Began { at: partition.now(), epoch: replica.mark().epoch(), version };
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
        if let Some(began) = self.began.take().filter(|_| outlived) {
            let _ = self.mark(began);
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
