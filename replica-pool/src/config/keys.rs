//! What a `replicaPool` block may say.

use std::num::NonZeroU32;

use breaker_core::config::IsoDuration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HedgeAfter;

/// What a `replicaPool` block of a settings file may say. Every key may be absent.
///
/// In code it is the builder of [`PoolConfig`](super::PoolConfig).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(description = "How a pool of replicas behaves. It stands beside \"circuitBreaker\".")]
#[expect(clippy::exhaustive_structs, reason = "written with struct update syntax")]
pub struct PoolKeys {
    /// In which order equally healthy replicas are tried: at random, or as the gateway lists them.
    #[schemars(extend("default" = "shuffled"))]
    pub order: Option<Order>,

    /// The share of requests that try a half-open replica first, so that it is not starved behind healthy ones.
    #[schemars(range(min = 0, max = 1), extend("default" = 0.1))]
    pub trial_ratio: Option<f64>,

    /// What a call does when every circuit is open: fail at once, or make one attempt at the replica whose circuit
    /// may close soonest.
    #[schemars(extend("default" = "failFast"))]
    pub when_all_open: Option<WhenAllOpen>,

    /// The longest that a call waits while no circuit admits it, or when all who were asked have failed, for the first round of
    /// probes of replicas that start open, or for a half-open place to come back.
    #[schemars(extend("default" = "PT1S", "minimum" = 0))]
    pub startup_wait: Option<IsoDuration>,

    /// How long a replica that failed is kept behind the others before its address is asked for again.
    #[schemars(extend("default" = "PT1M", "exclusiveMinimum" = 0))]
    pub unhealthy_timeout: Option<IsoDuration>,

    /// A replica that has answered nothing for this long, while a call to it has been waiting for as long, is kept behind
    /// the others until it answers: calls in flight are evidence before they time out. Off unless set.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub suspect_after: Option<IsoDuration>,

    /// When an attempt of an idempotent call takes this long, the next candidate is tried beside it, within a budget of
    /// one extra attempt in ten. "adaptive": twice as long as 99 of 100 recent attempts took. Off unless set.
    pub hedge_after: Option<HedgeAfter>,

    /// How many replicas there should be; fewer for 10 minutes start a refresh. Not watched unless set.
    #[schemars(range(min = 1))]
    pub target_replicas: Option<NonZeroU32>,

    /// The time from one refresh of the addresses to the next, besides those that failures start. None unless
    /// set.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub refresh_interval: Option<IsoDuration>,

    /// Whether an answer of the gateway sends open circuits back to their strategy's start state.
    #[schemars(extend("default" = true))]
    pub reset_circuits_on_refresh: Option<bool>,

    /// Whether replicas that failed are validated, by opening a connection, after the gateway confirmed them.
    #[schemars(extend("default" = { "enabled": false }))]
    pub validation: Option<ValidationKeys>,

    /// The longest that one attempt at one replica may take.
    #[schemars(extend("default" = "PT5S", "exclusiveMinimum" = 0))]
    pub attempt_timeout: Option<IsoDuration>,

    /// The most attempts of one call. Every candidate once unless set.
    #[schemars(range(min = 1))]
    pub max_attempts: Option<NonZeroU32>,

    /// The longest that a call may take with all its attempts.
    #[schemars(extend("default" = "PT30S", "minimum" = 0))]
    pub deadline: Option<IsoDuration>,

    /// An attempt that its caller drops after this time counts as a failure of the replica; sooner it counts as
    /// cancelled.
    #[schemars(extend("default" = "PT1S", "minimum" = 0))]
    pub abandoned_call_is_failure_after: Option<IsoDuration>,
}

/// In which order equally healthy replicas are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Order {
    /// In a random one, a new one for each call.
    #[default]
    Shuffled,
    /// As the gateway lists them.
    Listed,
}

/// What a call does when every circuit is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum WhenAllOpen {
    /// It fails at once, and tells when to come back.
    #[default]
    FailFast,
    /// It makes one attempt at the replica whose circuit may close soonest.
    TryLeastBad,
}

/// Validation by opening connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "written with struct update syntax")]
pub struct ValidationKeys {
    /// Whether it is on.
    #[schemars(extend("default" = false))]
    pub enabled: Option<bool>,
}
