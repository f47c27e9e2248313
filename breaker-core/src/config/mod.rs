//! From a settings file to a [`Blueprint`] that cannot fail.
//!
//! A person writes a block, and gets every mistake in it told at once, with its place, its value, what
//! would be allowed and the nearest known name. Nothing is guessed, and nothing half valid gets past here.
//!
//! ```text
//! file ─► Document ─► Blocks ─► Registry::resolve ─► Blueprint ─► Box<dyn Strategy>
//!         positions   where?    every key checked    cannot fail
//! ```
//!
//! The check is driven by the JSON schema that each strategy's [keys](StrategyConfig::Keys) generate. Someone
//! else's strategy, once [registered](Registry::register), has the same errors and the same place in the
//! [schema of the file](Registry::schema) as the ones that come along.
//!
//! ```
//! use breaker_core::config::{Document, NonResilient, Registry};
//!
//! let registry = Registry::with_default::<NonResilient>();
//! let file = Document::parse("app.json", r#"{ "circuitBreaker": { "stratgy": "NON_RESILIENT" } }"#)?;
//! let error = registry.resolve(file.blocks()?.breaker()).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     r#"app.json:1:23: circuitBreaker.stratgy: unknown key; did you mean "strategy"?"#
//! );
//! # Ok::<(), breaker_core::config::ConfigError>(())
//! ```

mod block;
mod blueprint;
mod check;
mod describe;
mod document;
mod duration;
mod fault;
mod file_schema;
mod key_schema;
mod locate;
mod node;
mod non_resilient;
mod pointer;
mod registry;
mod resolve;
mod strategy_config;
mod suggest;
mod text;
mod typed;

#[cfg(test)]
mod tests;

pub use block::{Block, BlockConfig};
pub use blueprint::Blueprint;
pub use document::Document;
pub use duration::{DurationError, IsoDuration};
pub use fault::{ConfigError, Fault, LoadError};
pub use locate::Blocks;
pub use non_resilient::NonResilient;
pub use registry::{RegisterError, Registry};
pub use resolve::Resolved;
pub use strategy_config::{StrategyConfig, Violation, Violations};
