use std::{borrow::Cow, time::Duration};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A span of time as a settings file writes it: ISO-8601 (`"PT20S"`), a number of seconds, or friendly
/// (`"1m 30s"`). Serialises as ISO-8601.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct IsoDuration(Duration);

impl IsoDuration {
    /// A span of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(Duration::from_secs(secs))
    }

    /// The span.
    pub const fn get(self) -> Duration {
        self.0
    }
}

impl From<Duration> for IsoDuration {
    fn from(span: Duration) -> Self {
        Self(span)
    }
}

impl From<IsoDuration> for Duration {
    fn from(span: IsoDuration) -> Self {
        span.0
    }
}

impl Serialize for IsoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("PT{}S", self.0.as_secs_f64()))
    }
}

impl<'de> Deserialize<'de> for IsoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(|s| Self(Duration::from_secs_f64(s)))
    }
}

impl JsonSchema for IsoDuration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number"], "minimum": 0 })
    }
}
