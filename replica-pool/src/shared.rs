use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use breaker_canary::Attendance;
use breaker_core::{Breaker, BreakerBuilder, Clock, Now};

use crate::{
    Address, Connector, Replica, config::PoolConfig, directory::Directory, hedge::Hedging, kin::Kin,
    order::View, tasks::Tasks, validation::Validator, waiting::Waiting,
};

/// Who probes the replicas of a pool.
type Canaries<A, H> = Attendance<Replica<A, H>>;

/// What all partitions of a pool share.
pub(crate) struct Shared<A, H> {
    pub(crate) config: PoolConfig,
    /// What the replicas' breakers are made of.
    pub(crate) breakers: BreakerBuilder,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) kin: Arc<Kin<A, H>>,
    pub(crate) connector: Option<Arc<dyn Connector<A, H>>>,
    pub(crate) directory: Directory<A, H>,
    /// `None` without a probe, and once the pool is gone.
    pub(crate) canaries: Mutex<Option<Canaries<A, H>>>,
    pub(crate) validator: Validator,
    /// Where calls may have rivals.
    pub(crate) hedging: Option<Hedging>,
    /// Wakes those who wait for any circuit to leave open, or for a first round of probes to end.
    pub(crate) circuits_changed: Arc<tokio::sync::Notify>,
    pub(crate) tasks: Tasks,
}

impl<A: Address, H: Send + Sync + 'static> Shared<A, H> {
    /// The replica at `address`, whichever partitions it serves.
    pub(crate) fn enter(&self, address: &A) -> Arc<Replica<A, H>> {
        let waiting = || {
            let looked_at = self.config.suspect_after().is_some() || self.hedging.is_some();
            looked_at.then(|| Box::new(Waiting::new()))
        };
        let make = || Replica::new(address.clone(), self.breaker(), waiting(), Arc::clone(&self.kin));
        self.directory.enter(address, make)
    }

    /// The present instant, for one look at replicas.
    pub(crate) fn now(&self) -> Now<'_> {
        Now::of(&*self.clock)
    }

    /// What `replica` looks like now.
    pub(crate) fn view(&self, replica: &Replica<A, H>) -> View {
        View::of(replica, &self.now(), &self.config)
    }

    /// Ends the background work.
    pub(crate) fn shut_down(&self) {
        self.tasks.shut_down();
        self.canaries.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn breaker(&self) -> Breaker {
        match self.breakers.clone().build() {
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
            .field("breakers", &self.breakers)
            .finish_non_exhaustive()
    }
}
