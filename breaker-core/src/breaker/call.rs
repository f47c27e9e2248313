use std::future::Future;

use super::Breaker;
use crate::{Classifier, Rejection, classify::OkOrErr};

/// Why a guarded call brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(clippy::exhaustive_enums, reason = "a call is rejected or it fails")]
pub enum CallError<E> {
    /// The call was not made.
    #[error(transparent)]
    Rejected(Rejection),
    /// The call was made and failed.
    #[error(transparent)]
    Failed(E),
}

impl Breaker {
    /// Awaits `call` if the circuit admits it. `Ok` counts as a success, `Err` as a failure.
    ///
    /// Cancel safe: a call that is dropped counts as cancelled, or as a failure after
    /// [`abandoned_call_is_failure_after`](super::BreakerBuilder::abandoned_call_is_failure_after).
    ///
    /// # Errors
    ///
    /// [`CallError::Rejected`] when it was not admitted (`call` is then never polled), [`CallError::Failed`] with
    /// its own error when it failed.
    pub async fn call<T, E>(&self, call: impl Future<Output = Result<T, E>>) -> Result<T, CallError<E>> {
        self.call_with(&OkOrErr, call).await
    }

    /// Like [`call`](Self::call), with the outcome that `classifier` finds. A classifier that panics counts
    /// as a cancelled call; the panic goes on.
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call).
    pub async fn call_with<T, E>(
        &self,
        classifier: &impl Classifier<T, E>,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, CallError<E>> {
        let permit = self.acquire().map_err(CallError::Rejected)?;
        let result = call.await;
        permit.settle(classifier.classify(&result));
        result.map_err(CallError::Failed)
    }

    /// Runs `call` on this thread if the circuit admits it. `Ok` counts as a success, `Err` as a failure.
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call).
    pub fn run<T, E>(&self, call: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>> {
        self.run_with(&OkOrErr, call)
    }

    /// Like [`run`](Self::run), with the outcome that `classifier` finds.
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call).
    pub fn run_with<T, E>(
        &self,
        classifier: &impl Classifier<T, E>,
        call: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        let permit = self.acquire().map_err(CallError::Rejected)?;
        let result = call();
        permit.settle(classifier.classify(&result));
        result.map_err(CallError::Failed)
    }
}
