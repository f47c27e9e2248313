//! The pools' configuration.

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use breaker_core::config::Document;
use replica_pool::config::Config;

use crate::kind::RunKind;

/// The file that comes with the example.
const BUILT_IN: &str = include_str!("../../../config/rolling-upgrade.json");

/// The settings of the pools that take part.
#[derive(Clone, Debug)]
pub struct Settings(Vec<(RunKind, Config)>);

impl Settings {
    /// Reads what `runs` need from `file`, or from the file that comes with the example.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with the file.
    pub fn load(file: Option<&Path>, runs: &[RunKind]) -> anyhow::Result<Self> {
        let document = match file {
            Some(path) => Document::open(path)?,
            None => Document::parse("rolling-upgrade.json", BUILT_IN)?,
        };
        if let Some(path) = file
            && document.is_absent()
        {
            bail!("{}: there is no such file", path.display());
        }
        let pools = runs.iter().filter_map(|&kind| Some((kind, kind.strategy()?)));
        let pools = pools.map(|(kind, strategy)| Ok((kind, one(&document, kind, strategy)?)));
        Ok(Self(pools.collect::<anyhow::Result<_>>()?))
    }

    /// The settings of the pool in this run.
    pub fn of(&self, kind: RunKind) -> anyhow::Result<&Config> {
        let found = self.0.iter().find(|(of, _)| *of == kind);
        found.map(|(_, config)| config).with_context(|| format!("no settings for {}", kind.key()))
    }

    /// All of them.
    pub fn all(&self) -> &[(RunKind, Config)] {
        &self.0
    }
}

fn one(document: &Document, kind: RunKind, strategy: &str) -> anyhow::Result<Config> {
    let pointer = format!("/{}/circuitBreaker", kind.key());
    let config = Config::loader().pointer(&pointer).document(document)?;
    let named = config.breaker.name();
    ensure!(named == strategy, "{pointer}: the strategy here is to be {strategy}, not {named}");
    Ok(config)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_file_that_comes_with_the_example_gives_every_attempt_what_the_plain_client_gives_it() {
        let settings = Settings::load(None, &RunKind::ALL).unwrap();
        assert_eq!(settings.all().len(), 2);
        for kind in [RunKind::Static, RunKind::Canary] {
            let pool = &settings.of(kind).unwrap().pool;
            assert_eq!(pool.attempt_timeout(), Duration::from_millis(100));
            assert_eq!(pool.validation(), kind == RunKind::Canary);
        }
        assert!(settings.of(RunKind::Plain).is_err());
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error() {
        let error = Settings::load(Some(Path::new("/no/such/file")), &[RunKind::Static]).unwrap_err();
        assert!(error.to_string().contains("no such file"), "{error}");
    }
}
