//! From a `strategy` name in a file to a [`Blueprint`] that cannot fail.

mod blueprint;
mod duration;
mod strategy_config;

pub use blueprint::Blueprint;
pub use duration::IsoDuration;
pub use strategy_config::{StrategyConfig, Violation, Violations};
