//! Blocks that stand beside `circuitBreaker`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sample::Beside;
use crate::config::{BlockConfig, Document, Violations};

fn error<C: BlockConfig + std::fmt::Debug>(text: &str) -> String {
    let document = Document::parse("f", text).unwrap();
    document.blocks().unwrap().read_beside::<C>().unwrap_err().to_string()
}

#[test]
fn a_key_that_it_does_not_have_is_an_error() {
    assert_eq!(
        error::<Beside>("{\n  \"beside\": {\"sise\": 3}\n}"),
        r#"f:2:14: beside.sise: unknown key; did you mean "size"?"#
    );
    assert_eq!(
        error::<Beside>(r#"{"beside": {"comment": 3}}"#),
        "f:1:13: beside.comment: unknown key; allowed: size"
    );
}

/// Its type takes either key alone.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Both")]
struct Either {
    left: Option<u32>,
    right: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
struct Both {
    left: Option<u32>,
    right: Option<u32>,
}

impl TryFrom<Both> for Either {
    type Error = &'static str;

    fn try_from(Both { left, right }: Both) -> Result<Self, Self::Error> {
        if left.and(right).is_some() {
            Err("left and right cannot both be set")
        } else {
            Ok(Self { left, right })
        }
    }
}

impl BlockConfig for Either {
    const NAME: &'static str = "either";
    type Keys = Self;

    /// Refuses without naming a key.
    fn from_keys(keys: Self) -> Result<Self, Violations> {
        if keys.left == Some(13) { Err(Violations(Vec::new())) } else { Ok(keys) }
    }
}

#[test]
fn what_is_refused_as_a_whole_is_told_at_the_block() {
    assert_eq!(
        error::<Either>("{\n  \"either\": {\"left\": 1, \"right\": 2}\n}"),
        "f:2:3: either: left and right cannot both be set"
    );
    assert_eq!(
        error::<Either>("{\n  \"either\": {\"left\": 13}\n}"),
        "f:2:3: either: these settings do not go together"
    );
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
struct Bounds {
    format: Option<i32>,
    #[schemars(extend("exclusiveMaximum" = 10))]
    below: Option<f64>,
    #[schemars(extend("exclusiveMaximum" = 10, "maximum" = 10))]
    sharper: Option<f64>,
    #[schemars(extend("exclusiveMaximum" = 12, "maximum" = 10))]
    blunter: Option<f64>,
}

impl BlockConfig for Bounds {
    const NAME: &'static str = "bounds";
    type Keys = Self;

    fn from_keys(keys: Self) -> Result<Self, Violations> {
        Ok(keys)
    }
}

#[test]
fn an_upper_bound_may_be_excluded_and_a_format_may_have_bounds() {
    let refused = |key: &str, value: &str| {
        let error = error::<Bounds>(&format!(r#"{{"bounds": {{"{key}": {value}}}}}"#));
        error.split_once(&format!("bounds.{key}: {value} is out of range; allowed: ")).unwrap().1.to_owned()
    };
    let integer = "an integer, at least -2147483648, at most 2147483647";
    assert_eq!(refused("format", "2147483648"), integer);
    assert_eq!(refused("format", "-2147483649"), integer);
    assert_eq!(refused("below", "10"), "a number, less than 10");
    assert_eq!(refused("below", "10.5"), "a number, less than 10");
    assert_eq!(refused("sharper", "10"), "a number, less than 10");
    assert_eq!(refused("blunter", "11"), "a number, at most 10, less than 12");
    let good = r#"{"bounds": {"format": -2147483648, "below": 9.5, "sharper": 9.5, "blunter": 10}}"#;
    let read = Document::parse("f", good).unwrap().blocks().unwrap().read_beside::<Bounds>().unwrap();
    assert_eq!((read.format, read.below, read.blunter), (Some(i32::MIN), Some(9.5), Some(10.0)));
}
