//! What the result of an attempt means to the pool.

use replica_pool::{Verdict, io_verdict};

use crate::{client::failure::AttemptError, wire::Gone};

/// The verdict on an attempt. Time-outs are the pool's own: it gives them their verdict itself.
pub fn judge(result: &Result<(), AttemptError>) -> Verdict {
    match result {
        Ok(()) => Verdict::SUCCESS,
        Err(AttemptError::Gone(Gone::Replica)) => Verdict::REPLICA_GONE,
        Err(AttemptError::Gone(Gone::Partition)) => Verdict::PARTITION_GONE,
        Err(AttemptError::Gone(Gone::Migrating)) => Verdict::MIGRATING,
        Err(AttemptError::Io(error)) => io_verdict(error.kind()),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use breaker_core::Outcome;
    use replica_pool::Signal;

    use super::*;

    fn signal(result: Result<(), AttemptError>) -> (Outcome, Signal) {
        let verdict = judge(&result);
        (verdict.outcome, verdict.signal)
    }

    #[test]
    fn gone_refused_and_reset_mark_the_replica() {
        let gone = signal(Err(AttemptError::Gone(Gone::Replica)));
        assert_eq!(gone, (Outcome::Failure, Signal::ReplicaGone));
        for kind in
            [io::ErrorKind::ConnectionRefused, io::ErrorKind::ConnectionReset, io::ErrorKind::UnexpectedEof]
        {
            let error = AttemptError::from(io::Error::from(kind));
            assert_eq!(signal(Err(error)), (Outcome::Failure, Signal::Unreachable), "{kind}");
        }
    }

    #[test]
    fn a_partition_that_is_gone_or_moving_is_no_fault_of_the_replica() {
        let of = |gone| signal(Err(AttemptError::Gone(gone)));
        assert_eq!(of(Gone::Partition), (Outcome::Ignored, Signal::PartitionGone));
        assert_eq!(of(Gone::Migrating), (Outcome::Ignored, Signal::Migrating));
    }

    #[test]
    fn an_answer_is_a_success_and_nonsense_is_a_failure_that_marks_nothing() {
        assert_eq!(signal(Ok(())), (Outcome::Success, Signal::None));
        let nonsense = AttemptError::from(io::Error::from(io::ErrorKind::InvalidData));
        assert_eq!(signal(Err(nonsense)), (Outcome::Failure, Signal::None));
    }
}
