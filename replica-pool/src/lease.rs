use std::{fmt, future::pending, num::NonZeroU64, sync::Arc, time::Duration};

use breaker_core::{Clock, DetachedPermit, Outcome, Permit, Rejection, Settlement, Timestamp};
use tokio::time::timeout;

use crate::{
    Address, HealthStatus, Replica, ReplicaSet, Signal, Verdict, health::HealthEpoch, refresher::Request,
    set::Place, waiting::Sending,
};

/// A replica that [`select`](crate::ReplicaPool::select) found, to send a request to.
pub struct Candidate<A, H = ()> {
    set: Arc<ReplicaSet<A, H>>,
    index: usize,
}

impl<A: Address, H: Send + Sync + 'static> Candidate<A, H> {
    pub(crate) fn new(set: Arc<ReplicaSet<A, H>>, index: usize) -> Self {
        Self { set, index }
    }

    /// The replica.
    pub fn replica(&self) -> &Arc<Replica<A, H>> {
        &self.set.replicas()[self.index]
    }

    /// Begins an attempt, if the replica's circuit admits it.
    ///
    /// # Errors
    ///
    /// The circuit's [`Rejection`].
    pub fn begin(&self) -> Result<Lease<A, H>, Rejection> {
        Lease::begin(Place::shared(&self.set, self.index)).map_err(|(_, rejection)| rejection)
    }
}

impl<A: Address, H> fmt::Debug for Candidate<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate").field("replica", &self.set.replicas()[self.index]).finish_non_exhaustive()
    }
}

/// One attempt under way. [Finish](Self::finish) it with the verdict.
///
/// Dropped without one, it gives its place back; after `abandonedCallIsFailureAfter` it counts as a failure
/// of its replica, since a timeout placed outside the pool must not blind it.
#[must_use = "an attempt that is dropped at once counts as cancelled"]
pub struct Lease<A: Address, H: Send + Sync + 'static = ()> {
    place: Place<A, H>,
    /// Absent when the attempt is made without asking the circuit, or was settled.
    permit: Option<DetachedPermit>,
    /// Absent once it is finished.
    began: Option<Began>,
}

#[derive(Clone, Copy, Debug)]
struct Began {
    at: Timestamp,
    epoch: HealthEpoch,
    /// Its number among the calls that wait for the replica, where that is looked at.
    number: Option<NonZeroU64>,
}

impl Began {
    fn sending(self) -> Option<Sending> {
        self.number.map(|number| Sending::new(self.at, number))
    }
}

// Where beginning and ending are not inlined, the whole lease goes through memory: a tenth of a pick.
/// Who goes on to where a partition is when an attempt has found it gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follows {
    Caller,
    Nobody,
}

