use std::{sync::Arc, time::Duration};

use super::{
    Breaker,
    core::Core,
    gate::{Gate, Start},
};
use crate::{
    Clock, Evidence, MonotonicClock, Observer,
    config::Blueprint,
    sync::{Mutex, Notify},
};

/// What breakers of one kind share.
#[derive(Clone)]
pub(super) struct Setup {
    pub(super) blueprint: Blueprint,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) observers: Vec<Arc<dyn Observer>>,
    pub(super) abandoned_after: Option<Duration>,
    pub(super) name: Option<Arc<str>>,
    probed: bool,
}

/// Puts a [`Breaker`] together, or any number of them. Made by [`Breaker::builder`].
///
/// Breakers that come from clones of one builder share its settings.
#[derive(Clone)]
#[must_use]
pub struct BreakerBuilder {
    setup: Arc<Setup>,
    evidence: Option<Evidence>,
}

impl Breaker {
    /// A breaker of the strategy that `blueprint` describes. A strategy's settings are a blueprint too.
    pub fn builder(blueprint: impl Into<Blueprint>) -> BreakerBuilder {
        let setup = Setup {
            blueprint: blueprint.into(),
            clock: Arc::new(MonotonicClock::new()),
            observers: Vec::new(),
            abandoned_after: None,
            name: None,
            probed: false,
        };
        BreakerBuilder { setup: Arc::new(setup), evidence: None }
    }
}

impl BreakerBuilder {
    fn setup(mut self, change: impl FnOnce(&mut Setup)) -> Self {
        change(Arc::make_mut(&mut self.setup));
        self
    }

    /// A name for events and logs, one of the settings that breakers of one builder share. Default: the one that its
    /// [attendant](Breaker::attend) has for it, if any.
    pub fn name(self, name: impl Into<Arc<str>>) -> Self {
        self.setup(|setup| setup.name = Some(name.into()))
    }

    /// The clock to read. Default: a [`MonotonicClock`].
    pub fn clock(self, clock: Arc<dyn Clock>) -> Self {
        self.setup(|setup| setup.clock = clock)
    }

    /// Who is told of events, besides those named before.
    pub fn observer(self, observer: Arc<dyn Observer>) -> Self {
        self.setup(|setup| setup.observers.push(observer))
    }

    /// A call whose permit is dropped without a verdict after this long counts as a failure, since a timeout
    /// placed outside the breaker must not blind it; sooner, as cancelled. Costs a [coarse](Clock::coarse) clock reading
    /// a call, so a call may count as up to a tick of the system older than it is. Default: off, such a call is always
    /// cancelled.
    pub fn abandoned_call_is_failure_after(self, limit: Duration) -> Self {
        self.setup(|setup| setup.abandoned_after = Some(limit))
    }

    /// Declares that someone will probe the circuit while it is open: a worker, or the caller through
    /// [`Breaker::begin_probe`].
    pub fn probed(self) -> Self {
        self.setup(|setup| setup.probed = true)
    }

    /// What is known about the remote from an earlier breaker, maybe one with other settings, or from before
    /// a restart. Default: nothing.
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
        let setup = self.setup;
        if setup.blueprint.needs_probe() && !setup.probed {
            return Err(BuildError::NeverProbed { strategy: setup.blueprint.name() });
        }
        let now = setup.clock.now();
        let mut strategy = setup.blueprint.build(now);
        if let Some(evidence) = &self.evidence {
            strategy.adopt(evidence, now);
        }
        let start = match (strategy.wants_latency(), setup.abandoned_after) {
            (true, _) => Start::Closely,
            (false, Some(_)) => Start::Coarsely,
            (false, None) => Start::Unread,
        };
        let core = Core::new(strategy, now);
        Ok(Breaker {
            gate: Gate::new(core.word(), core.state(), start),
            core: Mutex::new(core),
            changed: Notify::new(),
            setup,
        })
    }
}

impl std::fmt::Debug for BreakerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BreakerBuilder")
            .field("blueprint", &self.setup.blueprint)
            .field("name", &self.setup.name)
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
