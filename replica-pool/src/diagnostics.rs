//! What a request saw. Recorded only when somebody asks.

use std::{fmt::Display, time::Duration};

use breaker_core::{Circuit, Mode, Status};
use serde::Serialize;

use crate::{HealthStatus, Verdict, order::View};

/// What one request saw and did, for logs and bug reports. Serialises to JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Diagnostics {
    /// The attempts, in order.
    pub attempts: Vec<AttemptRecord>,
    /// What the last selection saw.
    pub replica_status_list: ReplicaStatusList,
    /// Whether replicas that the gateway named again are validated by opening connections.
    pub validation_enabled: bool,
    /// The version of the routing map by which the request was routed last; `None` in a pool without partitions.
    pub map_version: Option<u64>,
    /// The refreshes that the request started or joined.
    pub refreshes: Vec<RefreshRecord>,
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AttemptRecord {
    /// The replica's address.
    pub replica: String,
    /// Its circuit when it was chosen.
    pub circuit: Circuit,
    /// Its health when it was chosen.
    pub health: HealthStatus,
    /// What became of the attempt.
    pub result: AttemptResult,
    /// How long it took; zero when it was not admitted.
    pub elapsed: Duration,
}

/// What became of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum AttemptResult {
    /// The circuit did not admit it.
    Rejected,
    /// It took longer than `attemptTimeout`.
    TimedOut,
    /// The request's deadline came first.
    CutShort,
    /// It ended with this verdict.
    Judged(Verdict),
}

/// What a selection saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReplicaStatusList {
    /// The replicas that ordinary requests go to.
    pub attempting: Vec<ReplicaStatus>,
    /// Those that are asked only when none of the others helps.
    pub ignoring: Vec<ReplicaStatus>,
}

/// One replica, as a selection saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReplicaStatus {
    /// Its address.
    pub replica: String,
    /// Its circuit.
    pub circuit: Circuit,
    /// Who decides over the circuit.
    pub mode: Mode,
    /// Its health.
    pub health: HealthStatus,
}

impl ReplicaStatusList {
    pub(crate) fn push(&mut self, replica: &impl Display, view: View) {
        let Status { circuit, mode, .. } = view.circuit;
        let status = ReplicaStatus { replica: replica.to_string(), circuit, mode, health: view.health };
        if view.circuit.refusal().is_none() && view.health.rank() == 0 {
            self.attempting.push(status);
        } else {
            self.ignoring.push(status);
        }
    }
}

/// A refresh that a request had to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RefreshRecord {
    /// What was asked for.
    pub of: Refreshed,
    /// Why it was asked for.
    pub reason: RefreshReason,
    /// Whether this request started it; else it joined one that was under way.
    pub started: bool,
    /// How long the request waited for it; `None` when it did not.
    pub waited: Option<Duration>,
}

/// What a refresh asks the gateway for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Refreshed {
    /// The addresses of the replicas of a partition.
    Addresses,
    /// The routing map.
    RoutingMap,
}

/// Why the gateway is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum RefreshReason {
    /// There are no addresses, or no routing map, yet.
    NoAddresses,
    /// A replica was marked as failed.
    MarkedFailed,
    /// A replica has been unhealthy for `unhealthyTimeout`.
    UnhealthyTooLong,
    /// Every candidate of a request failed.
    Exhausted,
    /// The replicas, the partition, or both, are gone from where they were.
    Gone,
    /// The set has been smaller than `targetReplicas` for ten minutes.
    BelowTarget,
    /// `refreshInterval` has passed.
    Interval,
    /// Someone asked.
    Asked,
}

impl RefreshReason {
    /// Whether something looks wrong, so that an unchanged answer is a reason to wait before the next
    /// question.
    pub(crate) const fn is_forced(self) -> bool {
        !matches!(self, Self::Interval)
    }
}
