//! Why a pool brought no answer.

use std::{error::Error, fmt, time::Duration};

use breaker_core::{Rejection, RejectionReason, Timestamp};

use crate::{GatewayError, Gone, Signal, codes};

/// Why a call brought no answer. `E` is the error of the call's own attempts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError<E: Error + 'static> {
    /// The remote failed in a way that another replica would not mend, or after it may have received a
    /// request that is not idempotent.
    #[error("{replica} failed: {source}")]
    #[non_exhaustive]
    Remote {
        /// The replica's address.
        replica: String,
        /// The attempt's own error.
        source: E,
    },
    /// An attempt took longer than `attemptTimeout`, and the request may have been received and is not idempotent.
    #[error("{replica} did not answer within {after:?}, and the request may not be sent twice")]
    #[non_exhaustive]
    TimedOut {
        /// The replica's address.
        replica: String,
        /// How long the attempt took.
        after: Duration,
    },
    /// Every candidate failed, or as many as `maxAttempts` allows.
    #[error("all {attempts} attempts failed, the last one {}", last_one(.source.as_ref()))]
    #[non_exhaustive]
    Exhausted {
        /// Attempts made.
        attempts: u32,
        /// The last attempt's error; `None` when it timed out.
        source: Option<E>,
    },
    /// No circuit admitted the call.
    #[error(transparent)]
    AllOpen(AllOpen),
    /// The call's deadline passed.
    #[error("no answer within the deadline of {deadline:?}, after {attempts} failed attempts")]
    #[non_exhaustive]
    DeadlineExceeded {
        /// The time that the call had.
        deadline: Duration,
        /// Attempts that failed before.
        attempts: u32,
        /// The last attempt's error, if there was one.
        source: Option<E>,
    },
    /// What serves the key is gone from where it was, and was not found again in time. Callers may retry it as a 503;
    /// where a judge says of such a verdict that the request may have been sent, only if it is idempotent.
    #[error(transparent)]
    Unavailable(Unavailable<E>),
    /// There is no routing map yet, and the gateway gave none.
    #[error("there is no routing map to find a partition by")]
    #[non_exhaustive]
    NoRoutingMap {
        /// Why the gateway gave none.
        source: GatewayError,
    },
    /// The pool has no addresses, and the gateway gave none.
    #[error("there are no replicas to call")]
    #[non_exhaustive]
    NoReplicas {
        /// Why the gateway gave none; `None` for an empty fixed list.
        source: Option<GatewayError>,
    },
}

fn last_one<E: fmt::Display>(source: Option<&E>) -> String {
    source.map_or_else(|| "by time-out".to_owned(), |error| format!("with: {error}"))
}

/// No circuit admitted a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllOpen {
    /// Every replica's address with the reason.
    pub replicas: Vec<(String, Rejection)>,
    /// The soonest moment at which time alone lets a call pass again; `None` when only probes can.
    pub retry_at: Option<Timestamp>,
    /// The time from the rejection to [`retry_at`](Self::retry_at).
    pub retry_after: Option<Duration>,
}

impl AllOpen {
    pub(crate) fn new(replicas: Vec<(String, Rejection)>, now: Timestamp) -> Self {
        let retry_at = replicas.iter().filter_map(|(_, rejection)| rejection.retry_at).min();
        Self { replicas, retry_at, retry_after: retry_at.map(|at| at.since(now)) }
    }
}

impl fmt::Display for AllOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no circuit admits a call")?;
        let mut reasons = self.replicas.iter().map(|(_, rejection)| rejection.reason);
        match self.retry_after {
            Some(after) => write!(f, " for another {after:?}:")?,
            None if reasons.any(|reason| reason == RejectionReason::Open) => {
                f.write_str(" until a probe finds a replica healthy:")?;
            }
            None => f.write_str(":")?,
        }
        for (i, (replica, rejection)) in self.replicas.iter().enumerate() {
            write!(f, "{} {replica}: {}", if i > 0 { "," } else { "" }, rejection.reason)?;
        }
        Ok(())
    }
}

impl Error for AllOpen {}

/// What serves a key is gone from where it was, and was not found again in time.
#[derive(Debug)]
#[non_exhaustive]
pub struct Unavailable<E> {
    /// What was gone.
    pub gone: Gone,
    /// The attempts that found it gone or failed otherwise, in order.
    pub attempts: Vec<FailedAttempt>,
    /// When to come back: the moment until which asking the gateway again would be too soon, if that lies ahead.
    pub retry_at: Option<Timestamp>,
    /// What was first heard of it.
    pub cause: Option<Cause<E>>,
}

impl<E> Unavailable<E> {
    /// 503, whatever was gone: never a bare 410 or 404, which callers would not retry.
    pub const fn status_code(&self) -> u16 {
        codes::SERVICE_UNAVAILABLE
    }

    /// 21002 for a partition that is gone, 21003 splitting, 21004 migrating, 21005 replica gone.
    pub const fn sub_status(&self) -> u32 {
        codes::sub_status(self.gone)
    }

    /// When to come back; `None`: at once.
    pub const fn retry_at(&self) -> Option<Timestamp> {
        self.retry_at
    }
}

impl<E> fmt::Display for Unavailable<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (status, sub_status, attempts) = (self.status_code(), self.sub_status(), self.attempts.len());
        write!(f, "unavailable ({status}/{sub_status}): {}, after {attempts} failed attempts", self.gone)
    }
}

impl<E: Error + 'static> Error for Unavailable<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self.cause.as_ref()? {
            Cause::Remote(error) => Some(error),
            Cause::Gateway(error) => Some(error),
        }
    }
}

/// Who said that something is gone.
#[derive(Debug)]
#[non_exhaustive]
pub enum Cause<E> {
    /// A replica, with the attempt's error.
    Remote(E),
    /// The gateway.
    Gateway(GatewayError),
}

/// An attempt that brought no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedAttempt {
    /// The replica's address.
    pub replica: String,
    /// What it told about addresses and routes.
    pub signal: Signal,
}

/// Why a pool can't be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The strategy needs probes, and the pool was given no probe.
    #[error(
        "a circuit of {strategy} that opens stays open until it is probed, and the pool has no probe: call \
         PoolBuilder::probe(), or set a delay after which it is tried (such as waitDurationInOpenState)"
    )]
    #[non_exhaustive]
    NeverProbed {
        /// The strategy's name.
        strategy: &'static str,
    },
    /// Validation is on, and the pool was given no connector.
    #[error("\"validation\": {{\"enabled\": true}} needs a connector: call PoolBuilder::connector()")]
    NoConnector,
    /// There is no tokio runtime here for the pool's background work.
    #[error("a pool works in the background: build it inside a tokio runtime")]
    NoRuntime,
}
