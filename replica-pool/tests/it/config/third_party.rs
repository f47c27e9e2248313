use breaker_core::{
    Strategy, Timestamp,
    config::{IsoDuration, NonResilient, RegisterError, StrategyConfig, Violations},
};
use breaker_static::StaticThreshold;
use replica_pool::config::{Config, builtin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A strategy that this workspace has never heard of.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Cooldown {
    /// How long to leave a remote alone.
    #[schemars(extend("exclusiveMinimum" = 0, "default" = "PT5S"))]
    pause: Option<IsoDuration>,
}

impl StrategyConfig for Cooldown {
    const NAME: &'static str = "COOLDOWN";
    type Keys = Self;

    fn from_keys(keys: Self) -> Result<Self, Violations> {
        Ok(Self { pause: keys.pause.or(Some(IsoDuration::from_secs(5))) })
    }

    fn build(&self, now: Timestamp) -> Box<dyn Strategy> {
        NonResilient::default().build(now)
    }
}

#[test]
fn a_strategy_of_ones_own_has_the_same_file_errors_and_schema() {
    let mut registry = builtin();
    registry.register::<Cooldown>().unwrap();
    let loader = Config::loader().registry(registry.clone());

    let config = loader.text("f", r#"{"circuitBreaker": {"strategy": "COOLDOWN", "pause": "1m"}}"#).unwrap();
    assert_eq!(config.effective()["circuitBreaker"], json!({ "strategy": "COOLDOWN", "pause": "PT1M" }));

    let said = |text| loader.text("f", text).unwrap_err().to_string();
    assert_eq!(
        said(r#"{"circuitBreaker": {"strategy": "COOLDOWN", "puase": 1}}"#),
        r#"f:1:45: circuitBreaker.puase: unknown key; did you mean "pause"?"#
    );
    assert_eq!(
        said(r#"{"circuitBreaker": {"pause": 1}}"#),
        r#"f:1:21: circuitBreaker.pause: key of another strategy; needs "strategy": "COOLDOWN""#
    );
    assert!(said(r#"{"circuitBreaker": {"strategy": "COOLDOWN", "pause": 0}}"#).contains("more than 0 s"));

    let validator = jsonschema::validator_for(&registry.schema()).unwrap();
    assert!(validator.is_valid(&json!({ "circuitBreaker": { "type": "COOLDOWN", "pause": "PT1M" } })));
    assert!(!validator.is_valid(&json!({ "circuitBreaker": { "type": "COOLDOWN", "pause": 0 } })));
}

#[test]
fn a_name_is_taken_once() {
    let mut registry = builtin();
    assert_eq!(
        registry.names().collect::<Vec<_>>(),
        ["STATIC_THRESHOLD", "CANARY_RATE_THRESHOLD", "NON_RESILIENT"]
    );
    let error = registry.register::<StaticThreshold>().unwrap_err();
    assert_eq!(error, RegisterError::NameTaken("STATIC_THRESHOLD"));
}
