//! From a file to the settings of a pool.

use std::path::Path;

use breaker_core::config::{Blueprint, ConfigError, Document, Fault, LoadError, Registry};
use serde_json::{Value, json};

use super::{PoolConfig, builtin};

/// What a settings file says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The strategy that every replica's circuit follows.
    pub breaker: Blueprint,
    /// How the pool behaves.
    pub pool: PoolConfig,
    /// Keys that were passed over: those of an old `circuitBreaker` block, one without `strategy`, that resemble
    /// no known key. Worth a line in the log.
    pub warnings: Vec<Fault>,
    /// Whether there was no file, so that everything is the default.
    pub absent: bool,
}

impl Config {
    /// Settings that come from no file.
    pub fn new(breaker: impl Into<Blueprint>, pool: PoolConfig) -> Self {
        Self { breaker: breaker.into(), pool, warnings: Vec::new(), absent: false }
    }

    /// Reads a file, with the [built-in](builtin) strategies. One that does not exist reads as the defaults.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or with everything that is wrong with its blocks.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        Self::loader().file(path)
    }

    /// Reads a file's content. `name` stands for the file in errors.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with the blocks.
    pub fn from_text(name: impl Into<String>, text: impl AsRef<[u8]>) -> Result<Self, ConfigError> {
        Self::loader().text(name, text)
    }

    /// For a file with blocks in unusual places, or with strategies of your own.
    pub fn loader() -> ConfigLoader {
        ConfigLoader::default()
    }

    /// Both blocks with every key and the value that it has, durations as ISO-8601; a file that says the same.
    pub fn effective(&self) -> Value {
        json!({ "circuitBreaker": self.breaker.effective(), "replicaPool": self.pool })
    }
}

impl Default for Config {
    /// What an absent file means: `STATIC_THRESHOLD`, and a pool of defaults.
    fn default() -> Self {
        Self::new(breaker_static::StaticThreshold::default(), PoolConfig::default())
    }
}

/// Reads settings from files.
///
/// ```
/// use replica_pool::config::{Config, builtin};
///
/// let text = r#"{ "upstreams": [{ "breaker": { "failureThreshold": 4 } }] }"#;
/// let config = Config::loader().pointer("/upstreams/0/breaker").registry(builtin()).text("app.json", text)?;
/// assert_eq!(config.breaker.effective()["failureThreshold"], 4);
/// # Ok::<(), breaker_core::config::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConfigLoader {
    registry: Registry,
    pointer: Option<String>,
}

impl Default for ConfigLoader {
    fn default() -> Self {
        Self { registry: builtin(), pointer: None }
    }
}

impl ConfigLoader {
    /// The strategies that files may name, instead of the [built-in](builtin) ones.
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Where the `circuitBreaker` block is: a JSON pointer (RFC 6901) to the block itself, instead of the usual
    /// three places. `replicaPool` stands in the same object.
    #[must_use]
    pub fn pointer(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Reads a file. One that does not exist reads as the defaults.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or with everything that is wrong with its blocks.
    pub fn file(&self, path: impl AsRef<Path>) -> Result<Config, LoadError> {
        Ok(self.document(&Document::open(path)?)?)
    }

    /// Reads a file's content. `name` stands for the file in errors.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with the blocks.
    pub fn text(&self, name: impl Into<String>, text: impl AsRef<[u8]>) -> Result<Config, ConfigError> {
        self.document(&Document::parse(name, text)?)
    }

    /// Reads a document.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with the blocks.
    pub fn document(&self, document: &Document) -> Result<Config, ConfigError> {
        let blocks = match &self.pointer {
            Some(pointer) => document.blocks_at(pointer)?,
            None => document.blocks()?,
        };
        let pool = blocks.read_beside::<PoolConfig>();
        let (resolved, pool) = ConfigError::both(self.registry.resolve(blocks.breaker()), pool)?;
        let absent = document.is_absent();
        Ok(Config { breaker: resolved.blueprint, pool, warnings: resolved.warnings, absent })
    }
}
