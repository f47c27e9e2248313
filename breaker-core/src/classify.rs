use crate::Outcome;

/// Says what a call's result means for the circuit. Closures count.
pub trait Classifier<T, E> {
    /// The outcome that `result` stands for.
    fn classify(&self, result: &Result<T, E>) -> Outcome;
}

impl<T, E, F: Fn(&Result<T, E>) -> Outcome> Classifier<T, E> for F {
    fn classify(&self, result: &Result<T, E>) -> Outcome {
        self(result)
    }
}

/// `Ok` is a success, `Err` a failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OkOrErr;

impl<T, E> Classifier<T, E> for OkOrErr {
    fn classify(&self, result: &Result<T, E>) -> Outcome {
        match result {
            Ok(_) => Outcome::Success,
            Err(_) => Outcome::Failure,
        }
    }
}
