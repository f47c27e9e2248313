//! Whether an address is where its replica lives. The circuit tells how calls went; this tells about the
//! address.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use breaker_core::Timestamp;
use serde::Serialize;

/// What is known about a replica's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[repr(u8)]
#[expect(clippy::exhaustive_enums, reason = "callers may match them all")]
pub enum HealthStatus {
    /// Nothing yet, or nothing any more.
    Unknown,
    /// A call or a connection succeeded.
    Connected,
    /// It failed, the gateway named it again, and a validation is to tell.
    UnhealthyPending,
    /// The replica said that it is gone, the connection was refused or reset, or an attempt timed out. A selection
    /// also sees a replica so that is suspected, since it leaves calls waiting (`suspectAfter`).
    Unhealthy,
}

impl HealthStatus {
    /// 0 for a replica to be asked first, up to 3.
    pub const fn rank(self) -> u8 {
        match self {
            Self::Unknown | Self::Connected => 0,
            Self::UnhealthyPending => 2,
            Self::Unhealthy => 3,
        }
    }
}

impl fmt::Display for HealthStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Unknown => "unknown",
            Self::Connected => "connected",
            Self::UnhealthyPending => "unhealthyPending",
            Self::Unhealthy => "unhealthy",
        })
    }
}

/// Names a span in which a replica neither became unhealthy nor ceased to be. What began in an older
/// one changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HealthEpoch(u16);

/// A replica's health at one moment, all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(u64);

// Two bits of status, 14 of epoch, 48 of instant: microseconds for 8.9 years.
const EPOCH_SHIFT: u32 = 2;
const EPOCH_MASK: u64 = (1 << 14) - 1;
const INSTANT_SHIFT: u32 = 16;
const MOST_MICROS: u64 = (1 << 48) - 1;

impl Mark {
    fn new(status: HealthStatus, epoch: u64, at: Timestamp) -> Self {
        let micros = (at.as_nanos() / 1_000).min(MOST_MICROS);
        Self(micros << INSTANT_SHIFT | (epoch & EPOCH_MASK) << EPOCH_SHIFT | status as u64)
    }

    pub(crate) const fn status(self) -> HealthStatus {
        match self.0 & 0b11 {
            0 => HealthStatus::Unknown,
            1 => HealthStatus::Connected,
            2 => HealthStatus::UnhealthyPending,
            _ => HealthStatus::Unhealthy,
        }
    }

    pub(crate) const fn epoch(self) -> HealthEpoch {
        HealthEpoch((self.0 >> EPOCH_SHIFT & EPOCH_MASK) as u16)
    }

    /// When the status was entered.
    pub(crate) const fn at(self) -> Timestamp {
        Timestamp::from_nanos((self.0 >> INSTANT_SHIFT) * 1_000)
    }

    /// Whether time is what this mark needs no clock for.
    pub(crate) const fn is_ageless(self) -> bool {
        matches!(self.status(), HealthStatus::Unknown | HealthStatus::Connected)
    }

    /// The status, after `bound` no longer held against the replica; and whether it was bad for that long.
    pub(crate) fn read(self, now: Timestamp, bound: Duration) -> (HealthStatus, bool) {
        let status = self.status();
        if self.is_ageless() || now.since(self.at()) < bound {
            return (status, false);
        }
        (HealthStatus::Unknown, matches!(status, HealthStatus::Unhealthy))
    }

    /// The mark that follows, in a new epoch when Unhealthy begins or ends.
    fn then(self, status: HealthStatus, at: Timestamp) -> Self {
        let was = matches!(self.status(), HealthStatus::Unhealthy);
        let is = matches!(status, HealthStatus::Unhealthy);
        Self::new(status, u64::from(self.epoch().0) + u64::from(was != is), at)
    }
}

/// One atomic value: the status, the instant of its last transition, and the health epoch. Every change is a
/// compare-and-swap that looks again when it lost a race.
#[derive(Debug)]
pub(crate) struct Health(AtomicU64);

