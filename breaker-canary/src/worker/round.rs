//! One round of probes.

use std::sync::Arc;

use breaker_core::ProbePlan;
use tokio::{task::JoinSet, time::timeout};

use super::{Probe, attended::Attended};

/// Whether one of the plan's probes finds the owner of a circuit healthy. Dropped, it ends the probe under way.
pub(super) async fn round<T: Attended>(probe: Arc<dyn Probe<T>>, owner: Arc<T>, plan: ProbePlan) -> bool {
    for _ in 0..plan.attempts {
        let (probe, owner) = (Arc::clone(&probe), Arc::clone(&owner));
        // A task of its own: it may panic, or block, and is aborted when the set is dropped.
        let mut task = JoinSet::new();
        task.spawn(async move { probe.probe(&owner).await });
        if matches!(timeout(plan.timeout, task.join_next()).await, Ok(Some(Ok(true)))) {
            return true;
        }
    }
    false
}
