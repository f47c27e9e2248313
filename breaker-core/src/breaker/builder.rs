use std::{sync::Arc, time::Duration};

use super::{Breaker, core::Core, gate::Gate};
use crate::{
    Clock, Evidence, MonotonicClock, Observer,
    config::Blueprint,
    sync::{Mutex, Notify},
};

/// Puts a [`Breaker`] together. Made by [`Breaker::builder`].
#[must_use]
pub struct BreakerBuilder {
    blueprint: Blueprint,
    name: Option<Arc<str>>,
    clock: Option<Arc<dyn Clock>>,
    observers: Arc<[Arc<dyn Observer>]>,
    abandoned_after: Option<Duration>,
    probed: bool,
    evidence: Option<Evidence>,
}

impl Breaker {
    /// A breaker of the strategy that `blueprint` describes. A strategy's settings are a blueprint too.
    pub fn builder(blueprint: impl Into<Blueprint>) -> BreakerBuilder {
        BreakerBuilder {
            blueprint: blueprint.into(),
            name: None,
            clock: None,
            observers: Arc::new([]),
            abandoned_after: None,
            probed: false,
            evidence: None,
        }
    }
}

impl BreakerBuilder {
    /// A name for events and logs. Default: none.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The clock to read. Default: a [`MonotonicClock`] of its own.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Who is told of events, besides those named before.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers = self.observers.iter().cloned().chain([observer]).collect();
        self
    }

    /// A call whose permit is dropped without a verdict after this long counts as a failure, since a timeout
    /// placed outside the breaker must not blind it; sooner, as cancelled. Costs a clock reading a call.
    /// Default: off, such a call is always cancelled.
    pub const fn abandoned_call_is_failure_after(mut self, limit: Duration) -> Self {
        self.abandoned_after = Some(limit);
        self
    }

    /// Declares that someone will probe the circuit while it is open: a worker, or the caller through
    /// [`Breaker::begin_probe`].
    pub const fn probed(mut self) -> Self {
        self.probed = true;
        self
    }

    /// What is known about the remote from an earlier breaker, maybe one with other settings, or from before a restart.
    /// Default: nothing.
    pub fn adopt(mut self, evidence: Evidence) -> Self {
        self.evidence = Some(evidence);
        self
    }

    /// The breaker.
    ///
    /// # Errors
    ///
    /// [`BuildError::NeverProbed`] when only a probe can end some open state of the strategy, and nobody said
    /// that they will [probe](Self::probed): such a circuit would stay open for good.
    pub fn build(self) -> Result<Breaker, BuildError> {
        if self.blueprint.needs_probe() && !self.probed {
            return Err(BuildError::NeverProbed { strategy: self.blueprint.name() });
        }
        let clock = self.clock.unwrap_or_else(|| Arc::new(MonotonicClock::new()));
        let now = clock.now();
        let mut strategy = self.blueprint.build(now);
        if let Some(evidence) = &self.evidence {
            strategy.adopt(evidence, now);
        }
        let wants_latency = strategy.wants_latency();
        let core = Core::new(strategy, now);
        Ok(Breaker {
            gate: Gate::new(core.word(), core.state),
            core: Mutex::new(core),
            changed: Notify::new(),
            timed: wants_latency || self.abandoned_after.is_some(),
            wants_latency,
            abandoned_after: self.abandoned_after,
            name: self.name,
            clock,
            blueprint: self.blueprint,
            observers: self.observers,
        })
    }
}

impl std::fmt::Debug for BreakerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BreakerBuilder")
            .field("blueprint", &self.blueprint)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Why a breaker can't be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Nobody would ever close it.
    #[error(
        "a circuit of {strategy} that opens stays open until it is probed, and nobody will: attach a canary worker, \
         call BreakerBuilder::probed() and use Breaker::begin_probe(), or set a delay after which it is tried \
         (such as waitDurationInOpenState)"
    )]
    #[non_exhaustive]
    NeverProbed {
        /// The strategy's name.
        strategy: &'static str,
    },
}
