//! The breaker: one strategy behind a gate.

mod attend;
mod builder;
mod call;
mod core;
mod gate;
#[cfg(feature = "testing")]
mod inspect;
mod manual;
mod permit;
mod probe;
mod snapshot;
mod wait;

use std::{fmt, ops::DerefMut, panic, panic::AssertUnwindSafe, sync::Arc, time::Duration};

pub use self::{
    attend::Attendant,
    builder::{BreakerBuilder, BuildError},
    call::CallError,
    permit::{DetachedPermit, OwnedPermit, Permit, Settlement},
    probe::ProbeTicket,
    snapshot::{Snapshot, Status},
};

use self::{
    builder::Setup,
    core::Core,
    gate::{Gate, Start, Word},
    permit::Ticket,
};
use crate::{
    Circuit, Clock, Mode, Now, Outcome, Rejection, RejectionReason, Report, State, Tick, Timestamp,
    config::Blueprint,
    sync::{Mutex, Notify, lock, wake_all},
};

/// A circuit breaker: decides which calls to a remote may pass, and learns from their results.
///
/// It can be shared freely; every method takes `&self` and none blocks for longer than a strategy takes to
/// count a result. Admission to a closed circuit and rejection by an open one take no lock, and neither does a
/// success in a [steady](crate::Strategy::steady) circuit: on the healthy path nothing is written.
///
/// ```
/// use std::time::Duration;
/// use breaker_core::{Breaker, Outcome, config::NonResilient};
///
/// let breaker = Breaker::builder(NonResilient::default()).build()?;
/// match breaker.acquire() {
///     Ok(permit) => {
///         // … the call …
///         permit.settle(Outcome::Success);
///     }
///     Err(rejection) => println!("{rejection}"),
/// }
/// # Ok::<(), breaker_core::BuildError>(())
/// ```
// In this order in memory: what every call reads lies together.
#[repr(C)]
pub struct Breaker {
    gate: Gate,
    setup: Arc<Setup>,
    changed: Notify,
    core: Mutex<Core>,
}

impl Breaker {
    /// The name that it was built with, or else the one that its [attendant](Self::attend) has for it.
    pub fn name(&self) -> Option<Arc<str>> {
        match &self.setup.name {
            Some(name) => Some(Arc::clone(name)),
            None => self.attendant()?.name(),
        }
    }