impl<A: Address, H: Send + Sync + 'static> Lease<A, H> {
    /// Begins an attempt now, if the replica's circuit admits it.
    #[inline(always)]
    pub(crate) fn begin(place: Place<A, H>) -> Result<Self, (Place<A, H>, Rejection)> {
        let (replica, clock) = (place.replica(), place.replica().breaker().clock());
        // For the age of a call that is dropped, a tick of the system more or less does not matter.
        let now = if replica.waiting().is_some() { clock.now() } else { clock.coarse() };
        Self::begin_at(place, now)
    }

    /// Begins an attempt at `now`, if the replica's circuit admits it.
    #[inline(always)]
    pub(crate) fn begin_at(place: Place<A, H>, now: Timestamp) -> Result<Self, (Place<A, H>, Rejection)> {
        match place.replica().breaker().acquire_at(now).map(Permit::detach) {
            Ok(permit) => Ok(Self::new(place, now, Some(permit))),
            Err(rejection) => Err((place, rejection)),
        }
    }

    /// An attempt that the circuit is not asked about.
    pub(crate) fn unasked(place: Place<A, H>, now: Timestamp) -> Self {
        Self::new(place, now, None)
    }

    #[inline(always)]
    fn new(place: Place<A, H>, at: Timestamp, permit: Option<DetachedPermit>) -> Self {
        let replica = place.replica();
        let number = replica.waiting().map(|waiting| waiting.begin(at));
        let began = Some(Began { at, epoch: replica.mark().epoch(), number });
        Self { place, permit, began }
    }

    /// The replica.
    pub fn replica(&self) -> &Arc<Replica<A, H>> {
        self.place.replica()
    }

    /// Gives the verdict: settles the circuit, then marks the replica and asks for its addresses, or for the routing map, if the
    /// signal says so. [`Settlement::Stale`] when the circuit has changed its state since the attempt began.
    #[inline(always)]
    pub fn finish(mut self, verdict: &Verdict) -> Settlement {
        self.end_for(verdict, Follows::Nobody).0
    }

    #[inline(always)]
    pub(crate) fn end(&mut self, verdict: &Verdict) -> (Settlement, Request) {
        self.end_for(verdict, Follows::Caller)
    }

    #[inline(always)]
    fn end_for(&mut self, verdict: &Verdict, follows: Follows) -> (Settlement, Request) {
        let settlement = self.settle(verdict.outcome);
        let Some(began) = self.began.take() else { return (settlement, Request::Served) };
        self.wait_no_more(began, verdict.signal != Signal::Unreachable);
        if verdict.outcome == Outcome::Success && verdict.signal == Signal::None {
            self.connected(began);
            return (settlement, Request::Served);
        }
        (settlement, self.end_badly(began, verdict, follows))
    }

    #[inline(always)]
    fn connected(&self, began: Began) {
        if !self.place.is_fixed() {
            self.replica().connected(began.epoch);
        }
    }

    #[cold]
    fn end_badly(&self, began: Began, verdict: &Verdict, follows: Follows) -> Request {
        if let Some(gone) = verdict.signal.gone()
            && follows == Follows::Nobody
            && let Some(partition) = self.place.partition()
        {
            partition.found_gone(gone, self.place.version());
        }
        let request = if verdict.signal.marks() {
            self.mark(began)
        } else {
            if verdict.outcome == Outcome::Success {
                self.connected(began);
            }
            Request::Served
        };
        if verdict.outcome == Outcome::Failure {
            self.look_after_circuit();
        }
        request
    }

    /// When the failure has opened the circuit, no more calls may find out where the replica lives, should it move.
    fn look_after_circuit(&self) {
        if self.replica().breaker().is_tripped()
            && let Some(partition) = self.place.partition()
        {
            partition.ask_about_open_circuits();
        }
    }

    #[inline]
    fn settle(&mut self, outcome: Outcome) -> Settlement {
        self.permit.take().map_or(Settlement::NotCounted, |permit| {
            self.place.replica().breaker().attach(permit).settle(outcome)
        })
    }

    fn mark(&self, began: Began) -> Request {
        let (replica, Some(partition)) = (self.replica(), self.place.partition()) else {
            return Request::Served;
        };
        if self.place.is_fixed() {
            return Request::Served;
        }
        let news = replica.failed(began.epoch, partition.shared.config.unhealthy_timeout());
        if !news && replica.health() != HealthStatus::Unhealthy {
            // It began before the gateway, or another call, found the replica to be there.
            return Request::Served;
        }
        partition.marked(self.place.version(), replica, news)
    }

    #[inline]
    fn wait_no_more(&self, began: Began, answered: bool) {
        if began.number.is_some() {
            self.stop_waiting(began, answered);
        }
    }

    fn stop_waiting(&self, began: Began, answered: bool) {
        let (Some(waiting), Some(sending)) = (self.replica().waiting(), began.sending()) else { return };
        let now = answered.then(|| self.clock().now());
        waiting.end(sending, now);
        let Some(now) = now else { return };
        if let Some(partition) = self.place.partition()
            && let Some(hedging) = &partition.shared.hedging
        {
            hedging.answered(now.since(began.at));
        }
    }

    /// A rival was faster. The attempt's own answer will not be seen any more, but the circuit must not be
    /// blinded: the permit is kept, and the attempt goes on waiting in the eyes of suspicion. It is cancelled
    /// once its replica answers a call that was sent no earlier, and a failure after `limit` from its start.
    pub(crate) fn park(mut self, limit: Duration) {
        let Some(partition) = self.place.partition() else { return };
        let tasks = &partition.shared.tasks;
        tasks.spawn(async move {
            let Some(began) = self.began else { return };
            let replica = Arc::clone(self.replica());
            let answered = async {
                match (replica.waiting(), began.sending()) {
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

    /// It has told nothing.
    pub(crate) fn cancel(mut self) {
        if let Some(began) = self.began.take() {
            self.wait_no_more(began, false);
        }
        self.settle(Outcome::Cancelled);
    }

    /// When the attempt began, unless it is finished.
    pub(crate) fn began_at(&self) -> Option<Timestamp> {
        self.began.map(|began| began.at)
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.map_or(Duration::ZERO, |began| self.clock().now().since(began.at))
    }

    fn clock(&self) -> &dyn Clock {
        &**self.replica().breaker().clock()
    }

    /// Nobody gave a verdict.
    #[cold]
    fn abandon(&mut self) {
        let limit = self.place.partition().map(|home| home.shared.config.abandoned_call_is_failure_after());
        let outlived = limit.is_some_and(|limit| self.elapsed() >= limit);
        if let Some(permit) = self.permit.take() {
            // Dropping it settles the circuit by the same limit.
            drop(self.place.replica().breaker().attach(permit));
        }
        if let Some(began) = self.began.take() {
            self.wait_no_more(began, false);
            if outlived {
                let _ = self.mark(began);
                self.look_after_circuit();
            }
        }
    }
}

impl<A: Address, H: Send + Sync + 'static> Drop for Lease<A, H> {
    #[inline]
    fn drop(&mut self) {
        if self.began.is_some() {
            self.abandon();
        }
    }
}

impl<A: Address, H: Send + Sync + 'static> fmt::Debug for Lease<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("replica", self.replica())
            .field("began", &self.began)
            .finish_non_exhaustive()
    }
}
