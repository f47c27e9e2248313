use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::{Strategy, Timestamp};

/// A strategy's settings: what its block in a file may say, and what they mean.
///
/// Two types share the work. `Keys` is what a person writes: any key may be absent, its schema names the
/// keys with their types, ranges, defaults and descriptions, and each key is checked against it with its
/// place in the file. `Self` is what the strategy runs on: every value present and valid, so that
/// [`build`](Self::build) cannot fail.
///
/// `Self` serialises to the effective block, without the `strategy` key: every key with its value, durations
/// as ISO-8601.
pub trait StrategyConfig: Clone + fmt::Debug + Serialize + Send + Sync + 'static {
    /// The name that the `strategy` key selects. Upper case, words joined by `_`.
    const NAME: &'static str;

    /// What a file may say.
    type Keys: DeserializeOwned + JsonSchema + Default;

    /// Checks what no single key's schema can, and fills in the defaults.
    ///
    /// # Errors
    ///
    /// One [`Violation`] for each key that does not go with the others.
    fn from_keys(keys: Self::Keys) -> Result<Self, Violations>;

    /// A fresh strategy in its start state.
    fn build(&self, now: Timestamp) -> Box<dyn Strategy>;

    /// Whether a circuit of this strategy can be open with nothing but a probe to end it. A breaker of it is
    /// built only where somebody probes.
    fn needs_probe(&self) -> bool {
        false
    }

    /// Whether its circuits can ever want probes. One that [needs](Self::needs_probe) them does.
    fn wants_probes(&self) -> bool {
        self.needs_probe()
    }
}

/// A key whose value does not go with the other keys.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "built by every strategy's settings")]
pub struct Violation {
    /// The key, as it is written in a file.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// What would be allowed, as in `"at least 5, since failureThreshold is 5"`.
    pub allowed: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, allowed: {}", self.key, self.value, self.allowed)
    }
}

/// All the keys of a block that do not go together. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a list with a Display")]
pub struct Violations(pub Vec<Violation>);

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, violation) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{violation}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Violations {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_are_told_one_after_the_other() {
        let of =
            |key, value: u32| Violation { key, value: value.to_string(), allowed: "at least 5".to_owned() };
        assert_eq!(
            Violations(vec![of("capacity", 3), of("window", 4)]).to_string(),
            "capacity is 3, allowed: at least 5; window is 4, allowed: at least 5"
        );
    }
}
