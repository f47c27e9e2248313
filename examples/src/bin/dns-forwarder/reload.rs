//! Reading the file again, when it changes or when a signal says so.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::time::{MissedTickBehavior, interval};

use crate::{
    config::{Overrides, Settings},
    forward::{Forwarder, Route},
    report::Journal,
};

/// How often it is looked whether the file has changed.
const LOOK: Duration = Duration::from_secs(1);

/// A file that decides the way of queries.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) file: PathBuf,
    pub(crate) overrides: Overrides,
    pub(crate) forwarder: Arc<Forwarder>,
    pub(crate) journal: Arc<Journal>,
}

impl Watched {
    /// Follows the file until the runtime ends.
    pub(crate) async fn follow(self, mut hangup: Hangup) {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut seen = stamp(&self.file);
        loop {
            let asked = tokio::select! {
                () = hangup.heard() => true,
                _ = ticks.tick() => false,
            };
            let now = stamp(&self.file);
            // A file that is gone may be about to be replaced.
            if asked || (now.is_some() && now != seen) {
                seen = now;
                self.reload();
            }
        }
    }

    fn reload(&self) {
        let name = self.file.display();
        match self.route() {
            Ok(Some(route)) => {
                for warning in &route.settings.warnings {
                    self.journal.note(format_args!("warning: {warning}"));
                }
                let servers = route.settings.listed();
                self.forwarder.reroute(route);
                self.journal.note(format_args!("{name} was read again; servers: {servers}"));
            }
            Ok(None) => self.journal.note(format_args!("{name} was read again; nothing has changed")),
            Err(error) => {
                self.journal.note(format_args!("{name} can't be used, the old settings stay: {error}"));
            }
        }
    }

    fn route(&self) -> anyhow::Result<Option<Route>> {
        let settings = Settings::from_file(&self.file, None, self.overrides)?;
        let before = self.forwarder.route();
        if settings.agrees_with(&before.settings) {
            return Ok(None);
        }
        Ok(Some(Route::new(settings, Some(&before), &self.journal)?))
    }
}

/// What changes with a file.
fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Waits for SIGHUP.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Hangup(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Hangup {
    pub(crate) fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::hangup()).map(Self)
    }

    async fn heard(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// There is no SIGHUP here.
#[cfg(not(unix))]
#[derive(Debug)]
pub(crate) struct Hangup;

#[cfg(not(unix))]
impl Hangup {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn heard(&mut self) {
        std::future::pending::<()>().await;
    }
}
