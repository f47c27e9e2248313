//! What an upstream server's answer says about the server.

use breaker_core::Outcome;
use replica_pool::{Next, Verdict, io_verdict};

use crate::message::{Answer, Unanswered};

/// Ask the next server, and hold nothing against this one: one broken zone must not eject a good resolver.
const REFUSED: Verdict = Verdict::new(Outcome::Ignored, Next::TryNext);

/// The verdict on what came of asking a server.
pub(crate) fn on(result: &Result<Answer, Unanswered>) -> Verdict {
    match result {
        Ok(answer) if answer.is_refusal() => REFUSED,
        // That there is no such name, or no such record, is a good answer.
        Ok(_) => Verdict::SUCCESS,
        Err(Unanswered::Network(error)) => io_verdict(error.kind()),
        Err(Unanswered::Malformed | Unanswered::Mismatched) => Verdict::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::message::Query;

    /// The verdict on an answer with this response code.
    fn on_code(code: u8) -> (Outcome, Next) {
        let query = [0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1];
        let mut answer = query.to_vec();
        (answer[2], answer[3]) = (0x81, code);
        let answer = Answer::to(&Query::parse(&query).unwrap(), answer);
        let verdict = on(&answer);
        (verdict.outcome, verdict.next)
    }

    #[test]
    fn no_such_name_and_no_records_are_successes() {
        assert_eq!(on_code(0), (Outcome::Success, Next::Return));
        assert_eq!(on_code(3), (Outcome::Success, Next::Return));
    }

    #[test]
    fn a_refusal_goes_to_the_next_server_and_is_no_evidence() {
        for code in [1, 2, 4, 5] {
            assert_eq!(on_code(code), (Outcome::Ignored, Next::TryNext), "{code}");
        }
    }

    #[test]
    fn everything_else_is_a_failure() {
        let refused = Unanswered::Network(io::ErrorKind::ConnectionRefused.into());
        for error in [refused, Unanswered::Malformed, Unanswered::Mismatched] {
            let verdict = on(&Err(error));
            assert_eq!((verdict.outcome, verdict.next), (Outcome::Failure, Next::TryNext));
        }
    }
}
