use breaker_core::config::IsoDuration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// What a `CANARY_RATE_THRESHOLD` block of a settings file may say. Every key may be absent.
///
/// In code it is the builder of [`CanaryRateThreshold`](crate::CanaryRateThreshold).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::exhaustive_structs, reason = "written with struct update syntax")]
pub struct CanaryRateThresholdKeys {
    /// A closed circuit opens when this percentage of the calls in the window has failed, or more. Decimal
    /// digits count exactly: at 33.3, 333 failures of 1000 calls open it and 332 do not.
    #[serde(serialize_with = "as_written")]
    #[schemars(extend("default" = 21, "exclusiveMinimum" = 0, "maximum" = 100))]
    pub failure_rate_threshold: Option<f64>,

    /// A closed circuit stays closed while the window holds fewer calls than this. At most `slidingWindowSize` where
    /// the window is `COUNT_BASED`.
    #[schemars(range(min = 1, max = 1_000_000), extend("default" = 50))]
    pub minimum_number_of_calls: Option<u32>,

    /// A half-open circuit lets exactly this many calls pass, and decides by their results. It decides sooner
    /// where `minimumNumberOfCalls` is less.
    #[schemars(range(min = 1), extend("default" = 10))]
    pub permitted_number_of_calls_in_half_open_state: Option<u32>,

    /// A half-open circuit opens again when this percentage of its calls has failed, or more; else it closes. Equal to
    /// `failureRateThreshold` unless set.
    #[serde(serialize_with = "as_written")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 100))]
    pub half_open_failure_rate_threshold: Option<f64>,

    /// Whether the window holds the last calls, or the calls of the last seconds.
    #[schemars(extend("default" = "COUNT_BASED"))]
    pub sliding_window_type: Option<SlidingWindowType>,

    /// The size of the window: calls where it is `COUNT_BASED` (100, or `minimumNumberOfCalls` where that is more,
    /// unless set), seconds where it is `TIME_BASED` (60 unless set).
    #[schemars(range(min = 1, max = 1_000_000))]
    pub sliding_window_size: Option<u32>,

    /// A circuit also opens when this percentage of the calls was slow, or more, by the same rule. Off unless
    /// set.
    #[serde(serialize_with = "as_written")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 100))]
    pub slow_call_rate_threshold: Option<f64>,

    /// A call that takes this long, or longer, is slow. Without effect unless `slowCallRateThreshold` is set.
    #[schemars(extend("default" = "PT1M", "exclusiveMinimum" = 0))]
    pub slow_call_duration_threshold: Option<IsoDuration>,

    /// When set, an open circuit also becomes half-open after this time, canary or no canary. Off unless set:
    /// only a healthy canary ends the open state.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub wait_duration_in_open_state: Option<IsoDuration>,

    /// When set, a circuit that was half-open for this long opens again, and there is no `halfOpenPermitLease`. Off
    /// unless set.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub max_wait_duration_in_half_open_state: Option<IsoDuration>,

    /// A half-open circuit whose calls are all out starts half-open over when nothing was heard of them for
    /// this long.
    #[schemars(extend("default" = "PT1M", "exclusiveMinimum" = 0))]
    pub half_open_permit_lease: Option<IsoDuration>,

    /// The state that a circuit starts in. Open: no call pays for a remote that is down from the start; the first
    /// canary goes out at once.
    #[schemars(extend("default" = "open"))]
    pub initial_state: Option<InitialState>,

    /// How often an open circuit is tried with canaries: from the start of one round to the start of the next.
    #[schemars(extend("default" = "PT1S", "exclusiveMinimum" = 0))]
    pub canary_interval: Option<IsoDuration>,

    /// The canaries of one round, sent one after another. The first healthy one makes the circuit half-open
    /// and ends the round.
    #[schemars(range(min = 1), extend("default" = 3))]
    pub canary_attempts: Option<u32>,

    /// A canary that has not answered after this time is unhealthy.
    #[schemars(extend("default" = "PT1S", "exclusiveMinimum" = 0))]
    pub canary_timeout: Option<IsoDuration>,

    /// When larger than `canaryInterval`, the interval doubles with each half-open state that fails, up to this;
    /// closing resets it. At least `canaryInterval`, and equal to it unless set.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub max_canary_interval: Option<IsoDuration>,
}

/// What the sliding window holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum SlidingWindowType {
    /// The last calls.
    #[default]
    CountBased,
    /// The calls of the last seconds.
    TimeBased,
}

/// The state that a circuit starts in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum InitialState {
    /// Calls are rejected until a canary was healthy.
    #[default]
    Open,
    /// Calls pass.
    Closed,
}

/// Writes whole percentages without a decimal point.
fn as_written<S: Serializer>(percent: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match percent {
        Some(percent) if percent.fract() == 0.0 && (0.0..=100.0).contains(percent) => {
            serializer.serialize_some(&(*percent as u8))
        }
        percent => percent.serialize(serializer),
    }
}