    /// The clock that it reads.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.setup.clock
    }

    /// The settings that its strategy was built from.
    pub fn blueprint(&self) -> &Blueprint {
        &self.setup.blueprint
    }

    /// Admits a call, or says why not.
    ///
    /// The permit is to be [settled](Permit::settle) with what became of the call; dropped, it counts as
    /// [`Outcome::Cancelled`].
    ///
    /// # Errors
    ///
    /// A [`Rejection`] when the circuit is open, half-open with no place free, or forced open.
    #[inline]
    pub fn acquire(&self) -> Result<Permit<'_>, Rejection> {
        self.ticket().map(|ticket| Permit::new(self, ticket))
    }

    /// Like [`acquire`](Self::acquire), for a permit that crosses tasks and threads.
    ///
    /// # Errors
    ///
    /// As for [`acquire`](Self::acquire).
    pub fn acquire_owned(self: &Arc<Self>) -> Result<OwnedPermit, Rejection> {
        self.ticket().map(|ticket| OwnedPermit::new(Arc::clone(self), ticket))
    }

    /// Like [`acquire`](Self::acquire), for a call that began at `started`: for callers that have read the
    /// [clock](Self::clock) already.
    ///
    /// # Errors
    ///
    /// As for [`acquire`](Self::acquire).
    #[inline]
    pub fn acquire_at(&self, started: Timestamp) -> Result<Permit<'_>, Rejection> {
        let word = self.gate.word();
        let ticket = if word.passes() {
            Ticket::counted(word.epoch(), (word.start() != Start::Unread).then_some(started))
        } else {
            self.ticket_slow(word)?
        };
        Ok(Permit::new(self, ticket))
    }

    /// A permit that was [detached](Permit::detach) from this breaker, whole again.
    #[inline]
    pub fn attach(&self, permit: DetachedPermit) -> Permit<'_> {
        Permit::new(self, permit.into_ticket())
    }

    #[inline]
    fn ticket(&self) -> Result<Ticket, Rejection> {
        let word = self.gate.word();
        if word.passes() {
            let started = self.started(word);
            return Ok(Ticket::counted(word.epoch(), started));
        }
        self.ticket_slow(word)
    }

    #[inline]
    fn started(&self, word: Word) -> Option<Timestamp> {
        match word.start() {
            Start::Unread => None,
            Start::Coarsely => Some(self.setup.clock.coarse()),
            Start::Closely => Some(self.setup.clock.now()),
        }
    }

    #[inline(never)]
    fn ticket_slow(&self, word: Word) -> Result<Ticket, Rejection> {
        match word.mode() {
            Mode::ForcedOpen => return Err(Rejection::new(RejectionReason::ForcedOpen, None)),
            Mode::Disabled => return Ok(Ticket::uncounted(false)),
            Mode::ObserveOnly => {}
            Mode::Automatic => {
                if let Some((word, deadline)) = self.gate.read()
                    && word.mode() == Mode::Automatic
                    && let Some(reason) = refusal(word)
                    && deadline.is_none_or(|at| !self.setup.clock.has_come(at))
                {
                    return Err(Rejection::new(reason, deadline));
                }
            }
        }
        self.locked(|core, now| {
            match core.mode {
                Mode::ForcedOpen => return Err(Rejection::new(RejectionReason::ForcedOpen, None)),
                Mode::Disabled => return Ok(Ticket::uncounted(false)),
                Mode::Automatic | Mode::ObserveOnly => {}
            }
            core.advance(now);
            if core.admit(now) {
                return Ok(Ticket::counted(core.epoch, self.started(word)));
            }
            if core.mode == Mode::ObserveOnly {
                core.count_would_reject();
                return Ok(Ticket::uncounted(true));
            }
            let state = core.state();
            let reason = match state {
                State::Open { .. } => RejectionReason::Open,
                State::Closed | State::HalfOpen { .. } => RejectionReason::NoPlace,
            };
            Err(Rejection::new(reason, state.until()))
        })
    }

    #[inline]
    fn settle(&self, ticket: Ticket, outcome: Outcome, latency: Option<Duration>) -> Settlement {
        let word = self.gate.word();
        if ticket.is_counted() && ticket.epoch() == word.epoch() {
            let nothing_to_tell = match outcome {
                Outcome::Success => word.is_steady(),
                Outcome::Failure => false,
                Outcome::Ignored | Outcome::Cancelled => word.passes(),
            };
            if nothing_to_tell {
                return Settlement::Counted;
            }
        }
        self.settle_slow(ticket, outcome, latency)
    }

    #[inline(never)]
    fn settle_slow(&self, ticket: Ticket, outcome: Outcome, latency: Option<Duration>) -> Settlement {
        if !ticket.is_counted() {
            return Settlement::NotCounted;
        }
        let now = Now::of(&*self.setup.clock);
        let latency = || {
            latency.or_else(|| {
                let started = ticket.started().filter(|_| self.gate.word().start() == Start::Closely)?;
                Some(now.get().since(started))
            })
        };
        let mut core = lock(&self.core);
        if core.is_plainly_closed() && ticket.epoch() == core.epoch {
            // Most results: nothing is due by time, nobody waits for what they do, and the circuit stays as it is.
            let report = Report::new(outcome).with_latency(latency());
            if let Some(steady) = core.strategy.settle_closed(&report, &now) {
                self.gate.set_steady(steady);
                return Settlement::Counted;
            }
            core.note(Tick::SameEpoch, || now.get());
            self.unlock(core);
            return Settlement::Counted;
        }
        core.advance(&now);
        let settlement = if ticket.epoch() == core.epoch {
            core.settle(outcome, latency(), &now);
            Settlement::Counted
        } else {
            if matches!(outcome, Outcome::Success | Outcome::Failure) {
                core.count_stale();
            }
            Settlement::Stale
        };
        self.unlock(core);
        settlement
    }

    fn abandon(&self, ticket: Ticket) {
        let outlived = ticket
            .started()
            .zip(self.setup.abandoned_after)
            .is_some_and(|(started, limit)| self.setup.clock.now().since(started) >= limit);
        self.settle(ticket, if outlived { Outcome::Failure } else { Outcome::Cancelled }, None);
    }

    /// Runs one operation under the lock, publishes what it left, then wakes and tells others outside it.
    fn locked<R>(&self, operation: impl FnOnce(&mut Core, &Now<'_>) -> R) -> R {
        let now = Now::of(&*self.setup.clock);
        let mut core = lock(&self.core);
        let result = operation(&mut core, &now);
        self.unlock(core);
        result
    }

    fn unlock(&self, mut core: impl DerefMut<Target = Core>) {
        core.publish(&self.gate);
        let (wake, news) = (std::mem::take(&mut core.wake), core.has_events() && !core.draining);
        let attendant = if wake { core.attendant.clone() } else { None };
        drop(core);
        if wake {
            wake_all(&self.changed);
        }
        if let Some(attendant) = attendant.and_then(|attendant| attendant.upgrade()) {
            attendant.circuit_changed();
        }
        if news {
            self.deliver();
        }
    }

    /// Hands out queued events, one at a time. Whoever comes while someone else is at it leaves it to them.
    #[inline(never)]
    fn deliver(&self) {
        let mut core = lock(&self.core);
        if core.draining {
            return;
        }
        core.draining = true;
        let mut telling = Telling { breaker: self, ended: false };
        while let Some(mut event) = core.next_event() {
            drop(core);
            event.name = panic::catch_unwind(AssertUnwindSafe(|| self.name())).unwrap_or_else(|_| {
                tracing::error!("an attendant panicked when it was asked for the name of its circuit");
                None
            });
            tracing::debug!(name = event.name.as_deref(), epoch = event.epoch, "{event}");
            for observer in &*self.setup.observers {
                if panic::catch_unwind(AssertUnwindSafe(|| observer.on_event(&event))).is_err() {
                    tracing::error!(name = event.name.as_deref(), "an observer panicked at: {event}");
                }
            }
            core = lock(&self.core);
        }
        core.draining = false;
        telling.ended = true;
    }
}

/// Someone hands out events. Should a log panic meanwhile, the next one goes on.
struct Telling<'a> {
    breaker: &'a Breaker,
    ended: bool,
}

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        if !self.ended {
            lock(&self.breaker.core).draining = false;
        }
    }
}

/// Why a strategy in charge rejects calls without being asked.
fn refusal(word: Word) -> Option<RejectionReason> {
    match (word.mode(), word.circuit()) {
        (Mode::Automatic, Circuit::Open) => Some(RejectionReason::Open),
        (Mode::Automatic, Circuit::HalfOpen) if word.is_full() => Some(RejectionReason::NoPlace),
        _ => None,
    }
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker")
            .field("name", &self.name())
            .field("state", &self.state())
            .field("mode", &self.mode())
            .field("blueprint", &self.setup.blueprint)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, not(loom)))]
mod tests;
