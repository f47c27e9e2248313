use breaker_canary::CanaryRateThreshold;
use breaker_core::config::{NonResilient, Registry};
use breaker_static::StaticThreshold;

use super::PoolConfig;

/// The strategies that come along: `STATIC_THRESHOLD`, which is the default, `CANARY_RATE_THRESHOLD` and
/// `NON_RESILIENT`. The `replicaPool` block is part of its schema.
///
/// Register your own on top, and give the registry to a [`ConfigLoader`](super::ConfigLoader).
pub fn builtin() -> Registry {
    let mut registry = Registry::with_default::<StaticThreshold>();
    let registered = registry
        .register::<CanaryRateThreshold>()
        .and_then(Registry::register::<NonResilient>)
        .map(Registry::describe_beside::<PoolConfig>);
    debug_assert!(registered.is_ok(), "the names differ");
    registry
}
