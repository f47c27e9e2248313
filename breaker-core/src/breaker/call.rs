use std::{
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;

use super::{Breaker, Permit};
use crate::{Classifier, Outcome, Rejection, classify::OkOrErr};

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
    pub fn call<T, E, F>(&self, call: F) -> impl Future<Output = Result<T, CallError<E>>> + use<'_, T, E, F>
    where
        F: Future<Output = Result<T, E>>,
    {
        Guarded { entry: Entry::Asks(self), classifier: OkOrErr, call }
    }

    /// Like [`call`](Self::call), with the outcome that `classifier` finds. A classifier that panics counts
    /// as a cancelled call; the panic goes on.
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call).
    pub fn call_with<'a, T, E, C, F>(
        &'a self,
        classifier: &'a C,
        call: F,
    ) -> impl Future<Output = Result<T, CallError<E>>> + use<'a, T, E, C, F>
    where
        C: Classifier<T, E>,
        F: Future<Output = Result<T, E>>,
    {
        Guarded { entry: Entry::Asks(self), classifier: Borrowed(classifier), call }
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

/// Where a guarded call stands.
enum Entry<'a> {
    Asks(&'a Breaker),
    Passed(Permit<'a>),
    Ended,
}

/// A classifier that is the caller's.
struct Borrowed<'a, C>(&'a C);

impl<T, E, C: Classifier<T, E>> Classifier<T, E> for Borrowed<'_, C> {
    fn classify(&self, result: &Result<T, E>) -> Outcome {
        self.0.classify(result)
    }
}

pin_project! {
    /// A guarded call. Written out, since an `async` block would hold the call twice: as it was given, and where
    /// it is awaited.
    struct Guarded<'a, C, F> {
        entry: Entry<'a>,
        classifier: C,
        #[pin]
        call: F,
    }
}

impl<T, E, C, F> Future for Guarded<'_, C, F>
where
    C: Classifier<T, E>,
    F: Future<Output = Result<T, E>>,
{
    type Output = Result<T, CallError<E>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // Out of the future while others run, so that their panic gives it back.
        let permit = match mem::replace(this.entry, Entry::Ended) {
            Entry::Passed(permit) => permit,
            Entry::Asks(breaker) => match breaker.acquire() {
                Ok(permit) => permit,
                Err(rejection) => return Poll::Ready(Err(CallError::Rejected(rejection))),
            },
            Entry::Ended => panic!("a guarded call was polled after it had ended"),
        };
        match this.call.poll(cx) {
            Poll::Ready(result) => {
                permit.settle(this.classifier.classify(&result));
                Poll::Ready(result.map_err(CallError::Failed))
            }
            Poll::Pending => {
                *this.entry = Entry::Passed(permit);
                Poll::Pending
            }
        }
    }
}
