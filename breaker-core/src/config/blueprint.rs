use std::{fmt, sync::Arc};

use serde_json::{Map, Value};

use super::StrategyConfig;
use crate::{Strategy, Timestamp};

/// Valid settings of some strategy, ready to build any number of circuits. Cheap to clone.
#[derive(Clone)]
pub struct Blueprint(Arc<dyn Erased>);

impl Blueprint {
    /// A blueprint of `config`.
    pub fn new<C: StrategyConfig>(config: C) -> Self {
        Self(Arc::new(config))
    }

    /// The strategy's name.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// A fresh strategy in its start state.
    pub fn build(&self, now: Timestamp) -> Box<dyn Strategy> {
        self.0.build(now)
    }

    /// Whether only a probe can end some open state of this strategy.
    pub fn needs_probe(&self) -> bool {
        self.0.needs_probe()
    }

    /// Whether circuits of this strategy can ever want probes.
    pub fn wants_probes(&self) -> bool {
        self.0.wants_probes()
    }

    /// The effective block: `strategy` first, then every key with the value it has, durations as ISO-8601.
    pub fn effective(&self) -> Map<String, Value> {
        let mut block = Map::new();
        block.insert("strategy".to_owned(), Value::from(self.name()));
        if let Value::Object(keys) = self.0.keys() {
            block.extend(keys);
        }
        block
    }
}

impl<C: StrategyConfig> From<C> for Blueprint {
    fn from(config: C) -> Self {
        Self::new(config)
    }
}

impl fmt::Debug for Blueprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

trait Erased: fmt::Debug + Send + Sync {
    fn name(&self) -> &'static str;
    fn build(&self, now: Timestamp) -> Box<dyn Strategy>;
    fn needs_probe(&self) -> bool;
    fn wants_probes(&self) -> bool;
    fn keys(&self) -> Value;
}

impl<C: StrategyConfig> Erased for C {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn build(&self, now: Timestamp) -> Box<dyn Strategy> {
        StrategyConfig::build(self, now)
    }

    fn needs_probe(&self) -> bool {
        StrategyConfig::needs_probe(self)
    }

    fn wants_probes(&self) -> bool {
        StrategyConfig::wants_probes(self)
    }

    fn keys(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}