impl Health {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self(AtomicU64::new(Mark::new(HealthStatus::Unknown, 0, now).0))
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark(self.0.load(Ordering::Acquire))
    }

    /// A call or a connection that began in `epoch` succeeded.
    pub(crate) fn connected(&self, epoch: HealthEpoch, now: Timestamp) -> bool {
        self.change(|mark| {
            let news = mark.status() != HealthStatus::Connected;
            (news && mark.epoch() == epoch).then(|| mark.then(HealthStatus::Connected, now))
        })
    }

    /// A call or a connection that began in `epoch` failed in a way that speaks against the address. Says
    /// whether that is news: a bad replica that fails again is none, until it was bad for `bound`.
    pub(crate) fn failed(&self, epoch: HealthEpoch, now: Timestamp, bound: Duration) -> bool {
        self.change(|mark| {
            let fresh = mark.status() == HealthStatus::Unhealthy && now.since(mark.at()) < bound;
            (!fresh && mark.epoch() == epoch).then(|| mark.then(HealthStatus::Unhealthy, now))
        })
    }

    /// No connection could be opened to the address. Counts only while nothing new is known since the health was `seen`.
    pub(crate) fn refuted(&self, seen: Mark, now: Timestamp) -> bool {
        self.change(|mark| (mark == seen).then(|| mark.then(HealthStatus::Unhealthy, now)))
    }

    /// The gateway named the address again in answer to a question asked when the health was `seen`. A
    /// mark of later than that stays.
    pub(crate) fn confirmed(&self, seen: Mark, validating: bool, now: Timestamp) -> bool {
        let status = if validating { HealthStatus::UnhealthyPending } else { HealthStatus::Unknown };
        self.change(|mark| {
            let old = mark == seen && mark.status() == HealthStatus::Unhealthy;
            old.then(|| mark.then(status, now))
        })
    }

    fn change(&self, next: impl Fn(Mark) -> Option<Mark>) -> bool {
        let changed = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| next(Mark(word)).map(|mark| mark.0));
        changed.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use HealthStatus::{Connected, Unhealthy, UnhealthyPending, Unknown};

    use super::*;

    const BOUND: Duration = Duration::from_secs(60);

    fn at(secs: u64) -> Timestamp {
        Timestamp::from_secs(secs)
    }

    fn in_status(status: HealthStatus) -> Health {
        Health(AtomicU64::new(Mark::new(status, 7, at(1)).0))
    }

    #[test]
    fn every_cell_of_the_table() {
        // from, on success, on failure, on an answer (validation off, on), as read after 60 s
        let rows = [
            (Unknown, Connected, Unhealthy, Unknown, Unknown, Unknown),
            (Connected, Connected, Unhealthy, Connected, Connected, Connected),
            (UnhealthyPending, Connected, Unhealthy, UnhealthyPending, UnhealthyPending, Unknown),
            (Unhealthy, Connected, Unhealthy, Unknown, UnhealthyPending, Unknown),
        ];
        for (from, success, failure, answer, validating, later) in rows {
            let health = in_status(from);
            health.connected(health.mark().epoch(), at(2));
            assert_eq!(health.mark().status(), success, "{from} succeeded");
            let health = in_status(from);
            health.failed(health.mark().epoch(), at(2), BOUND);
            assert_eq!(health.mark().status(), failure, "{from} failed");
            for (on, expected) in [(false, answer), (true, validating)] {
                let health = in_status(from);
                health.confirmed(health.mark(), on, at(2));
                assert_eq!(health.mark().status(), expected, "{from} confirmed, validation {on}");
            }
            let mark = in_status(from).mark();
            assert_eq!(mark.read(at(60), BOUND), (from, false), "{from} at 59 s");
            assert_eq!(mark.read(at(61), BOUND), (later, from == Unhealthy), "{from} at 60 s");
        }
    }

    #[test]
    fn a_status_is_written_as_it_is_told() {
        for status in [Unknown, Connected, UnhealthyPending, Unhealthy] {
            assert_eq!(serde_json::to_value(status).unwrap(), status.to_string());
        }
        assert_eq!(format!("[{Unhealthy:>10}]"), "[ unhealthy]");
    }

    #[test]
    fn a_call_of_an_older_health_epoch_changes_nothing() {
        let health = Health::new(at(0));
        let old = health.mark().epoch();
        assert!(health.failed(old, at(1), BOUND));
        assert!(!health.connected(old, at(2)), "it began before the replica was marked");
        health.confirmed(health.mark(), false, at(3));
        assert!(!health.failed(old, at(4), BOUND), "it began before the gateway confirmed the address");
        assert_eq!(health.mark().status(), Unknown);
        assert!(health.failed(health.mark().epoch(), at(5), BOUND));
    }

    #[test]
    fn the_epoch_changes_only_where_unhealthy_begins_or_ends() {
        let health = Health::new(at(0));
        let first = health.mark().epoch();
        health.connected(first, at(1));
        assert_eq!(health.mark().epoch(), first);
        health.failed(first, at(2), BOUND);
        assert_ne!(health.mark().epoch(), first);
    }

    #[test]
    fn a_bad_replica_that_fails_again_keeps_its_instant_until_the_bound() {
        let health = Health::new(at(0));
        assert!(health.failed(health.mark().epoch(), at(10), BOUND));
        assert!(!health.failed(health.mark().epoch(), at(69), BOUND));
        assert_eq!(health.mark().at(), at(10));
        assert!(health.failed(health.mark().epoch(), at(70), BOUND));
        assert_eq!(health.mark().at(), at(70));
    }

    #[test]
    fn an_answer_to_an_older_question_leaves_a_newer_mark() {
        let health = Health::new(at(0));
        let asked = health.mark();
        health.failed(asked.epoch(), at(0), BOUND);
        assert!(!health.confirmed(asked, false, at(0)));
        assert_eq!(health.mark().status(), Unhealthy);
    }

    #[test]
    fn a_mark_gives_back_what_was_put_in_and_its_epoch_wraps() {
        let last = Mark::new(Connected, EPOCH_MASK, at(3600));
        assert_eq!((last.status(), last.at(), last.epoch()), (Connected, at(3600), HealthEpoch(0x3fff)));
        assert_eq!(last.then(Unhealthy, at(3601)).epoch(), HealthEpoch(0));
        let end = Mark::new(Unhealthy, 1, Timestamp::MAX);
        let most = Timestamp::from_nanos(((1 << 48) - 1) * 1_000);
        assert_eq!((end.status(), end.epoch(), end.at()), (Unhealthy, HealthEpoch(1), most));
    }
}
