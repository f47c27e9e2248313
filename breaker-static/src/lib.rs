#![doc = include_str!("../README.md")]

mod config;
mod keys;
mod machine;

pub use config::StaticThreshold;
pub use keys::StaticThresholdKeys;
