//! The strategy: its settings and its state machine.

mod checks;
mod config;
mod keys;
mod machine;
mod rate;
mod rules;

pub use config::CanaryRateThreshold;
pub use keys::{CanaryRateThresholdKeys, InitialState, SlidingWindowType};
