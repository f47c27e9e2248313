use std::{borrow::Cow, fmt, time::Duration};

use breaker_core::config::IsoDuration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// When an attempt gets a rival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum HedgeAfter {
    /// When it takes twice as long as 99 of 100 recent attempts did. In a file: `"adaptive"`.
    #[serde(with = "adaptive")]
    Adaptive,
    /// When it takes this long.
    After(IsoDuration),
}

impl HedgeAfter {
    /// After `span`.
    pub fn span(span: Duration) -> Self {
        Self::After(span.into())
    }
}

impl fmt::Display for HedgeAfter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Adaptive => f.write_str("adaptive"),
            Self::After(span) => span.fmt(f),
        }
    }
}

impl JsonSchema for HedgeAfter {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "HedgeAfter".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut span = IsoDuration::json_schema(generator);
        span.remove("minimum");
        span.insert("exclusiveMinimum".to_owned(), 0.into());
        json_schema!({ "anyOf": [{ "const": "adaptive" }, span] })
    }
}

/// The word for [`HedgeAfter::Adaptive`].
mod adaptive {
    use serde::{Deserialize, Deserializer, Serializer, de};

    const WORD: &str = "adaptive";

    pub(super) fn serialize<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(WORD)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        let word = String::deserialize(deserializer)?;
        if word == WORD { Ok(()) } else { Err(de::Error::unknown_variant(&word, &[WORD])) }
    }
}
