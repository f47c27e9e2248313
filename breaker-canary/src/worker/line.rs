//! What registrations and their worker share: the line by which it hears of them.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use tokio::sync::{
    Notify,
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

use super::registration::Entry;

/// What a worker is told.
pub(super) enum News<T> {
    /// Something has changed in the circuit, or it is new.
    LookAt(Arc<Entry<T>>),
    /// The registration of this number is gone.
    Gone(u64),
}

pub(super) struct Line<T> {
    news: UnboundedSender<News<T>>,
    numbers: AtomicU64,
    ended: AtomicBool,
    /// Wakes those who wait for a first round.
    first_rounds: Notify,
}

impl<T> Line<T> {
    /// A line, and the worker's end of it.
    pub(super) fn new() -> (Arc<Self>, Hearing<T>) {
        let (news, hearing) = unbounded_channel();
        let (numbers, ended) = (AtomicU64::new(0), AtomicBool::new(false));
        let line = Arc::new(Self { news, numbers, ended, first_rounds: Notify::new() });
        (Arc::clone(&line), Hearing { news: hearing, line })
    }

    /// The number of the next registration.
    pub(super) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn tell(&self, news: News<T>) {
        // Nobody hears it once the worker has ended, and then nobody needs to.
        drop(self.news.send(news));
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(super) fn first_rounds(&self) -> &Notify {
        &self.first_rounds
    }
}

/// The worker's end of a line. When it is dropped nobody will knock any more, so nobody should wait for it.
pub(super) struct Hearing<T> {
    pub(super) news: UnboundedReceiver<News<T>>,
    line: Arc<Line<T>>,
}

impl<T> Drop for Hearing<T> {
    fn drop(&mut self) {
        self.line.ended.store(true, Ordering::Release);
        self.line.first_rounds.notify_waiters();
    }
}
