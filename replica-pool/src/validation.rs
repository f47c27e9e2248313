//! Opening connections to replicas that failed and were named again. Nobody waits for it.

use std::{panic::AssertUnwindSafe, sync::Arc, thread::available_parallelism};

use futures::FutureExt;
use tokio::{sync::Semaphore, time::timeout};

use crate::{Address, HealthStatus, Replica, health::Mark, partition::Partition};

/// Bounds how many connections are opened for validation at once: one for each core.
#[derive(Debug)]
pub(crate) struct Validator {
    places: Semaphore,
}

impl Validator {
    pub(crate) fn new() -> Self {
        Self { places: Semaphore::new(available_parallelism().map_or(1, usize::from)) }
    }
}

impl<A: Address, H: Send + Sync + 'static> Partition<A, H> {
    /// Validates `replica` in the background, unless that is under way.
    pub(crate) fn validate(self: &Arc<Self>, replica: Arc<Replica<A, H>>) {
        if replica.begin_opening() {
            let partition = Arc::clone(self);
            self.shared.tasks.spawn(async move {
                partition.open(&replica, HealthStatus::UnhealthyPending).await;
            });
        }
    }

    /// Opens a connection to `replica` if its health is unknown, unless that is under way. Says whether it did.
    pub(crate) async fn warm_up(self: &Arc<Self>, replica: &Arc<Replica<A, H>>) -> bool {
        replica.begin_opening() && self.open(replica, HealthStatus::Unknown).await
    }

    /// Opens a connection to `replica` if it is (still) in status `only`. Says whether it did.
    async fn open(self: &Arc<Self>, replica: &Arc<Replica<A, H>>, only: HealthStatus) -> bool {
        let mut opening = Opening { partition: self, replica, tried: None };
        let Some(connector) = &self.shared.connector else { return false };
        let Ok(_place) = self.shared.validator.places.acquire().await else { return false };
        let mark = replica.mark();
        if mark.status() != only || (self.fixed && replica.handle().is_some()) {
            return false;
        }
        opening.tried = Some(mark);
        let connecting = AssertUnwindSafe(connector.connect(replica.address())).catch_unwind();
        let why = match timeout(self.shared.config.attempt_timeout(), connecting).await {
            Ok(Ok(Ok(handle))) => {
                replica.keep(mark.epoch(), || Arc::new(handle));
                if !self.fixed {
                    replica.connected(mark.epoch());
                }
                return true;
            }
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(_)) => "the connector panicked".to_owned(),
            Err(_) => "it took too long".to_owned(),
        };
        tracing::debug!(replica = %replica.address(), why, "a connection could not be opened");
        if !self.fixed && replica.refuted(mark) {
            // The answer that named it may have been too old.
            let _ = self.marked(0, replica, true);
        }
        false
    }
}

/// The one opening of a connection to a replica.
struct Opening<'a, A: Address, H: Send + Sync + 'static> {
    partition: &'a Arc<Partition<A, H>>,
    replica: &'a Arc<Replica<A, H>>,
    /// The mark that the connection is to tell of, once it is asked for.
    tried: Option<Mark>,
}

impl<A: Address, H: Send + Sync + 'static> Drop for Opening<'_, A, H> {
    fn drop(&mut self) {
        self.replica.end_opening();
        let mark = self.replica.mark();
        // Whoever wanted it validated found this one under way.
        if self.tried != Some(mark) && mark.status() == HealthStatus::UnhealthyPending {
            self.partition.validate(Arc::clone(self.replica));
        }
    }
}
