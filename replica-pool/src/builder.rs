use std::{
    fmt,
    sync::{Arc, Mutex},
};

use breaker_canary::{Attendance, Probe, TokioClock};
use breaker_core::{Breaker, BreakerBuilder, Clock, Event, Observer, config::Blueprint};
use tokio::{runtime::Handle, sync::Notify};

use crate::{
    Address, BuildError, Connector, Gateway, ReplicaPool,
    config::{Config, PoolConfig},
    directory::Directory,
    gateway::{Bound, Source},
    hedge::Hedging,
    kin::Kin,
    partition::Partition,
    pool::Owner,
    probe::ReplicaProbe,
    shared::Shared,
    tasks::Tasks,
    validation::Validator,
};

/// Where the addresses of an undivided pool come from.
pub struct Unpartitioned<A>(Box<dyn Source<A>>);

impl<A> fmt::Debug for Unpartitioned<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unpartitioned")
    }
}

/// Puts a pool together. Made by [`ReplicaPool::builder`] and
/// [`PartitionedPool::builder`](crate::PartitionedPool::builder); `S` is which of them.
#[must_use]
pub struct PoolBuilder<A, H, S> {
    pub(crate) source: S,
    blueprint: Option<Blueprint>,
    config: PoolConfig,
    clock: Option<Arc<dyn Clock>>,
    observers: Vec<Arc<dyn Observer>>,
    connector: Option<Arc<dyn Connector<A, H>>>,
    probe: Option<Arc<dyn Probe<A>>>,
}

impl<A: Address, H: Send + Sync + 'static> ReplicaPool<A, H> {
    /// A pool of the replicas that `gateway` names.
    pub fn builder(gateway: impl Gateway<A>) -> PoolBuilder<A, H, Unpartitioned<A>> {
        let source = Box::new(Bound { partition: (), gateway: Arc::new(gateway) });
        PoolBuilder::new(Unpartitioned(source))
    }
}

impl<A: Address, H: Send + Sync + 'static, S> PoolBuilder<A, H, S> {
    pub(crate) fn new(source: S) -> Self {
        Self {
            source,
            blueprint: None,
            config: PoolConfig::default(),
            clock: None,
            observers: Vec::new(),
            connector: None,
            probe: None,
        }
    }

    /// The settings of a file: the strategy and the pool's own.
    pub fn config(self, config: Config) -> Self {
        self.strategy(config.breaker).pool_config(config.pool)
    }

    /// The strategy of every replica's circuit. Default: `STATIC_THRESHOLD` with its defaults.
    pub fn strategy(mut self, blueprint: impl Into<Blueprint>) -> Self {
        self.blueprint = Some(blueprint.into());
        self
    }

    /// The pool's own settings. Default: [`PoolConfig::default`].
    pub fn pool_config(mut self, config: PoolConfig) -> Self {
        self.config = config;
        self
    }

    /// How to find out whether a replica whose circuit is open is well again. Needed by strategies that
    /// wait for that, as `CANARY_RATE_THRESHOLD` does.
    pub fn probe(mut self, probe: impl Probe<A> + 'static) -> Self {
        self.probe = Some(Arc::new(probe));
        self
    }

    /// How to open a connection, for validation and [`warm_up`](ReplicaPool::warm_up).
    pub fn connector(mut self, connector: impl Connector<A, H>) -> Self {
        self.connector = Some(Arc::new(connector));
        self
    }

    /// Who is told of the circuits' events, besides those named before. Each event bears the replica's
    /// address as its name.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// The clock. Default: tokio's, which stands still where the runtime's time is paused.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// What all partitions share, and what is left: the source.
    pub(crate) fn owner(self) -> Result<(Arc<Owner<A, H>>, S), BuildError> {
        let runtime = Handle::try_current().map_err(|_| BuildError::NoRuntime)?;
        let blueprint = self.blueprint.unwrap_or_else(|| Config::default().breaker);
        if blueprint.needs_probe() && self.probe.is_none() {
            return Err(BuildError::NeverProbed { strategy: blueprint.name() });
        }
        if self.config.validation() && self.connector.is_none() {
            return Err(BuildError::NoConnector);
        }
        let circuits_changed = Arc::new(Notify::new());
        let canaries = self.probe.filter(|_| blueprint.wants_probes());
        let canaries = canaries.map(|probe| Attendance::spawn(Arc::new(ReplicaProbe(probe)) as _));
        let clock = self.clock.unwrap_or_else(|| Arc::new(TokioClock::new()));
        let kin = Arc::new(Kin::new(canaries.as_ref().map(|canaries| canaries.line().clone())));
        let tell = {
            let (kin, waiters) = (Arc::clone(&kin), Arc::clone(&circuits_changed));
            move |_: &Event| {
                kin.changes.note();
                waiters.notify_waiters();
            }
        };
        let breakers = Breaker::builder(blueprint)
            .clock(Arc::clone(&clock))
            .abandoned_call_is_failure_after(self.config.abandoned_call_is_failure_after())
            .observer(Arc::new(tell))
            .probed();
        let shared = Arc::new(Shared {
            hedging: self.config.hedge_after().map(Hedging::new),
            config: self.config,
            breakers: self.observers.into_iter().fold(breakers, BreakerBuilder::observer),
            clock,
            kin,
            connector: self.connector,
            directory: Directory::new(),
            canaries: Mutex::new(canaries),
            validator: Validator::new(),
            circuits_changed,
            tasks: Tasks::new(runtime),
        });
        Ok((Arc::new(Owner { shared }), self.source))
    }
}

impl<A: Address, H: Send + Sync + 'static> PoolBuilder<A, H, Unpartitioned<A>> {
    /// The pool, at once. The addresses are asked for in the background; calls wait for the first answer,
    /// and so does [`ready`](ReplicaPool::ready).
    ///
    /// # Errors
    ///
    /// See [`BuildError`].
    pub fn build(self) -> Result<ReplicaPool<A, H>, BuildError> {
        let (owner, Unpartitioned(source)) = self.owner()?;
        let partition = Partition::new(Arc::clone(&owner.shared), source);
        partition.begin();
        Ok(ReplicaPool::new(owner, partition))
    }
}

impl<A, H, S> fmt::Debug for PoolBuilder<A, H, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolBuilder")
            .field("strategy", &self.blueprint)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
