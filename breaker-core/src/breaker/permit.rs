use std::{fmt, mem, sync::Arc, time::Duration};

use super::Breaker;
use crate::{Outcome, Timestamp};

/// What a permit remembers of its admission, in two words that fit registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    /// The epoch; 0, which no circuit is ever in, for a call whose result counts for nothing.
    epoch: u64,
    /// When the call began, or [`UNTIMED`]. For a call that does not count: whether it would have been rejected.
    started: u64,
}

const UNTIMED: u64 = u64::MAX;
const WOULD_REJECT: u64 = 1;

impl Ticket {
    pub(super) const fn counted(epoch: u64, started: Option<Timestamp>) -> Self {
        let started = match started {
            Some(started) => started.as_nanos(),
            None => UNTIMED,
        };
        Self { epoch, started }
    }

    pub(super) const fn uncounted(would_reject: bool) -> Self {
        Self { epoch: 0, started: if would_reject { WOULD_REJECT } else { UNTIMED } }
    }

    pub(super) const fn is_counted(self) -> bool {
        self.epoch != 0
    }

    pub(super) const fn epoch(self) -> u64 {
        self.epoch
    }

    pub(super) const fn started(self) -> Option<Timestamp> {
        if self.is_counted() && self.started != UNTIMED {
            Some(Timestamp::from_nanos(self.started))
        } else {
            None
        }
    }

    const fn would_reject(self) -> bool {
        !self.is_counted() && self.started == WOULD_REJECT
    }
}

/// What a result was credited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Settlement {
    /// To the epoch that admitted the call.
    Counted,
    /// To nothing: the circuit has changed its state since the call was admitted.
    Stale,
    /// To nothing: the breaker was disabled, or was only observing and would have rejected the call.
    NotCounted,
}

/// The right to make one call. Settle it with the call's outcome.
///
/// Dropped without a verdict it is [`Outcome::Cancelled`], which gives a half-open place back; with
/// [`abandoned_call_is_failure_after`](super::BreakerBuilder::abandoned_call_is_failure_after) set, one dropped
/// later than that is [`Outcome::Failure`].
#[must_use = "a permit that is dropped at once counts as a cancelled call"]
pub struct Permit<'a> {
    breaker: &'a Breaker,
    ticket: Ticket,
}

impl<'a> Permit<'a> {
    pub(super) const fn new(breaker: &'a Breaker, ticket: Ticket) -> Self {
        Self { breaker, ticket }
    }

    /// Says what became of the call.
    #[inline]
    pub fn settle(self, outcome: Outcome) -> Settlement {
        let (breaker, ticket) = self.into_parts();
        breaker.settle(ticket, outcome, None)
    }

    /// Like [`settle`](Self::settle), with a duration that the caller measured.
    pub fn settle_timed(self, outcome: Outcome, latency: Duration) -> Settlement {
        let (breaker, ticket) = self.into_parts();
        breaker.settle(ticket, outcome, Some(latency))
    }

    /// The epoch in which the call was admitted; `None` when its result will count for nothing.
    pub fn epoch(&self) -> Option<u64> {
        self.ticket.is_counted().then_some(self.ticket.epoch())
    }

    /// Whether the call passed only because the breaker was [observing](crate::Mode::ObserveOnly).
    pub const fn would_reject(&self) -> bool {
        self.ticket.would_reject()
    }

    /// The permit alone, for those who reach the breaker in a way of their own and can't keep it borrowed.
    #[inline]
    pub fn detach(self) -> DetachedPermit {
        DetachedPermit(self.into_parts().1)
    }

    #[inline]
    fn into_parts(self) -> (&'a Breaker, Ticket) {
        let parts = (self.breaker, self.ticket);
        mem::forget(self);
        parts
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.breaker.abandon(self.ticket);
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}

/// A [`Permit`] apart from its breaker, which must [take it back](Breaker::attach): the call of one that is lost is never
/// settled, and its half-open place, if it has one, comes back only when the strategy's lease of it ends.
#[derive(Debug)]
#[must_use = "a permit that is lost keeps its place"]
pub struct DetachedPermit(Ticket);

impl DetachedPermit {
    #[inline]
    pub(super) const fn into_ticket(self) -> Ticket {
        self.0
    }
}

/// A [`Permit`] that holds its breaker, to cross tasks and threads.
#[must_use = "a permit that is dropped at once counts as a cancelled call"]
pub struct OwnedPermit {
    /// Present until the permit is settled.
    breaker: Option<Arc<Breaker>>,
    ticket: Ticket,
}

impl OwnedPermit {
    pub(super) const fn new(breaker: Arc<Breaker>, ticket: Ticket) -> Self {
        Self { breaker: Some(breaker), ticket }
    }

    /// Says what became of the call.
    pub fn settle(mut self, outcome: Outcome) -> Settlement {
        self.finish(outcome, None)
    }

    /// Like [`settle`](Self::settle), with a duration that the caller measured.
    pub fn settle_timed(mut self, outcome: Outcome, latency: Duration) -> Settlement {
        self.finish(outcome, Some(latency))
    }

    fn finish(&mut self, outcome: Outcome, latency: Option<Duration>) -> Settlement {
        self.breaker
            .take()
            .map_or(Settlement::NotCounted, |breaker| breaker.settle(self.ticket, outcome, latency))
    }

    /// The epoch in which the call was admitted; `None` when its result will count for nothing.
    pub fn epoch(&self) -> Option<u64> {
        self.ticket.is_counted().then_some(self.ticket.epoch())
    }

    /// Whether the call passed only because the breaker was [observing](crate::Mode::ObserveOnly).
    pub fn would_reject(&self) -> bool {
        self.ticket.would_reject()
    }
}

impl Drop for OwnedPermit {
    fn drop(&mut self) {
        if let Some(breaker) = self.breaker.take() {
            breaker.abandon(self.ticket);
        }
    }
}

impl fmt::Debug for OwnedPermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}
