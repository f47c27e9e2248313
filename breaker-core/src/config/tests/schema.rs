use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    registry,
    sample::{Beside, Mode},
};
use crate::config::{BlockConfig, Document, IsoDuration, Violations};

fn schema() -> Value {
    registry().describe_beside::<Beside>().describe_beside::<Beside>().schema()
}

#[test]
fn the_blocks_are_described_in_all_three_places() {
    let schema = schema();
    for place in [
        "/properties",
        "/properties/solverRemote/properties",
        "/properties/solver/properties/remote/properties",
    ] {
        let blocks = schema.pointer(place).unwrap();
        assert_eq!(blocks["circuitBreaker"], json!({ "$ref": "#/$defs/circuitBreaker" }));
        assert_eq!(blocks["beside"], json!({ "$ref": "#/$defs/beside" }));
    }
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema.get("additionalProperties"), None, "the rest is the application's");
}

#[test]
fn each_strategy_has_a_branch_that_refuses_other_keys() {
    let schema = schema();
    for name in ["SAMPLE", "OTHER_STRATEGY", "beside"] {
        assert_eq!(schema["$defs"][name]["additionalProperties"], false);
    }
    let branches = schema["$defs"]["circuitBreaker"]["allOf"].as_array().unwrap();
    let targets: Vec<_> = branches.iter().map(|branch| &branch["then"]["$ref"]).collect();
    assert_eq!(targets, ["#/$defs/SAMPLE", "#/$defs/OTHER_STRATEGY"]);
    assert_eq!(
        schema["$defs"]["OTHER_STRATEGY"]["patternProperties"],
        json!({ "^(capacity|delay|either|enabled|lease|mode|nested|percent|picky|ports|signed)$": { "type": "null" } })
    );
}

#[test]
fn every_key_may_be_null_and_has_its_bounds_default_and_description() {
    let schema = schema();
    let sample = &schema["$defs"]["SAMPLE"]["properties"];
    assert_eq!(
        sample["count"],
        json!({
            "type": ["integer", "null"], "format": "uint32", "minimum": 1, "default": 2,
            "description": "How many. Wrapped over two lines.",
        })
    );
    assert_eq!(sample["lease"]["exclusiveMinimum"], 0);
    assert_eq!(sample["lease"].get("minimum"), None, "it says less");
    assert_eq!(sample["lease"]["type"], json!(["string", "number", "null"]));
    assert_eq!(sample["nested"]["additionalProperties"], false);
}

/// An object that has `key`, with such a value.
fn says(key: &str, value: &Value) -> Value {
    json!({ "type": "object", "required": [key], "properties": { key: value } })
}

#[test]
fn the_branch_is_that_of_the_strategy_or_of_the_default_where_none_is_named() {
    let breaker = &schema()["$defs"]["circuitBreaker"];
    let names =
        |name: &str| [says("strategy", &json!({ "const": name })), says("type", &json!({ "const": name }))];
    let text = json!({ "type": "string" });
    let neither = json!({ "not": { "anyOf": [says("strategy", &text), says("type", &text)] } });
    let sample: Vec<_> = names("SAMPLE").into_iter().chain([neither]).collect();
    assert_eq!(
        breaker["allOf"],
        json!([
            { "if": { "anyOf": sample }, "then": { "$ref": "#/$defs/SAMPLE" } },
            { "if": { "anyOf": names("OTHER_STRATEGY") }, "then": { "$ref": "#/$defs/OTHER_STRATEGY" } },
        ])
    );
    let set = json!({ "not": { "type": "null" } });
    assert_eq!(breaker["not"], json!({ "allOf": [says("strategy", &set), says("type", &set)] }));
    for key in ["strategy", "type"] {
        let choice = &breaker["properties"][key];
        assert_eq!(
            (&choice["enum"], &choice["default"]),
            (&json!(["SAMPLE", "OTHER_STRATEGY", null]), &json!("SAMPLE"))
        );
    }
}

#[test]
fn a_type_that_holds_itself_is_a_definition() {
    let schema = schema();
    let inner = &schema["$defs"]["SAMPLE"]["properties"]["nested"]["properties"]["inner"];
    assert_eq!(inner, &json!({ "anyOf": [{ "$ref": "#/$defs/Nested" }, { "type": "null" }] }));
    assert_eq!(schema["$defs"]["Nested"]["properties"]["inner"], *inner);
}

#[test]
fn what_describes_a_choice_is_unwrapped_too() {
    let mode = &schema()["$defs"]["SAMPLE"]["properties"]["mode"];
    assert_eq!(mode["anyOf"][0]["oneOf"][1]["description"], "The other, wrapped over two lines.");
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
enum Letter {
    #[default]
    A,
    B,
}

/// Keys that are not optional to their type.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
struct Plain {
    #[serde(default)]
    number: u32,
    #[serde(default)]
    letter: Letter,
    perhaps: Option<Letter>,
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    anything: Value,
    /// Whatever it is.
    #[serde(default)]
    told: Value,
}

impl BlockConfig for Plain {
    const NAME: &'static str = "plain";
    type Keys = Self;

    fn from_keys(keys: Self) -> Result<Self, Violations> {
        Ok(keys)
    }
}

#[test]
fn a_key_may_be_null_although_its_type_is_not_optional() {
    let schema = registry().describe_beside::<Beside>().describe_beside::<Plain>().schema();
    let keys = &schema["$defs"]["plain"]["properties"];
    assert_eq!(keys["number"]["type"], json!(["integer", "null"]));
    let letter = json!({ "type": ["string", "null"], "enum": ["A", "B", null] });
    assert_eq!(keys["perhaps"], letter);
    assert_eq!((&keys["letter"]["type"], &keys["letter"]["enum"]), (&letter["type"], &letter["enum"]));
    assert_eq!(keys["mode"]["anyOf"][1], json!({ "type": "null" }));
    assert_eq!(keys["mode"]["anyOf"][0]["oneOf"][0]["const"], "COUNT_BASED");
    for free in ["anything", "told"] {
        let key = &keys[free];
        assert!(key["type"].is_null() && key["anyOf"].is_null(), "null is allowed as it is: {key}");
    }

    let read = |text: &str| Document::parse("f", text).unwrap().blocks().unwrap().read_beside::<Plain>();
    assert!(read(r#"{"plain": {"number": null, "letter": null, "mode": null, "anything": null}}"#).is_ok());
    let error = read(r#"{"plain": {"perhaps": "C"}}"#).unwrap_err();
    assert_eq!(error.faults[0].allowed.as_deref(), Some(r#""A" or "B""#));
}

#[test]
fn a_span_is_described_in_its_place_under_its_name() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only described")]
    struct Holder {
        delay: IsoDuration,
    }
    let holder = schema_for!(Holder).to_value();
    assert_eq!(holder["properties"]["delay"]["x-duration"], true);
    assert_eq!(holder.get("$defs"), None);
    assert_eq!(schema_for!(IsoDuration).to_value()["title"], "Duration");
}
