//! What the result of an attempt means to the pool.

use std::io;

use replica_pool::{Verdict, io_verdict};

/// Why an attempt failed.
#[derive(Debug)]
pub enum AttemptError {
    /// The replica says that it does not live there any more.
    Gone,
    /// The connection was refused or broke.
    Io(io::Error),
}

/// The verdict on an attempt. Time-outs are the pool's own: it gives them their verdict itself.
pub fn judge(result: &Result<(), AttemptError>) -> Verdict {
    match result {
        Ok(()) => Verdict::SUCCESS,
        Err(AttemptError::Gone) => Verdict::REPLICA_GONE,
        Err(AttemptError::Io(error)) => io_verdict(error.kind()),
    }
}

impl std::fmt::Display for AttemptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gone => f.write_str("the replica is gone"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AttemptError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Gone => None,
            Self::Io(error) => Some(error),
        }
    }
}

impl From<io::Error> for AttemptError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use breaker_core::Outcome;
    use replica_pool::Signal;

    use super::*;

    fn signal(result: Result<(), AttemptError>) -> (Outcome, Signal) {
        let verdict = judge(&result);
        (verdict.outcome, verdict.signal)
    }

    #[test]
    fn gone_refused_and_reset_mark_the_replica() {
        assert_eq!(signal(Err(AttemptError::Gone)), (Outcome::Failure, Signal::ReplicaGone));
        for kind in
            [io::ErrorKind::ConnectionRefused, io::ErrorKind::ConnectionReset, io::ErrorKind::UnexpectedEof]
        {
            let error = AttemptError::from(io::Error::from(kind));
            assert_eq!(signal(Err(error)), (Outcome::Failure, Signal::Unreachable), "{kind}");
        }
    }

    #[test]
    fn an_answer_is_a_success_and_nonsense_is_a_failure_that_marks_nothing() {
        assert_eq!(signal(Ok(())), (Outcome::Success, Signal::None));
        let nonsense = AttemptError::from(io::Error::from(io::ErrorKind::InvalidData));
        assert_eq!(signal(Err(nonsense)), (Outcome::Failure, Signal::None));
    }
}
