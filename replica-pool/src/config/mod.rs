//! The settings of a pool: which strategy its circuits follow, and how the pool itself behaves.
//!
//! One JSON file holds both, in two blocks side by side: `circuitBreaker` and `replicaPool`. Everything in them has
//! a default, so that a file without them, or no file, is a valid configuration.
//!
//! ```
//! use std::time::Duration;
//! use replica_pool::config::Config;
//!
//! let config = Config::from_text(
//!     "app.json",
//!     r#"{
//!         "circuitBreaker": { "strategy": "CANARY_RATE_THRESHOLD", "failureRateThreshold": 30 },
//!         "replicaPool": { "attemptTimeout": "PT2S" } // the rest as it is
//!     }"#,
//! )?;
//! assert_eq!(config.breaker.name(), "CANARY_RATE_THRESHOLD");
//! assert_eq!(config.pool.attempt_timeout(), Duration::from_secs(2));
//! assert_eq!(config.pool.deadline(), Duration::from_secs(30));
//! # Ok::<(), breaker_core::config::ConfigError>(())
//! ```
//!
//! In code, [`PoolKeys`] is the builder:
//!
//! ```
//! use replica_pool::config::{PoolConfig, PoolKeys};
//!
//! let keys = PoolKeys { trial_ratio: Some(0.25), ..PoolKeys::default() };
//! let pool = PoolConfig::try_from(keys)?;
//! assert_eq!(pool.trial_ratio(), 0.25);
//! # Ok::<(), breaker_core::config::Violations>(())
//! ```

mod builtin;
mod hedge;
mod keys;
mod load;
mod pool;

pub use builtin::builtin;
pub use hedge::HedgeAfter;
pub use keys::{Order, PoolKeys, ValidationKeys, WhenAllOpen};
pub use load::{Config, ConfigLoader};
pub use pool::PoolConfig;
