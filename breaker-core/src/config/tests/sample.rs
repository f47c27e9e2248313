//! Strategies of a third party, with keys of every shape.

use std::num::NonZeroU16;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::{
    Strategy, Timestamp,
    config::{BlockConfig, IsoDuration, NonResilient, StrategyConfig, Violation, Violations},
};

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SampleKeys {
    /// How many. Wrapped
    /// over two lines.
    #[schemars(range(min = 1), extend("default" = 2))]
    pub(super) count: Option<u32>,
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 100))]
    pub(super) percent: Option<f64>,
    #[schemars(extend("default" = "PT20S"))]
    pub(super) delay: Option<IsoDuration>,
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 60))]
    pub(super) lease: Option<IsoDuration>,
    pub(super) mode: Option<Mode>,
    pub(super) enabled: Option<bool>,
    pub(super) nested: Option<Nested>,
    pub(super) ports: Option<Vec<NonZeroU16>>,
    pub(super) either: Option<Either>,
    pub(super) signed: Option<i64>,
    #[serde(default, deserialize_with = "not_thirteen")]
    pub(super) picky: Option<u8>,
    /// At least `count`.
    pub(super) capacity: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Mode {
    /// One.
    #[default]
    CountBased,
    /// The other, wrapped
    /// over two lines.
    TimeBased,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Nested {
    pub(super) level: Option<u8>,
    pub(super) inner: Option<Box<Self>>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Either {
    Word(String),
    Number(u32),
}

fn not_thirteen<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    match Option::deserialize(deserializer)? {
        Some(13) => Err(D::Error::custom("13 brings bad luck")),
        number => Ok(number),
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Sample(SampleKeys);

impl StrategyConfig for Sample {
    const NAME: &'static str = "SAMPLE";
    type Keys = SampleKeys;

    fn from_keys(mut keys: SampleKeys) -> Result<Self, Violations> {
        let count = *keys.count.get_or_insert(2);
        let capacity = *keys.capacity.get_or_insert(count);
        keys.delay.get_or_insert(IsoDuration::from_secs(20));
        if capacity < count {
            let allowed = format!("at least {count}, since count is {count}");
            return Err(Violations(vec![Violation {
                key: "capacity",
                value: capacity.to_string(),
                allowed,
            }]));
        }
        Ok(Self(keys))
    }

    fn build(&self, now: Timestamp) -> Box<dyn Strategy> {
        NonResilient::default().build(now)
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtherKeys {
    pub(super) failure_rate: Option<f64>,
    pub(super) count: Option<u32>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Other {}

impl StrategyConfig for Other {
    const NAME: &'static str = "OTHER_STRATEGY";
    type Keys = OtherKeys;

    fn from_keys(_: OtherKeys) -> Result<Self, Violations> {
        Ok(Self {})
    }

    fn build(&self, now: Timestamp) -> Box<dyn Strategy> {
        NonResilient::default().build(now)
    }

    fn wants_probes(&self) -> bool {
        true
    }
}

/// A block that stands beside `circuitBreaker`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Beside {
    pub(super) size: Option<u32>,
}

impl BlockConfig for Beside {
    const NAME: &'static str = "beside";
    type Keys = Self;

    fn from_keys(keys: Self) -> Result<Self, Violations> {
        Ok(keys)
    }
}
