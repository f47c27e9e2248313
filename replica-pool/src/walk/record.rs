//! What a walk writes down when somebody asks.

use std::{error::Error, time::Duration};

use super::{Set, Walk};
use crate::{
    Address, AttemptRecord, AttemptResult, RefreshReason, RefreshRecord, Refreshed, Replica,
    ReplicaStatusList, order::View, partition::Partition, refresher::Request,
};

impl<A, H, T, E> Walk<'_, A, H, T, E>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
{
    /// The request goes where the map of this version leads.
    pub(crate) fn routed_by(&mut self, map_version: Option<u64>) {
        if let Some(diagnostics) = &mut self.diagnostics {
            diagnostics.map_version = map_version;
        }
    }

    pub(super) fn record_selection(&mut self, partition: &Partition<A, H>, set: &Set<A, H>) {
        let Some(diagnostics) = &mut self.diagnostics else { return };
        let config = &partition.shared.config;
        let now = partition.shared.now();
        diagnostics.validation_enabled = config.validation();
        diagnostics.replica_status_list = ReplicaStatusList::default();
        for replica in set.replicas() {
            let view = View::of(replica, &now, config);
            diagnostics.replica_status_list.push(replica.address(), view);
        }
    }

    pub(super) fn record(
        &mut self,
        replica: &Replica<A, H>,
        view: Option<View>,
        result: AttemptResult,
        elapsed: Duration,
    ) {
        if let (Some(diagnostics), Some(view)) = (&mut self.diagnostics, view) {
            let (circuit, health) = (view.circuit.circuit, view.health);
            let replica = replica.address().to_string();
            diagnostics.attempts.push(AttemptRecord { replica, circuit, health, result, elapsed });
        }
    }

    pub(super) fn record_refresh(
        &mut self,
        of: Refreshed,
        reason: RefreshReason,
        request: Request,
        waited: Option<Duration>,
    ) {
        if let (Some(diagnostics), Request::Run { started, .. }) = (&mut self.diagnostics, request) {
            diagnostics.refreshes.push(RefreshRecord { of, reason, started, waited });
        }
    }
}
