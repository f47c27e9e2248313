//! The settings of a pool: every value present and valid.

use std::{num::NonZeroU32, time::Duration};

use breaker_core::config::{BlockConfig, IsoDuration, Violation, Violations};
use serde::{Deserialize, Serialize};

use super::{HedgeAfter, Order, PoolKeys, ValidationKeys, WhenAllOpen};

/// Settings of a pool, all of them valid. [`PoolKeys`] builds one.
///
/// Serialises to the effective `replicaPool` block: every key with its value, those that are not set as `null`,
/// durations as ISO-8601.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PoolKeys", into = "PoolKeys")]
pub struct PoolConfig {
    order: Order,
    trial_ratio: f64,
    when_all_open: WhenAllOpen,
    startup_wait: Duration,
    unhealthy_timeout: Duration,
    suspect_after: Option<Duration>,
    hedge_after: Option<HedgeAfter>,
    target_replicas: Option<NonZeroU32>,
    refresh_interval: Option<Duration>,
    reset_circuits_on_refresh: bool,
    validation: bool,
    attempt_timeout: Duration,
    max_attempts: Option<NonZeroU32>,
    deadline: Duration,
    abandoned_call_is_failure_after: Duration,
}

impl PoolConfig {
    /// In which order equally healthy replicas are tried. Default: shuffled.
    pub fn order(&self) -> Order {
        self.order
    }

    /// The share of requests that try a half-open replica first, from 0 to 1. Default 0.1.
    pub fn trial_ratio(&self) -> f64 {
        self.trial_ratio
    }

    /// What a call does when every circuit is open. Default: fail fast.
    pub fn when_all_open(&self) -> WhenAllOpen {
        self.when_all_open
    }

    /// The longest that a call waits for the first round of probes, or for a half-open place to come back. Default 1 s; may be
    /// zero.
    pub fn startup_wait(&self) -> Duration {
        self.startup_wait
    }

    /// How long a replica counts as unhealthy before it is looked up again. Default 1 min; never zero.
    pub fn unhealthy_timeout(&self) -> Duration {
        self.unhealthy_timeout
    }

    /// How long a silent replica may keep a call waiting before it ranks as unhealthy. Default: off; never zero.
    pub fn suspect_after(&self) -> Option<Duration> {
        self.suspect_after
    }

    /// When an attempt of an idempotent call gets a rival. Default: never.
    pub fn hedge_after(&self) -> Option<HedgeAfter> {
        self.hedge_after
    }

    /// How many replicas there should be, at least 1. Default: not watched.
    pub fn target_replicas(&self) -> Option<usize> {
        self.target_replicas.map(count)
    }

    /// The time from one refresh to the next. Default: only failures start one; never zero.
    pub fn refresh_interval(&self) -> Option<Duration> {
        self.refresh_interval
    }

    /// Whether an answer of the gateway sends open circuits back to their start state. Default: yes.
    pub fn reset_circuits_on_refresh(&self) -> bool {
        self.reset_circuits_on_refresh
    }

    /// Whether replicas that failed are validated by opening a connection. Default: no.
    pub fn validation(&self) -> bool {
        self.validation
    }

    /// The longest that one attempt may take. Default 5 s; never zero.
    pub fn attempt_timeout(&self) -> Duration {
        self.attempt_timeout
    }

    /// The most attempts of one call, at least 1. Default: every candidate once.
    pub fn max_attempts(&self) -> Option<usize> {
        self.max_attempts.map(count)
    }

    /// The longest that a call may take. Default 30 s; may be zero.
    pub fn deadline(&self) -> Duration {
        self.deadline
    }

    /// From which age on a dropped attempt counts as a failure. Default 1 s; may be zero.
    pub fn abandoned_call_is_failure_after(&self) -> Duration {
        self.abandoned_call_is_failure_after
    }
}

fn count(number: NonZeroU32) -> usize {
    usize::try_from(number.get()).unwrap_or(usize::MAX)
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            order: Order::default(),
            trial_ratio: 0.1,
            when_all_open: WhenAllOpen::default(),
            startup_wait: Duration::from_secs(1),
            unhealthy_timeout: Duration::from_secs(60),
            suspect_after: None,
            hedge_after: None,
            target_replicas: None,
            refresh_interval: None,
            reset_circuits_on_refresh: true,
            validation: false,
            attempt_timeout: Duration::from_secs(5),
            max_attempts: None,
            deadline: Duration::from_secs(30),
            abandoned_call_is_failure_after: Duration::from_secs(1),
        }
    }
}

