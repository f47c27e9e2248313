//! What the result of an attempt means.

use std::{error::Error, fmt, io};

use breaker_core::Outcome;
use serde::Serialize;

/// What the result of an attempt means: for the circuit, for the walk, for what the pool knows, and for
/// whether the request may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Verdict {
    /// What the circuit of the replica learns.
    pub outcome: Outcome,
    /// What to do next.
    pub next: Next,
    /// What the remote said about itself, or the connection about it.
    pub signal: Signal,
    /// Whether the remote may have received the request. A call that is not idempotent is not tried again then.
    pub sent: bool,
}

impl Verdict {
    /// A good answer: return it.
    pub const SUCCESS: Self = Self::new(Outcome::Success, Next::Return);
    /// A failure of this replica, which may have seen the request: try the next one if the call is idempotent.
    pub const FAILURE: Self = Self::new(Outcome::Failure, Next::TryNext);
    /// Nothing about the replica, such as a bad request: return it.
    pub const IGNORED: Self = Self::new(Outcome::Ignored, Next::Return);
    /// The replica was not reached: mark it, ask for its addresses, try the next one.
    pub const UNREACHABLE: Self =
        Self::new(Outcome::Failure, Next::TryNext).signal(Signal::Unreachable).sent(false);
    /// The connection broke, or the attempt timed out, after the request may have been sent.
    pub const BROKEN: Self = Self::new(Outcome::Failure, Next::TryNext).signal(Signal::Unreachable);
    /// The replica said that it is gone from this address, and did nothing.
    pub const REPLICA_GONE: Self =
        Self::new(Outcome::Failure, Next::TryNext).signal(Signal::ReplicaGone).sent(false);

    /// The replica said that it no longer serves the partition: ask for the routing map.
    pub const PARTITION_GONE: Self =
        Self::new(Outcome::Ignored, Next::TryNext).signal(Signal::PartitionGone).sent(false);
    /// The partition is being split: ask for the routing map.
    pub const SPLITTING: Self =
        Self::new(Outcome::Ignored, Next::TryNext).signal(Signal::Splitting).sent(false);
    /// The partition is moving to other replicas: ask for the routing map and the addresses.
    pub const MIGRATING: Self =
        Self::new(Outcome::Ignored, Next::TryNext).signal(Signal::Migrating).sent(false);

    /// A verdict with no signal, on a request that may have been sent.
    pub const fn new(outcome: Outcome, next: Next) -> Self {
        Self { outcome, next, signal: Signal::None, sent: true }
    }

    /// The same with another signal.
    #[must_use]
    pub const fn signal(mut self, signal: Signal) -> Self {
        self.signal = signal;
        self
    }

    /// The same, with whether the remote may have received the request.
    #[must_use]
    pub const fn sent(mut self, sent: bool) -> Self {
        self.sent = sent;
        self
    }
}

/// What to do after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Next {
    /// Give the result to the caller.
    Return,
    /// Try the next candidate.
    TryNext,
}

/// What an attempt tells about addresses and routes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Signal {
    /// Nothing.
    #[default]
    None,
    /// The address does not answer. The replica is marked and the addresses are asked for.
    Unreachable,
    /// The replica says that it no longer lives there. As [`Unreachable`](Self::Unreachable), and the routing map is
    /// asked for if it happens again on an unchanged set.
    ReplicaGone,
    /// The partition does not exist any more. The routing map is asked for.
    PartitionGone,
    /// The partition is being split. The routing map is asked for.
    Splitting,
    /// The partition is moving to other replicas. The routing map and the addresses are asked for.
    Migrating,
}

impl Signal {
    /// Whether the replica is to be marked as failed.
    pub const fn marks(self) -> bool {
        matches!(self, Self::Unreachable | Self::ReplicaGone)
    }

    /// What is gone, if anything is.
    pub const fn gone(self) -> Option<Gone> {
        match self {
            Self::None | Self::Unreachable => None,
            Self::ReplicaGone => Some(Gone::Replica),
            Self::PartitionGone => Some(Gone::Partition),
            Self::Splitting => Some(Gone::Splitting),
            Self::Migrating => Some(Gone::Migrating),
        }
    }
}

/// What a request found gone from where it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Gone {
    /// The replicas are no longer at the addresses that are known.
    Replica,
    /// The partition does not exist any more.
    Partition,
    /// The partition is being split.
    Splitting,
    /// The partition is moving to other replicas.
    Migrating,
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Replica => "its replicas are gone from the known addresses",
            Self::Partition => "the partition is gone",
            Self::Splitting => "the partition is being split",
            Self::Migrating => "the partition is migrating",
        })
    }
}

/// Finds the verdict on the result of an attempt. Closures count.
pub trait Judge<T, E>: Sync {
    /// The verdict on `result`.
    fn judge(&self, result: &Result<T, E>) -> Verdict;
}

impl<T, E, F: Fn(&Result<T, E>) -> Verdict + Sync> Judge<T, E> for F {
    fn judge(&self, result: &Result<T, E>) -> Verdict {
        self(result)
    }
}

/// The judge of calls that name none: `Ok` is a success; an `Err` that is, or is caused by, an
/// [`io::Error`] is judged [by its kind](io_verdict); any other is a [failure](Verdict::FAILURE).
///
/// An error type that wraps an `io::Error` transparently, so that it is not its own
/// [`source`](Error::source), hides it: write a judge that calls [`io_verdict`].
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct IoJudge;

impl<T, E: Error + 'static> Judge<T, E> for IoJudge {
    fn judge(&self, result: &Result<T, E>) -> Verdict {
        let Err(error) = result else { return Verdict::SUCCESS };
        let mut cause: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(error) = cause {
            if let Some(error) = error.downcast_ref::<io::Error>() {
                return io_verdict(error.kind());
            }
            cause = error.source();
        }
        Verdict::FAILURE
    }
}

/// The verdict on an I/O error: refused or without a route is [unreachable](Verdict::UNREACHABLE); reset,
/// aborted, closed or timed out is [broken](Verdict::BROKEN); the rest is a [failure](Verdict::FAILURE).
pub const fn io_verdict(kind: io::ErrorKind) -> Verdict {
    use io::ErrorKind::*;
    match kind {
        ConnectionRefused | HostUnreachable | NetworkUnreachable | NetworkDown | AddrNotAvailable => {
            Verdict::UNREACHABLE
        }
        ConnectionReset | ConnectionAborted | BrokenPipe | NotConnected | UnexpectedEof | WriteZero
        | TimedOut => Verdict::BROKEN,
        _ => Verdict::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("query failed")]
    struct Wrapped(#[source] io::Error);

    #[test]
    fn io_errors_are_judged_by_kind_however_deep_they_are() {
        let judge = |kind| Judge::<(), _>::judge(&IoJudge, &Err(Wrapped(io::Error::from(kind))));
        let refused = judge(io::ErrorKind::ConnectionRefused);
        assert_eq!((refused.signal, refused.sent), (Signal::Unreachable, false));
        let reset = judge(io::ErrorKind::ConnectionReset);
        assert_eq!((reset.signal, reset.sent), (Signal::Unreachable, true));
        let other = judge(io::ErrorKind::InvalidData);
        assert_eq!(
            (other.signal, other.outcome, other.next),
            (Signal::None, Outcome::Failure, Next::TryNext)
        );
        assert_eq!(Judge::<_, Wrapped>::judge(&IoJudge, &Ok(1)), Verdict::SUCCESS);
    }
}
