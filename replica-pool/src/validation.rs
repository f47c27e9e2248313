//! Opening connections to replicas that failed and were named again. Nobody waits for it.

use std::{panic::AssertUnwindSafe, sync::Arc, thread::available_parallelism};

use futures::FutureExt;
use tokio::{sync::Semaphore, time::timeout};

use crate::{Address, HealthStatus, Replica, partition::Partition, shared::Shared};

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
        if !replica.begin_validation() {
            return;
        }
        let partition = Arc::clone(self);
        self.shared.tasks.spawn(async move {
            let _ended = EndsValidation(&replica);
            if partition.shared.connect(&replica, HealthStatus::UnhealthyPending).await == Some(false) {
                // Whoever fails to validate was named by an answer that may have been too old.
                partition.ask_again();
            }
        });
    }
}

struct EndsValidation<'a, A: Address, H>(&'a Replica<A, H>);

impl<A: Address, H> Drop for EndsValidation<'_, A, H> {
    fn drop(&mut self) {
        self.0.end_validation();
    }
}

impl<A: Address, H: Send + Sync + 'static> Shared<A, H> {
    /// Opens a connection to `replica` if it is (still) in status `only`. Says whether it worked; `None` when there was
    /// nothing to do.
    pub(crate) async fn connect(&self, replica: &Arc<Replica<A, H>>, only: HealthStatus) -> Option<bool> {
        let connector = self.connector.as_ref()?;
        let _place = self.validator.places.acquire().await.ok()?;
        let mark = replica.mark();
        if mark.status() != only {
            return None;
        }
        let opening = AssertUnwindSafe(connector.connect(replica.address())).catch_unwind();
        let why = match timeout(self.config.attempt_timeout(), opening).await {
            Ok(Ok(Ok(handle))) => {
                replica.opened(mark.epoch(), Arc::new(handle));
                return Some(true);
            }
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(_)) => "the connector panicked".to_owned(),
            Err(_) => "it took too long".to_owned(),
        };
        tracing::debug!(replica = %replica.address(), why, "a validation failed");
        replica.failed(mark.epoch(), self.config.unhealthy_timeout());
        Some(false)
    }
}