impl TryFrom<PoolKeys> for PoolConfig {
    type Error = Violations;

    fn try_from(keys: PoolKeys) -> Result<Self, Violations> {
        let default = Self::default();
        let span = |key: Option<IsoDuration>, default| key.map_or(default, IsoDuration::get);
        let config = Self {
            order: keys.order.unwrap_or(default.order),
            trial_ratio: keys.trial_ratio.unwrap_or(default.trial_ratio),
            when_all_open: keys.when_all_open.unwrap_or(default.when_all_open),
            startup_wait: span(keys.startup_wait, default.startup_wait),
            unhealthy_timeout: span(keys.unhealthy_timeout, default.unhealthy_timeout),
            suspect_after: keys.suspect_after.map(IsoDuration::get),
            hedge_after: keys.hedge_after,
            target_replicas: keys.target_replicas,
            refresh_interval: keys.refresh_interval.map(IsoDuration::get),
            reset_circuits_on_refresh: keys
                .reset_circuits_on_refresh
                .unwrap_or(default.reset_circuits_on_refresh),
            validation: keys.validation.and_then(|keys| keys.enabled).unwrap_or(default.validation),
            attempt_timeout: span(keys.attempt_timeout, default.attempt_timeout),
            max_attempts: keys.max_attempts,
            deadline: span(keys.deadline, default.deadline),
            abandoned_call_is_failure_after: span(
                keys.abandoned_call_is_failure_after,
                default.abandoned_call_is_failure_after,
            ),
        };
        config.checked()
    }
}

impl PoolConfig {
    fn checked(self) -> Result<Self, Violations> {
        let mut violations = Vec::new();
        if !(0.0..=1.0).contains(&self.trial_ratio) {
            let allowed = "a number, at least 0, at most 1".to_owned();
            violations.push(Violation { key: "trialRatio", value: self.trial_ratio.to_string(), allowed });
        }
        let hedge_after = match self.hedge_after {
            Some(HedgeAfter::After(span)) => Some(span.get()),
            Some(HedgeAfter::Adaptive) | None => None,
        };
        for (key, span) in [
            ("unhealthyTimeout", Some(self.unhealthy_timeout)),
            ("suspectAfter", self.suspect_after),
            ("hedgeAfter", hedge_after),
            ("refreshInterval", self.refresh_interval),
            ("attemptTimeout", Some(self.attempt_timeout)),
        ] {
            if span == Some(Duration::ZERO) {
                let value = IsoDuration::default().to_string();
                violations.push(Violation { key, value, allowed: "more than PT0S".to_owned() });
            }
        }
        if violations.is_empty() { Ok(self) } else { Err(Violations(violations)) }
    }
}

impl From<PoolConfig> for PoolKeys {
    fn from(config: PoolConfig) -> Self {
        Self {
            order: Some(config.order),
            trial_ratio: Some(config.trial_ratio),
            when_all_open: Some(config.when_all_open),
            startup_wait: Some(config.startup_wait.into()),
            unhealthy_timeout: Some(config.unhealthy_timeout.into()),
            suspect_after: config.suspect_after.map(Into::into),
            hedge_after: config.hedge_after,
            target_replicas: config.target_replicas,
            refresh_interval: config.refresh_interval.map(Into::into),
            reset_circuits_on_refresh: Some(config.reset_circuits_on_refresh),
            validation: Some(ValidationKeys { enabled: Some(config.validation) }),
            attempt_timeout: Some(config.attempt_timeout.into()),
            max_attempts: config.max_attempts,
            deadline: Some(config.deadline.into()),
            abandoned_call_is_failure_after: Some(config.abandoned_call_is_failure_after.into()),
        }
    }
}

impl BlockConfig for PoolConfig {
    const NAME: &'static str = "replicaPool";
    type Keys = PoolKeys;

    fn from_keys(keys: PoolKeys) -> Result<Self, Violations> {
        keys.try_into()
    }
}

#[cfg(test)]
mod tests;
