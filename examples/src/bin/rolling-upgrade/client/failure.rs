//! How an attempt, and a request, fails.

use std::{error::Error, fmt, io};

use replica_pool::{CallError, GatewayError};

use crate::wire::{Gone, Status};

/// Why an attempt failed.
#[derive(Debug)]
pub enum AttemptError {
    /// The replica says that this does not live there any more.
    Gone(Gone),
    /// The connection was refused or broke.
    Io(io::Error),
}

impl AttemptError {
    /// The status with which the replica answered, if it did.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Gone(gone) => Some(Status::Gone(*gone).codes().0),
            Self::Io(_) => None,
        }
    }
}

impl From<Gone> for AttemptError {
    fn from(gone: Gone) -> Self {
        Self::Gone(gone)
    }
}

impl fmt::Display for AttemptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone(gone) => gone.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl Error for AttemptError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Gone(_) => None,
            Self::Io(error) => Some(error),
        }
    }
}

impl From<io::Error> for AttemptError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What a caller gets instead of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The status that the caller sees; `None` for what has none, such as a broken connection.
    pub status: Option<u16>,
    /// The reason in words.
    pub reason: String,
}

impl Failure {
    /// Whether it is one of the statuses that callers would not retry, though the store is well.
    pub fn is_bare_gone(&self) -> bool {
        matches!(self.status, Some(404 | 410))
    }
}

impl From<CallError<AttemptError>> for Failure {
    fn from(error: CallError<AttemptError>) -> Self {
        let status = match &error {
            CallError::Unavailable(unavailable) => Some(unavailable.status_code()),
            CallError::Remote { source, .. } => source.status(),
            CallError::Exhausted { source, .. } | CallError::DeadlineExceeded { source, .. } => {
                source.as_ref().and_then(AttemptError::status)
            }
            CallError::NoRoutingMap { source: GatewayError::NoSuchPartition, .. }
            | CallError::NoReplicas { source: Some(GatewayError::NoSuchPartition), .. } => Some(404),
            _ => None,
        };
        Self { status, reason: format!("{:#}", anyhow::Error::new(error)) }
    }
}
