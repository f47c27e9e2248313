//! The worker: knocks at open circuits until their remotes answer.
//!
//! One task attends to all circuits. It knows those that are open, or half-open with a deadline: of a closed circuit it
//! remembers nothing, since the breaker tells of its changes. Rounds of probes run as tasks of their own, so that one that
//! hangs or panics hurts nobody else.

mod agenda;
mod attend;
mod attended;
mod circuits;
mod line;
mod probe;
mod registration;
mod round;
mod spread;

#[cfg(test)]
mod tests;

use std::{any::type_name, fmt, sync::Arc};

use breaker_core::Breaker;
use tokio::task::JoinSet;

pub use self::{
    attended::{Attended, Notes},
    line::Line,
    probe::Probe,
    registration::Registration,
};

use self::{
    attend::attend,
    circuits::Circuits,
    registration::{ByTarget, Entry},
    spread::Spread,
};

/// How many rounds of probes run side by side unless told otherwise.
const ROUNDS_AT_ONCE: usize = 64;

/// Probes open circuits, each as its strategy's [plan](breaker_core::ProbePlan) says, and gives the breakers
/// the verdicts.
///
/// - A circuit that is open when it is registered, or that is reset while it is open, is tried at once (a little
///   later when there are many of them, so that they don't all go at the same time). One that has just been tripped
///   is tried after one interval.
/// - A round is up to `attempts` probes, one after another, each with its timeout. The first healthy one ends it. Rounds
///   begin `interval` apart, give or take 20 %.
/// - One circuit never has two rounds at a time, and rounds of at most
///   [so many](CanaryWorkerBuilder::rounds_at_once) circuits run at a time.
/// - Closed circuits, and those whose strategy wants no probes, never wake it.
///
/// Dropping the worker ends all of its work at once. It needs a tokio runtime with time enabled.
///
/// It keeps what belongs to a circuit. Where circuits have owners that can keep it themselves, use an [`Attendance`].
pub struct CanaryWorker<T: Send + Sync + 'static>(Attendance<Entry<T>>);

impl<T: Send + Sync + 'static> CanaryWorker<T> {
    /// A worker that sends `probe`s.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn spawn(probe: Arc<dyn Probe<T>>) -> Self {
        Self::builder(probe).spawn()
    }

    /// A worker with other than the usual limits.
    pub fn builder(probe: Arc<dyn Probe<T>>) -> CanaryWorkerBuilder<T> {
        CanaryWorkerBuilder { probe, rounds_at_once: ROUNDS_AT_ONCE, seed: None }
    }

    /// Attends to a circuit until the registration is dropped. `target` is what the probe is given for it,
    /// such as the remote's address.
    ///
    /// Build the breaker with [`probed`](breaker_core::BreakerBuilder::probed). The worker becomes its
    /// [attendant](Breaker::attend), so register a circuit with one worker at a time: one that it was registered with
    /// before hears of no more changes.
    pub fn register(&self, target: T, breaker: Arc<Breaker>) -> Registration<T> {
        Registration::new(target, breaker, self.0.line.clone())
    }
}

impl<T: Send + Sync + 'static> fmt::Debug for CanaryWorker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CanaryWorker")
            .field("target", &type_name::<T>())
            .field("tasks", &self.0.task.len())
            .finish_non_exhaustive()
    }
}

/// What a [`CanaryWorker`] does, for circuits whose owners keep what belongs to them: four bytes each, beside a
/// [`Line`] that all of them may share.
///
/// Dropping it ends all of its work at once. It needs a tokio runtime with time enabled.
pub struct Attendance<T> {
    line: Line<T>,
    /// Aborted when dropped.
    task: JoinSet<()>,
}

impl<T: Attended> Attendance<T> {
    /// A worker that sends `probe`s, and has no circuits yet. Up to 64 rounds of probes run at a time.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn spawn(probe: Arc<dyn Probe<T>>) -> Self {
        Self::begin(probe, Spread::new(ROUNDS_AT_ONCE, fastrand::Rng::new()))
    }

    fn begin(probe: Arc<dyn Probe<T>>, spread: Spread) -> Self {
        let (line, hearing) = Line::new();
        let circuits = Circuits::new(line.clone(), probe, spread);
        let mut task = JoinSet::new();
        task.spawn(attend(circuits, hearing));
        Self { line, task }
    }

    /// How the worker is told of circuits.
    pub fn line(&self) -> &Line<T> {
        &self.line
    }
}

impl<T> fmt::Debug for Attendance<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attendance").field("owner", &type_name::<T>()).finish_non_exhaustive()
    }
}

/// Puts a [`CanaryWorker`] together. Made by [`CanaryWorker::builder`].
#[must_use]
pub struct CanaryWorkerBuilder<T> {
    probe: Arc<dyn Probe<T>>,
    rounds_at_once: usize,
    seed: Option<u64>,
}

impl<T: Send + Sync + 'static> CanaryWorkerBuilder<T> {
    /// How many circuits may be probed at a time; at least one. Default: 64.
    pub fn rounds_at_once(mut self, rounds: usize) -> Self {
        self.rounds_at_once = rounds.max(1);
        self
    }

    /// Makes the spread of the probes in time repeatable. Default: two workers never knock in step.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The worker, at work.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn spawn(self) -> CanaryWorker<T> {
        let rng = self.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        let spread = Spread::new(self.rounds_at_once, rng);
        CanaryWorker(Attendance::begin(Arc::new(ByTarget(self.probe)), spread))
    }
}

impl<T> fmt::Debug for CanaryWorkerBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CanaryWorkerBuilder")
            .field("rounds_at_once", &self.rounds_at_once)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
