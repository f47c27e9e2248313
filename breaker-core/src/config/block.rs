//! One block of a file, and what may be read from it.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{
    ConfigError, Document, Violations,
    check::{Checker, Unknown},
    key_schema::KeySchema,
    node::Node,
    typed,
};

/// A place in a [`Document`] where settings are, or would be.
#[derive(Clone, Debug)]
pub struct Block<'d> {
    document: &'d Document,
    path: String,
    start: usize,
    node: Option<&'d Node>,
}

impl<'d> Block<'d> {
    pub(super) fn new(document: &'d Document, path: String, start: usize, node: Option<&'d Node>) -> Self {
        Self { document, path, start, node: node.filter(|node| !node.is_null()) }
    }

    pub(super) fn absent(document: &'d Document, name: &str) -> Self {
        Self::new(document, name.to_owned(), 0, None)
    }

    /// Where it is, as in `solverRemote.circuitBreaker`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether the file does not have it, or has `null` there: all settings are the defaults.
    pub fn is_absent(&self) -> bool {
        self.node.is_none()
    }

    /// Reads the block as settings of type `C`; an absent one reads as the defaults.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with the block.
    pub fn read<C: BlockConfig>(&self) -> Result<C, ConfigError> {
        let schema = KeySchema::of::<C::Keys>();
        let mut checker = Checker::new(self);
        let good = checker.block(&schema, &Unknown::strict(&schema));
        let good = checker.deserialisable(good, typed::probe::<C::Keys>);
        let (read, _) = checker.finish(good, |good| typed::build(good, C::from_keys))?;
        Ok(read)
    }

    pub(super) fn document(&self) -> &'d Document {
        self.document
    }

    pub(super) fn node(&self) -> Option<&'d Node> {
        self.node
    }

    pub(super) fn start(&self) -> usize {
        self.start
    }
}

/// Settings of a block that stands beside `circuitBreaker`, such as those of a pool.
///
/// The same two types as for a [strategy](super::StrategyConfig): `Keys` is what a person writes, `Self` is
/// valid.
pub trait BlockConfig: Sized {
    /// The block's key, as in `replicaPool`.
    const NAME: &'static str;

    /// What a file may say.
    type Keys: DeserializeOwned + JsonSchema + Default;

    /// Checks what no single key's schema can, and fills in the defaults.
    ///
    /// # Errors
    ///
    /// One [`Violation`](super::Violation) for each key that does not go with the others.
    fn from_keys(keys: Self::Keys) -> Result<Self, Violations>;
}
