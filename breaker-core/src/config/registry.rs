//! The strategies that a file may name.

use serde_json::{Map, Value};

use super::{
    BlockConfig, Blueprint, StrategyConfig,
    file_schema::{self, FileSchema},
    key_schema::KeySchema,
    typed::{self, Rejected},
};

/// The strategies that a file may name, one of which a block without a name gets.
///
/// ```
/// use breaker_core::config::{NonResilient, Registry};
///
/// let registry = Registry::with_default::<NonResilient>();
/// assert_eq!(registry.names().collect::<Vec<_>>(), ["NON_RESILIENT"]);
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    /// Never empty; the first is the default.
    entries: Vec<Entry>,
    beside: Vec<(&'static str, KeySchema)>,
}

/// A strategy whose type is forgotten.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) keys: KeySchema,
    pub(super) probe: fn(&str, &Value) -> Result<(), String>,
    pub(super) build: fn(Map<String, Value>) -> Result<Blueprint, Rejected>,
}

impl Entry {
    fn of<C: StrategyConfig>() -> Self {
        Self {
            name: C::NAME,
            keys: KeySchema::of::<C::Keys>(),
            probe: typed::probe::<C::Keys>,
            build: |good| typed::build(good, C::from_keys).map(Blueprint::new),
        }
    }
}

/// The keys that choose the strategy. Newer files of an old system write `type`.
pub(super) const SELECTORS: [&str; 2] = ["strategy", "type"];

/// Why a strategy cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Another one has the name.
    #[error("there is a strategy {0:?} already")]
    NameTaken(&'static str),
    /// One of its keys means something else already: the choice of the strategy.
    #[error("strategy {strategy:?} has a key {key:?}, which chooses the strategy")]
    ReservedKey {
        /// The strategy.
        strategy: &'static str,
        /// The key.
        key: &'static str,
    },
}

impl Registry {
    /// A registry of one strategy, which is also the one of blocks without a `strategy`, and of files without a
    /// block.
    pub fn with_default<C: StrategyConfig>() -> Self {
        Self { entries: vec![Entry::of::<C>()], beside: Vec::new() }
    }

    /// Adds a strategy.
    ///
    /// # Errors
    ///
    /// When there is one of that name, or one of its keys is `strategy` or `type`.
    pub fn register<C: StrategyConfig>(&mut self) -> Result<&mut Self, RegisterError> {
        if self.entry(C::NAME).is_some() {
            return Err(RegisterError::NameTaken(C::NAME));
        }
        let entry = Entry::of::<C>();
        if let Some(key) = SELECTORS.into_iter().find(|key| entry.keys.has(key)) {
            return Err(RegisterError::ReservedKey { strategy: C::NAME, key });
        }
        self.entries.push(entry);
        Ok(self)
    }

    /// Describes a block that stands beside `circuitBreaker` in the [schema](Self::schema). Describing one
    /// again changes nothing.
    pub fn describe_beside<C: BlockConfig>(&mut self) -> &mut Self {
        if self.beside.iter().all(|(name, _)| *name != C::NAME) {
            self.beside.push((C::NAME, KeySchema::of::<C::Keys>()));
        }
        self
    }

    /// The names of the strategies in the order of their registration, the default first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(|entry| entry.name)
    }

    /// The JSON schema (draft 2020-12) of a settings file: the blocks with their keys, descriptions, defaults
    /// and ranges, wherever they may stand. All other keys of the file are allowed.
    pub fn schema(&self) -> Value {
        file_schema::of(&FileSchema { entries: &self.entries, beside: &self.beside })
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}
