use serde::{Deserialize, Serialize};

use super::{
    registry,
    sample::{Other, Sample},
};
use crate::{
    State, Strategy, Timestamp,
    config::{Blueprint, NonResilient, RegisterError, Registry, StrategyConfig, Violations},
};

#[test]
fn two_strategies_of_one_name_are_an_error() {
    let mut registry = registry();
    assert_eq!(registry.register::<Other>().unwrap_err(), RegisterError::NameTaken("OTHER_STRATEGY"));
    assert_eq!(registry.register::<Sample>().unwrap_err(), RegisterError::NameTaken("SAMPLE"));
    assert!(registry.register::<NonResilient>().is_ok());
    assert_eq!(registry.names().collect::<Vec<_>>(), ["SAMPLE", "OTHER_STRATEGY", "NON_RESILIENT"]);
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
struct Typed {
    r#type: Option<u32>,
}

impl StrategyConfig for Typed {
    const NAME: &'static str = "TYPED";
    type Keys = Self;

    fn from_keys(keys: Self) -> Result<Self, Violations> {
        Ok(keys)
    }

    fn build(&self, now: Timestamp) -> Box<dyn Strategy> {
        NonResilient::default().build(now)
    }

    fn needs_probe(&self) -> bool {
        true
    }
}

#[test]
fn a_strategy_cannot_have_the_key_that_chooses_it() {
    let error = registry().register::<Typed>().unwrap_err();
    assert_eq!(error, RegisterError::ReservedKey { strategy: "TYPED", key: "type" });
}

#[test]
fn non_resilient_has_no_keys_and_is_always_closed() {
    let registry = Registry::with_default::<NonResilient>();
    let read = |text: &str| {
        let document = crate::config::Document::parse("f", text).unwrap();
        registry.resolve(document.blocks().unwrap().breaker())
    };
    let blueprint = read(r#"{"circuitBreaker": {"strategy": "NON_RESILIENT"}}"#).unwrap().blueprint;
    assert_eq!(serde_json::to_string(&blueprint.effective()).unwrap(), r#"{"strategy":"NON_RESILIENT"}"#);
    assert_eq!(blueprint.build(Timestamp::ZERO).state(), State::Closed);
    assert!(!blueprint.needs_probe());
    let error = read(r#"{"circuitBreaker": {"strategy": "NON_RESILIENT", "count": 1}}"#).unwrap_err();
    assert!(
        error.to_string().ends_with("circuitBreaker.count: unknown key; allowed: strategy or type"),
        "{error}"
    );
}

#[test]
fn a_blueprint_tells_whether_its_circuits_want_and_need_probes() {
    let tells = |blueprint: Blueprint| (blueprint.wants_probes(), blueprint.needs_probe());
    assert_eq!(tells(NonResilient {}.into()), (false, false));
    assert_eq!(tells(Other {}.into()), (true, false));
    assert_eq!(tells(Typed::default().into()), (true, true), "what needs them wants them");
}
