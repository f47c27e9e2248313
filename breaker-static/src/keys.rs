use breaker_core::config::IsoDuration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a `STATIC_THRESHOLD` block of a settings file may say. Every key may be absent.
///
/// In code it is the builder of [`StaticThreshold`](crate::StaticThreshold).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::exhaustive_structs, reason = "written with struct update syntax")]
pub struct StaticThresholdKeys {
    /// The circuit opens when the last `failureThresholdCapacity` calls hold this many failures. The calls need
    /// not be that many: with a threshold of 3, three failures open a fresh circuit.
    #[schemars(range(min = 1, max = 1_000_000), extend("default" = 3))]
    pub failure_threshold: Option<u32>,

    /// How many of the last calls are looked at. At least `failureThreshold`; 10, or `failureThreshold` where that is
    /// more, unless set.
    #[schemars(range(min = 1, max = 1_000_000), extend("default" = 10))]
    pub failure_threshold_capacity: Option<u32>,

    /// A half-open circuit closes after this many successes, and lets this many calls pass at a time. The
    /// first failure opens it again.
    #[schemars(range(min = 1), extend("default" = 5))]
    pub success_threshold: Option<u32>,

    /// An open circuit lets calls try the remote again (it is half-open) after this time.
    #[schemars(extend("default" = "PT20S", "minimum" = 0))]
    pub test_delay: Option<IsoDuration>,

    /// When larger than `testDelay`, each failed try doubles the delay up to this; closing resets it. At least
    /// `testDelay`, and equal to it unless set.
    #[schemars(extend("minimum" = 0))]
    pub max_test_delay: Option<IsoDuration>,

    /// A half-open circuit whose calls are all out gives their places to others when nothing was heard of
    /// them for this long.
    #[schemars(extend("default" = "PT1M", "exclusiveMinimum" = 0))]
    pub half_open_permit_lease: Option<IsoDuration>,
}
