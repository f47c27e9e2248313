//! The settings of the strategy: every value present and valid.

use std::{fmt, num::NonZeroU32, sync::Arc, time::Duration};

use breaker_core::{
    Strategy, Timestamp,
    config::{IsoDuration, StrategyConfig, Violation, Violations},
};
use serde::{Deserialize, Serialize};

use crate::{StaticThresholdKeys, machine::Machine};

/// The largest window. It takes one bit for each call.
const MAX_CAPACITY: u32 = 1_000_000;

/// Settings of the `STATIC_THRESHOLD` strategy. Cheap to clone: all circuits share them.
///
/// ```
/// use breaker_static::{StaticThreshold, StaticThresholdKeys};
///
/// let keys = StaticThresholdKeys { failure_threshold: Some(12), ..StaticThresholdKeys::default() };
/// let settings = StaticThreshold::try_from(keys)?;
/// assert_eq!(settings.failure_threshold_capacity().get(), 12);
/// # Ok::<(), breaker_core::config::Violations>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StaticThresholdKeys")]
pub struct StaticThreshold(Arc<Rules>);

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rules {
    failure_threshold: NonZeroU32,
    failure_threshold_capacity: NonZeroU32,
    success_threshold: NonZeroU32,
    test_delay: IsoDuration,
    max_test_delay: IsoDuration,
    half_open_permit_lease: IsoDuration,
}

impl Rules {
    const DEFAULT: Self = Self {
        failure_threshold: nonzero(3),
        failure_threshold_capacity: nonzero(10),
        success_threshold: nonzero(5),
        test_delay: IsoDuration::from_secs(20),
        max_test_delay: IsoDuration::from_secs(20),
        half_open_permit_lease: IsoDuration::from_secs(60),
    };
}

impl StaticThreshold {
    /// That many failures within the window open the circuit. Default 3.
    pub fn failure_threshold(&self) -> NonZeroU32 {
        self.0.failure_threshold
    }

    /// The size of the window in calls. Default 10, or the failure threshold where that is more.
    pub fn failure_threshold_capacity(&self) -> NonZeroU32 {
        self.0.failure_threshold_capacity
    }

    /// That many successes close a half-open circuit, and that many calls it lets out at a time. Default 5.
    pub fn success_threshold(&self) -> NonZeroU32 {
        self.0.success_threshold
    }

    /// How long the circuit stays open after a first trip. Default 20 s.
    pub fn test_delay(&self) -> Duration {
        self.0.test_delay.get()
    }

    /// The longest that the circuit stays open after trips in a row. Default: the test delay.
    pub fn max_test_delay(&self) -> Duration {
        self.0.max_test_delay.get()
    }

    /// How long the calls of a half-open circuit may all be out without news. Default one minute.
    pub fn half_open_permit_lease(&self) -> Duration {
        self.0.half_open_permit_lease.get()
    }
}

impl Default for StaticThreshold {
    fn default() -> Self {
        Self(Arc::new(Rules::DEFAULT))
    }
}

impl TryFrom<StaticThresholdKeys> for StaticThreshold {
    type Error = Violations;

    fn try_from(keys: StaticThresholdKeys) -> Result<Self, Violations> {
        let default = Rules::DEFAULT;
        let mut faults = Vec::new();

        let failure_threshold = keys.failure_threshold.unwrap_or(default.failure_threshold.get());
        let capacity = keys
            .failure_threshold_capacity
            .unwrap_or_else(|| failure_threshold.max(default.failure_threshold_capacity.get()));
        let success_threshold = keys.success_threshold.unwrap_or(default.success_threshold.get());
        let test_delay = keys.test_delay.unwrap_or(default.test_delay);
        let max_test_delay = keys.max_test_delay.unwrap_or(test_delay);
        let lease = keys.half_open_permit_lease.unwrap_or(default.half_open_permit_lease);

        if !(1..=MAX_CAPACITY).contains(&failure_threshold) {
            let allowed = format!("an integer from 1 to {MAX_CAPACITY}");
            faults.push(fault("failureThreshold", failure_threshold, allowed));
        } else if capacity < failure_threshold {
            let allowed =
                format!("at least {failure_threshold}, since failureThreshold is {failure_threshold}");
            faults.push(fault("failureThresholdCapacity", capacity, allowed));
        } else if capacity > MAX_CAPACITY {
            faults.push(fault("failureThresholdCapacity", capacity, format!("at most {MAX_CAPACITY}")));
        }
        if success_threshold == 0 {
            faults.push(fault("successThreshold", success_threshold, "an integer of at least 1"));
        }
        if max_test_delay < test_delay {
            let allowed = format!("at least {test_delay}, since testDelay is {test_delay}");
            faults.push(fault("maxTestDelay", max_test_delay, allowed));
        }
        if lease == IsoDuration::default() {
            faults.push(fault("halfOpenPermitLease", lease, "more than PT0S"));
        }

        match (
            NonZeroU32::new(failure_threshold),
            NonZeroU32::new(capacity),
            NonZeroU32::new(success_threshold),
        ) {
            (Some(failure_threshold), Some(failure_threshold_capacity), Some(success_threshold))
                if faults.is_empty() =>
            {
                Ok(Self(Arc::new(Rules {
                    failure_threshold,
                    failure_threshold_capacity,
                    success_threshold,
                    test_delay,
                    max_test_delay,
                    half_open_permit_lease: lease,
                })))
            }
            _ => Err(Violations(faults)),
        }
    }
}

impl StrategyConfig for StaticThreshold {
    const NAME: &'static str = "STATIC_THRESHOLD";

    type Keys = StaticThresholdKeys;

    fn from_keys(keys: StaticThresholdKeys) -> Result<Self, Violations> {
        keys.try_into()
    }

    fn build(&self, _: Timestamp) -> Box<dyn Strategy> {
        Box::new(Machine::new(self.clone()))
    }
}

const fn nonzero(value: u32) -> NonZeroU32 {
    match NonZeroU32::new(value) {
        Some(value) => value,
        None => NonZeroU32::MIN,
    }
}

fn fault(key: &'static str, value: impl fmt::Display, allowed: impl Into<String>) -> Violation {
    Violation { key, value: value.to_string(), allowed: allowed.into() }
}

#[cfg(test)]
mod tests;
