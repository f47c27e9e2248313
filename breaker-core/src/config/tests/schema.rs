use serde_json::{Value, json};

use super::{registry, sample::Beside};

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
