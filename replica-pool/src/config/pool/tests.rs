use std::time::Duration;

use serde_json::{from_value, json, to_value};

use super::*;

fn violated(keys: PoolKeys) -> Vec<&'static str> {
    PoolConfig::try_from(keys).unwrap_err().0.iter().map(|violation| violation.key).collect()
}

#[test]
fn the_effective_block_has_every_key() {
    assert_eq!(
        to_value(PoolConfig::default()).unwrap(),
        json!({
            "order": "shuffled",
            "trialRatio": 0.1,
            "whenAllOpen": "failFast",
            "startupWait": "PT1S",
            "unhealthyTimeout": "PT1M",
            "suspectAfter": null,
            "hedgeAfter": null,
            "targetReplicas": null,
            "refreshInterval": null,
            "resetCircuitsOnRefresh": true,
            "validation": { "enabled": false },
            "attemptTimeout": "PT5S",
            "maxAttempts": null,
            "deadline": "PT30S",
            "abandonedCallIsFailureAfter": "PT1S",
        })
    );
}

#[test]
fn no_keys_are_the_defaults() {
    assert_eq!(PoolConfig::try_from(PoolKeys::default()), Ok(PoolConfig::default()));
    assert_eq!(from_value::<PoolConfig>(json!({})).unwrap(), PoolConfig::default());
}

#[test]
fn every_key_reaches_its_setting() {
    let block = json!({
        "order": "listed", "trialRatio": 1, "whenAllOpen": "tryLeastBad", "startupWait": 0,
        "unhealthyTimeout": 2, "targetReplicas": 4, "refreshInterval": "PT5M", "resetCircuitsOnRefresh": false,
        "validation": { "enabled": true }, "attemptTimeout": "250ms", "maxAttempts": 2, "deadline": "PT0S",
        "abandonedCallIsFailureAfter": 0.5,
    });
    let config: PoolConfig = from_value(block).unwrap();
    assert_eq!(config.order(), Order::Listed);
    assert_eq!(config.trial_ratio(), 1.0);
    assert_eq!(config.when_all_open(), WhenAllOpen::TryLeastBad);
    assert_eq!(config.startup_wait(), Duration::ZERO);
    assert_eq!(config.unhealthy_timeout(), Duration::from_secs(2));
    assert_eq!(config.target_replicas(), Some(4));
    assert_eq!(config.refresh_interval(), Some(Duration::from_secs(300)));
    assert!(!config.reset_circuits_on_refresh());
    assert!(config.validation());
    assert_eq!(config.attempt_timeout(), Duration::from_millis(250));
    assert_eq!(config.max_attempts(), Some(2));
    assert_eq!(config.deadline(), Duration::ZERO);
    assert_eq!(config.abandoned_call_is_failure_after(), Duration::from_millis(500));

    assert_eq!(
        from_value::<PoolConfig>(to_value(&config).unwrap()).unwrap(),
        config,
        "reads back what it writes"
    );
}

#[test]
fn code_cannot_build_what_a_file_cannot_say() {
    let zero = Some(IsoDuration::default());
    assert_eq!(
        violated(PoolKeys {
            trial_ratio: Some(1.5),
            unhealthy_timeout: zero,
            refresh_interval: zero,
            attempt_timeout: zero,
            ..PoolKeys::default()
        }),
        ["trialRatio", "unhealthyTimeout", "refreshInterval", "attemptTimeout"]
    );
    assert_eq!(violated(PoolKeys { trial_ratio: Some(f64::NAN), ..PoolKeys::default() }), ["trialRatio"]);
    assert_eq!(violated(PoolKeys { trial_ratio: Some(-0.1), ..PoolKeys::default() }), ["trialRatio"]);
}
