//! Calls that wait for a replica. Kept only where the settings look at them.

use std::{
    collections::BTreeSet,
    num::NonZeroU64,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use breaker_core::Timestamp;
use tokio::sync::Notify;

/// The calls that wait for one replica, and when it answered last.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// When they were sent, each with a number of its own.
    sent: Mutex<Sent>,
    /// When the oldest was sent, in nanoseconds; `u64::MAX`: there is none.
    oldest: AtomicU64,
    /// When the last answer came, in nanoseconds; 0: never.
    answered: AtomicU64,
    /// When the youngest of the answered calls was sent.
    youngest_answered: AtomicU64,
    /// Wakes calls that were overtaken when an answer comes.
    news: Notify,
}

#[derive(Debug)]
struct Sent {
    calls: BTreeSet<(Timestamp, NonZeroU64)>,
    /// The youngest one's.
    numbers: NonZeroU64,
}

/// One call that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sending(Timestamp, NonZeroU64);

impl Sending {
    /// The call that began at `at` and was given `number`.
    pub(crate) const fn new(at: Timestamp, number: NonZeroU64) -> Self {
        Self(at, number)
    }
}

impl Waiting {
    pub(crate) fn new() -> Self {
        Self {
            sent: Mutex::new(Sent { calls: BTreeSet::new(), numbers: NonZeroU64::MIN }),
            oldest: AtomicU64::new(u64::MAX),
            answered: AtomicU64::new(0),
            youngest_answered: AtomicU64::new(0),
            news: Notify::new(),
        }
    }

    /// A call is sent. Says its number.
    pub(crate) fn begin(&self, now: Timestamp) -> NonZeroU64 {
        let mut sent = self.lock();
        sent.numbers = sent.numbers.saturating_add(1);
        let number = sent.numbers;
        sent.calls.insert((now, number));
        self.publish(&sent);
        number
    }

    /// It waits no more; `answer` is when the replica answered it, if it did.
    pub(crate) fn end(&self, sending: Sending, answer: Option<Timestamp>) {
        let mut sent = self.lock();
        sent.calls.remove(&(sending.0, sending.1));
        if let Some(now) = answer {
            self.answered.fetch_max(now.as_nanos(), Ordering::AcqRel);
            self.youngest_answered.fetch_max(sending.0.as_nanos(), Ordering::AcqRel);
        }
        self.publish(&sent);
        drop(sent);
        if answer.is_some() {
            self.news.notify_waiters();
        }
    }

    fn publish(&self, sent: &Sent) {
        let oldest = sent.calls.first().map_or(u64::MAX, |(sent, _)| sent.as_nanos());
        self.oldest.store(oldest, Ordering::Release);
    }

    /// Whether the replica has answered nothing for `span`, while a call has been waiting for as long.
    pub(crate) fn is_silent(&self, now: Timestamp, span: Duration) -> bool {
        let oldest = Timestamp::from_nanos(self.oldest.load(Ordering::Acquire));
        let answered = Timestamp::from_nanos(self.answered.load(Ordering::Acquire));
        now.since(oldest.max(answered)) >= span
    }

    /// Whether nobody waits, so that no clock need be read.
    pub(crate) fn is_idle(&self) -> bool {
        self.oldest.load(Ordering::Acquire) == u64::MAX
    }

    /// Completes when the replica has answered a call that was sent no earlier than `sending`.
    pub(crate) async fn answered_since(&self, sending: Sending) {
        loop {
            let news = self.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            if self.youngest_answered.load(Ordering::Acquire) >= sending.0.as_nanos().max(1) {
                return;
            }
            news.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    const SPAN: Duration = Duration::from_secs(1);

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn begin(waiting: &Waiting, at: Timestamp) -> Sending {
        Sending::new(at, waiting.begin(at))
    }

    #[test]
    fn a_replica_is_silent_when_a_call_waits_and_nothing_was_heard_for_as_long() {
        let waiting = Waiting::new();
        assert!(waiting.is_idle() && !waiting.is_silent(at(60_000), SPAN), "nobody waits");
        let first = begin(&waiting, at(100));
        assert!(!waiting.is_silent(at(1_099), SPAN));
        assert!(waiting.is_silent(at(1_100), SPAN));
        let second = begin(&waiting, at(900));
        waiting.end(second, Some(at(1_200)));
        assert!(!waiting.is_silent(at(2_199), SPAN), "it answered another call");
        assert!(waiting.is_silent(at(2_200), SPAN), "and has been silent since");
        waiting.end(first, None);
        assert!(!waiting.is_silent(at(9_999), SPAN), "the call was given up");
    }

    #[test]
    fn a_younger_call_does_not_inherit_the_age_of_one_that_was_given_up() {
        let waiting = Waiting::new();
        let old = begin(&waiting, at(100));
        let _young = begin(&waiting, at(900));
        waiting.end(old, None);
        assert!(!waiting.is_silent(at(1_899), SPAN));
        assert!(waiting.is_silent(at(1_900), SPAN));
    }

    #[test]
    fn only_the_answer_to_a_call_that_was_sent_no_earlier_counts_for_one_that_was_overtaken() {
        let waiting = Waiting::new();
        let before = begin(&waiting, at(100));
        let overtaken = begin(&waiting, at(200));
        let after = begin(&waiting, at(300));
        let mut news = Box::pin(waiting.answered_since(overtaken));
        waiting.end(before, Some(at(400)));
        assert!(news.as_mut().now_or_never().is_none());
        waiting.end(after, Some(at(500)));
        assert!(news.as_mut().now_or_never().is_some());
    }
}
