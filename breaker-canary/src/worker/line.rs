//! The line by which a worker hears of circuits.

use std::{
    fmt,
    future::Future,
    ptr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::{
    Notify,
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

use super::attended::Attended;

/// What a worker is told.
pub(super) enum News<T> {
    /// Something has changed in the circuit, or it is new.
    LookAt(Arc<T>),
    /// Nobody wants the circuit of the owner at this address to be attended to.
    Gone(Address),
}

/// Where an owner lies in memory, which names it for as long as it is known.
pub(super) type Address = usize;

pub(super) fn address<T>(owner: &T) -> Address {
    ptr::from_ref(owner).addr()
}

/// What owners of circuits tell an [`Attendance`](super::Attendance). Cheap to clone; does not keep the worker, and does
/// nothing once it is gone.
pub struct Line<T>(Arc<Ends<T>>);

struct Ends<T> {
    news: UnboundedSender<News<T>>,
    ended: AtomicBool,
    /// Wakes those who wait for a first round.
    first_rounds: Notify,
}

impl<T> Line<T> {
    /// A line, and the worker's end of it.
    pub(super) fn new() -> (Self, Hearing<T>) {
        let (news, hearing) = unbounded_channel();
        let line = Self(Arc::new(Ends { news, ended: AtomicBool::new(false), first_rounds: Notify::new() }));
        (line.clone(), Hearing { news: hearing, line })
    }

    pub(super) fn tell(&self, news: News<T>) {
        // Nobody hears it once the worker has ended, and then nobody needs to.
        drop(self.0.news.send(news));
    }
}

impl<T: Attended> Line<T> {
    /// The worker attends to the circuit of `owner` from now on, until it is [dismissed](Self::dismiss). It does not keep
    /// the owner.
    ///
    /// One worker at a time, and once at a time.
    pub fn attend(&self, owner: &Arc<T>) {
        owner.notes().begin();
        self.tell(News::LookAt(Arc::clone(owner)));
    }

    /// The worker attends to the circuit of `owner` no more. A round of probes that is under way is cut.
    pub fn dismiss(&self, owner: &T) {
        owner.notes().end();
        self.tell(News::Gone(address(owner)));
        // Whoever waits for it waits for nothing.
        self.end_first_round(owner);
    }

    /// The circuit has changed, as its breaker tells its [attendant](breaker_core::Attendant::circuit_changed).
    pub fn changed(&self, owner: Arc<T>) {
        if owner.notes().is_news() {
            self.tell(News::LookAt(owner));
        }
    }

    /// Whether there is nothing to wait for any more: the first round has ended, or was not needed since the
    /// circuit was found not to be open, or will never come since nobody attends to it.
    pub fn first_round_done(&self, owner: &T) -> bool {
        owner.notes().is_first_round_done() || self.0.ended.load(Ordering::Acquire)
    }

    /// Completes when the [first round is done](Self::first_round_done). Does not keep the owner.
    ///
    /// Cancel safe.
    pub fn first_round(&self, owner: &Arc<T>) -> impl Future<Output = ()> + Send + use<T> {
        let (owner, line) = (Arc::downgrade(owner), self.clone());
        async move {
            loop {
                // Listening comes before looking, so that nothing is missed.
                let news = line.0.first_rounds.notified();
                if owner.upgrade().is_none_or(|owner| line.first_round_done(&owner)) {
                    return;
                }
                news.await;
            }
        }
    }

    pub(super) fn end_first_round(&self, owner: &T) {
        if owner.notes().end_first_round() {
            self.0.first_rounds.notify_waiters();
        }
    }
}

impl<T> Clone for Line<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Line<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("ended", &self.0.ended).finish_non_exhaustive()
    }
}

/// The worker's end of a line. When it is dropped nobody will knock any more, so nobody should wait for it.
pub(super) struct Hearing<T> {
    pub(super) news: UnboundedReceiver<News<T>>,
    pub(super) line: Line<T>,
}

impl<T> Drop for Hearing<T> {
    fn drop(&mut self) {
        self.line.0.ended.store(true, Ordering::Release);
        self.line.0.first_rounds.notify_waiters();
    }
}
