//! The pools' configuration.

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use breaker_core::config::Document;
use replica_pool::config::Config;

use crate::{kind::RunKind, scenario::Scenario};

/// The files that come with the example.
const UPGRADE: (&str, &str) = ("rolling-upgrade.json", include_str!("../../../config/rolling-upgrade.json"));
const PARTITION_CHANGE: (&str, &str) =
    ("partition-change.json", include_str!("../../../config/partition-change.json"));

/// The settings of the pools that take part.
#[derive(Clone, Debug)]
pub struct Settings(Vec<(RunKind, Config)>);

impl Settings {
    /// Reads what `runs` need from `file`, or from the file that comes with the example for this scenario.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with the file.
    pub fn load(file: Option<&Path>, scenario: Scenario, runs: &[RunKind]) -> anyhow::Result<Self> {
        let (name, text) = if scenario.changes_partitions() { PARTITION_CHANGE } else { UPGRADE };
        let document = match file {
            Some(path) => Document::open(path)?,
            None => Document::parse(name, text)?,
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
    fn the_files_that_come_with_the_example_give_every_attempt_what_the_plain_client_gives_it() {
        for scenario in [Scenario::Upgrade, Scenario::Split] {
            let settings = Settings::load(None, scenario, &RunKind::ALL).unwrap();
            assert_eq!(settings.all().len(), 2);
            for kind in [RunKind::Static, RunKind::Canary] {
                let pool = &settings.of(kind).unwrap().pool;
                assert_eq!(pool.attempt_timeout(), Duration::from_millis(100));
                assert_eq!(pool.validation(), kind == RunKind::Canary);
                assert_eq!(pool.refresh_interval().is_some(), scenario.changes_partitions());
            }
            assert!(settings.of(RunKind::Plain).is_err());
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error() {
        let error = Settings::load(Some(Path::new("/no/such/file")), Scenario::Upgrade, &[RunKind::Static])
            .unwrap_err();
        assert!(error.to_string().contains("no such file"), "{error}");
    }
}
