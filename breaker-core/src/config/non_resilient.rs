//! The settings of `NON_RESILIENT`: none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StrategyConfig, Violations};
use crate::{Strategy, Timestamp, non_resilient::AlwaysClosed};

/// `NON_RESILIENT`: admits every call, records nothing, is always closed. It has no keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "Admits every call, records nothing, is always closed.")]
#[expect(clippy::exhaustive_structs, reason = "it has no settings, and never will")]
pub struct NonResilient {}

impl StrategyConfig for NonResilient {
    const NAME: &'static str = "NON_RESILIENT";
    type Keys = Self;

    fn from_keys(keys: Self) -> Result<Self, Violations> {
        Ok(keys)
    }

    fn build(&self, _: Timestamp) -> Box<dyn Strategy> {
        Box::new(AlwaysClosed)
    }
}
