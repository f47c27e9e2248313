//! From checked keys to typed settings.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Violations;

/// Why a block of good keys is refused as a whole.
#[derive(Debug)]
pub(super) enum Rejected {
    /// The type of the keys does not take them together; serde's words.
    Whole(String),
    /// Some do not go with the others.
    Together(Violations),
}

/// Whether a key's type takes this value. All keys being optional, each can be tried alone.
pub(super) fn probe<K: DeserializeOwned>(key: &str, value: &Value) -> Result<(), String> {
    let alone = Map::from_iter([(key.to_owned(), value.clone())]);
    serde_json::from_value::<K>(Value::Object(alone)).map(|_| ()).map_err(|error| error.to_string())
}

pub(super) fn build<K, T>(
    good: Map<String, Value>,
    from_keys: impl FnOnce(K) -> Result<T, Violations>,
) -> Result<T, Rejected>
where
    K: DeserializeOwned + Default,
{
    // A type without keys may be one that reads no map at all.
    let keys = if good.is_empty() { Ok(K::default()) } else { serde_json::from_value(Value::Object(good)) };
    from_keys(keys.map_err(|error| Rejected::Whole(error.to_string()))?).map_err(Rejected::Together)
}
