//! From a settings file, of whatever age, to what the forwarder does.

mod pool;
mod servers;

use std::{net::SocketAddr, path::Path, time::Duration};

use breaker_core::config::{Blueprint, ConfigError, Document, IsoDuration};
use replica_pool::config::{Order, PoolConfig, PoolKeys, builtin};
use serde_json::Value;

use pool::ForwarderPool;

/// What a file, and the command line, say.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The upstream servers, the preferred ones first. None where the file says that there are to be none.
    pub(crate) servers: Vec<SocketAddr>,
    /// The strategy of the servers' circuits.
    pub(crate) breaker: Blueprint,
    /// How the pools behave.
    pub(crate) pool: PoolConfig,
    /// What was passed over.
    pub(crate) warnings: Vec<String>,
}

/// What the command line says about the pools. It beats the file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overrides {
    pub(crate) order: Option<Order>,
    pub(crate) attempt_timeout: Option<Duration>,
    pub(crate) deadline: Option<Duration>,
}

impl Settings {
    /// Reads a file. Where `servers` are given, those of the file are not looked at.
    pub(crate) fn from_file(
        file: &Path,
        servers: Option<Vec<SocketAddr>>,
        overrides: Overrides,
    ) -> anyhow::Result<Self> {
        let document = Document::open(file)?;
        anyhow::ensure!(!document.is_absent(), "{} does not exist", file.display());
        Self::from_document(&document, servers, overrides)
    }

    /// Reads a file's content, as [`from_file`](Self::from_file).
    pub(crate) fn from_text(
        name: &str,
        text: &str,
        servers: Option<Vec<SocketAddr>>,
        overrides: Overrides,
    ) -> anyhow::Result<Self> {
        Self::from_document(&Document::parse(name, text)?, servers, overrides)
    }

    fn from_document(
        document: &Document,
        servers: Option<Vec<SocketAddr>>,
        overrides: Overrides,
    ) -> anyhow::Result<Self> {
        let name = document.name();
        let servers = match servers {
            Some(servers) => servers,
            None => servers::of(&document.to_value()).map_err(|fault| anyhow::anyhow!("{name}: {fault}"))?,
        };
        let blocks = document.blocks()?;
        let (resolved, pool) =
            ConfigError::both(builtin().resolve(blocks.breaker()), blocks.read_beside::<ForwarderPool>())?;
        let warnings = resolved.warnings.iter().map(ToString::to_string).collect();
        Ok(Self { servers, breaker: resolved.blueprint, pool: overrides.over(pool.0)?, warnings })
    }

    /// What the old proxy's files say about its own port; for a hint.
    pub(crate) fn old_port(file: &Path) -> Option<u64> {
        let settings = Document::open(file).ok()?.to_value();
        let port = settings.get("dnsServerPort").or_else(|| settings.pointer("/server/dns/port"));
        port.and_then(Value::as_u64)
    }

    /// The servers, for people to read.
    pub(crate) fn listed(&self) -> String {
        let servers: Vec<_> = self.servers.iter().map(ToString::to_string).collect();
        if servers.is_empty() { "none".to_owned() } else { servers.join(", ") }
    }

    /// Whether other settings say the same.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        let breaker = |settings: &Self| (settings.breaker.name(), settings.breaker.effective());
        self.servers == other.servers && self.pool == other.pool && breaker(self) == breaker(other)
    }
}

impl Overrides {
    fn over(self, pool: PoolConfig) -> anyhow::Result<PoolConfig> {
        let mut keys = PoolKeys::from(pool);
        keys.order = self.order.or(keys.order);
        keys.attempt_timeout = self.attempt_timeout.map(IsoDuration::from).or(keys.attempt_timeout);
        keys.deadline = self.deadline.map(IsoDuration::from).or(keys.deadline);
        Ok(keys.try_into()?)
    }
}

#[cfg(test)]
mod tests;
