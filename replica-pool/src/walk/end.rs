//! How a walk ends without an answer.

use std::error::Error;

use super::{Walk, Walked};
use crate::{Address, CallError, Cause, FailedAttempt, Gone};

impl<A, H, T, E> Walk<'_, A, H, T, E>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
{
    pub(crate) fn is_out_of_attempts(&self) -> bool {
        self.limits.max_attempts.is_some_and(|most| self.attempts as usize >= most)
    }

    pub(crate) fn is_out_of_time(&self) -> bool {
        self.clock.now() >= self.until
    }

    /// The version of the set that was walked last.
    pub(crate) fn seen_version(&self) -> u64 {
        self.seen
    }

    pub(crate) fn into_trail(self) -> Vec<FailedAttempt> {
        self.trail
    }

    /// Something is gone, and the last attempt said so.
    pub(super) fn gone(&mut self, gone: Gone, hopeless: bool) -> Walked<T, E> {
        let cause = self.last.take().and_then(Result::err).map(Cause::Remote);
        Walked::Gone { gone, cause, hopeless }
    }

    /// The deadline has passed: what was found gone by then is unavailable.
    pub(super) fn out_of_time(&mut self) -> Walked<T, E> {
        match self.signal.gone() {
            Some(gone) => self.gone(gone, true),
            None => Walked::Ended(Err(self.deadline_exceeded())),
        }
    }

    pub(crate) fn deadline_exceeded(&mut self) -> CallError<E> {
        // Not the one that the deadline cut short.
        let (deadline, attempts) = (self.limits.deadline, self.trail.len() as u32);
        CallError::DeadlineExceeded { deadline, attempts, source: self.last.take().and_then(Result::err) }
    }

    /// All candidates failed. The answer of one that was told to try the next is better than none.
    pub(super) fn exhausted(&mut self) -> Walked<T, E> {
        if let Some(gone) = self.signal.gone() {
            return self.gone(gone, false);
        }
        let attempts = self.attempts;
        Walked::Ended(match self.last.take() {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(source)) => Err(CallError::Exhausted { attempts, source: Some(source) }),
            None => Err(CallError::Exhausted { attempts, source: None }),
        })
    }
}
