//! The settings of the strategy: every value present and valid.

use std::sync::Arc;

use breaker_core::{
    Strategy, Timestamp,
    config::{StrategyConfig, Violations},
};
use serde::{Deserialize, Serialize, Serializer};

use super::{checks::Checks, keys::CanaryRateThresholdKeys, machine::Machine, rules::Rules};

/// Settings of the `CANARY_RATE_THRESHOLD` strategy. Cheap to clone: all circuits share them.
///
/// ```
/// use breaker_canary::{CanaryRateThreshold, CanaryRateThresholdKeys};
///
/// let keys = CanaryRateThresholdKeys {
///     failure_rate_threshold: Some(21.9),
///     ..CanaryRateThresholdKeys::default()
/// };
/// let settings = CanaryRateThreshold::try_from(keys)?;
/// assert_eq!(settings.keys().half_open_failure_rate_threshold, Some(21.9));
/// # Ok::<(), breaker_core::config::Violations>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "CanaryRateThresholdKeys")]
pub struct CanaryRateThreshold(Arc<Rules>);

impl CanaryRateThreshold {
    /// Every key with the value that it has, given or by default; what is off is `None`.
    pub fn keys(&self) -> CanaryRateThresholdKeys {
        self.0.keys()
    }
}

impl Default for CanaryRateThreshold {
    fn default() -> Self {
        Self(Arc::new(Rules::new(&CanaryRateThresholdKeys::default(), &mut Checks::default())))
    }
}

impl TryFrom<CanaryRateThresholdKeys> for CanaryRateThreshold {
    type Error = Violations;

    fn try_from(keys: CanaryRateThresholdKeys) -> Result<Self, Violations> {
        let mut checks = Checks::default();
        let rules = Rules::new(&keys, &mut checks);
        checks.done(Self(Arc::new(rules)))
    }
}

impl Serialize for CanaryRateThreshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.keys().serialize(serializer)
    }
}

impl StrategyConfig for CanaryRateThreshold {
    const NAME: &'static str = "CANARY_RATE_THRESHOLD";

    type Keys = CanaryRateThresholdKeys;

    fn from_keys(keys: CanaryRateThresholdKeys) -> Result<Self, Violations> {
        keys.try_into()
    }

    fn build(&self, now: Timestamp) -> Box<dyn Strategy> {
        Box::new(Machine::new(Arc::clone(&self.0), now))
    }

    fn needs_probe(&self) -> bool {
        self.0.wait_in_open().is_none()
    }

    fn wants_probes(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
