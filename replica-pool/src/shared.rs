use std::{fmt, sync::Arc};

use breaker_core::{Blueprint, Breaker, Clock, Observer};

use crate::{
    Address, Connector, Replica, canary::Canaries, config::PoolConfig, directory::Directory, tasks::Tasks,
    validation::Validator,
};

/// What all partitions of a pool share.
pub(crate) struct Shared<A, H> {
    pub(crate) config: PoolConfig,
    pub(crate) blueprint: Blueprint,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    pub(crate) connector: Option<Arc<dyn Connector<A, H>>>,
    pub(crate) directory: Directory<A, H>,
    pub(crate) canaries: Option<Canaries<A>>,
    pub(crate) validator: Validator,
    /// Wakes those who wait for any circuit to leave open, or for a first round of probes to end.
    pub(crate) circuits_changed: Arc<tokio::sync::Notify>,
    pub(crate) tasks: Tasks,
}

impl<A: Address, H: Send + Sync + 'static> Shared<A, H> {
    /// The replica at `address`, whichever partitions it serves.
    pub(crate) fn enter(&self, address: &A) -> Arc<Replica<A, H>> {
        let make = || Arc::new(Replica::new(address.clone(), Arc::new(self.breaker(address))));
        let watch = |replica: &Arc<Replica<A, H>>| {
            Some(self.canaries.as_ref()?.watch(address.clone(), replica.breaker()))
        };
        self.directory.enter(address, make, watch)
    }

    /// Whether the first round of probes of `replica` has ended, or none is to come.
    pub(crate) fn was_probed(&self, replica: &Replica<A, H>) -> bool {
        let _ = replica;
        true
    }

    pub(crate) fn shut_down(&self) {
        self.tasks.shut_down();
    }

    fn breaker(&self, address: &A) -> Breaker {
        let mut builder = Breaker::builder(self.blueprint.clone())
            .name(address.to_string())
            .clock(Arc::clone(&self.clock))
            .abandoned_call_is_failure_after(self.config.abandoned_call_is_failure_after())
            .probed();
        for observer in &self.observers {
            builder = builder.observer(Arc::clone(observer));
        }
        match builder.build() {
            Ok(breaker) => breaker,
            // The pool's builder has checked that somebody probes, and nothing else can fail.
            Err(error) => unreachable!("{error}"),
        }
    }
}

impl<A, H> fmt::Debug for Shared<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("config", &self.config)
            .field("blueprint", &self.blueprint)
            .finish_non_exhaustive()
    }
}
