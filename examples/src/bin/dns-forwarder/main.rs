//! A DNS forwarder that goes on when upstream servers die.
//!
//! The way of a query: [`listen`] takes it, [`forward`] calls a pool of [`upstream`] servers for it, [`verdict`] says what
//! their answers mean for their circuits, and the first good answer goes back as it came.

mod config;
mod demo;
mod files;
mod forward;
mod frame;
mod listen;
mod message;
mod options;
mod reload;
mod report;
mod socket;
mod upstream;
mod verdict;

use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Parser as _;
use tokio::runtime::{Builder, Runtime};

use config::Settings;
use forward::{Forwarder, Route};
use listen::{Limits, Listener};
use options::Options;
use reload::{Hangup, Watched};
use report::{Journal, Summary};

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    files::allow_many();
    runtime(&options)?.block_on(async {
        match options.upstream_only {
            Some(address) => demo::alone(address).await,
            None => run(&options).await,
        }
    })
}

/// One thread is spared the effort of sharing the work.
fn runtime(options: &Options) -> std::io::Result<Runtime> {
    let mut builder = match options.threads {
        1 => Builder::new_current_thread(),
        threads => {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(threads.into());
            builder
        }
    };
    builder.enable_all().build()
}

async fn run(options: &Options) -> anyhow::Result<()> {
    let journal = Arc::new(Journal::new());
    // Before anything is said, so that whoever reads it may send the signal.
    let hangup = Hangup::new()?;
    let settings = settings(options, &journal).await?;
    for warning in &settings.warnings {
        journal.note(format_args!("warning: {warning}"));
    }
    journal.note(format_args!("servers: {}", settings.listed()));
    let route = Route::new(settings, None, &journal)?;
    let forwarder = Arc::new(Forwarder::new(route, options.in_flight as usize));
    let limits = Limits { connections: options.connections as usize, idle_timeout: options.idle_timeout };
    let mut first = None;
    for address in &options.listen {
        let listener =
            Listener::bind(*address).await.with_context(|| format!("can't listen at {address}"))?;
        journal.note(format_args!("listening at {} over UDP and TCP", listener.address));
        first = first.or(Some(listener.address));
        listener.serve(&forwarder, &limits);
    }
    if let Some(file) = options.config.clone().filter(|_| !options.demo()) {
        let (overrides, forwarder) = (options.overrides(), Arc::clone(&forwarder));
        tokio::spawn(Watched { file, overrides, forwarder, journal: Arc::clone(&journal) }.follow(hangup));
    }
    if let Some(address) = first {
        let (ip, port) = (address.ip(), address.port());
        journal.say(format_args!(
            "
Try it:

    dig @{ip} -p {port} example.org

Ctrl-C ends it.
"
        ));
    }
    stopped().await?;
    journal.say(format_args!("\n{}", Summary(&forwarder)));
    journal.close();
    Ok(())
}

/// What the file says, or what comes along.
async fn settings(options: &Options, journal: &Journal) -> anyhow::Result<Settings> {
    const FILE: &str = "examples/config/dns-forwarder.json";
    const TEXT: &str = include_str!("../../../config/dns-forwarder.json");
    let servers = if options.demo() { Some(demo::start().await?) } else { None };
    if servers.is_some() {
        journal.note("four small upstream servers were started; the first one of them is dead");
    }
    match (&options.config, servers) {
        (Some(file), servers) => {
            if let Some(port) = Settings::old_port(file) {
                journal.note(format_args!(
                    "the file's own port, {port}, is not used; --listen 0.0.0.0:{port} would"
                ));
            }
            Settings::from_file(file, servers, options.overrides())
        }
        (None, Some(servers)) => Settings::from_text(FILE, TEXT, Some(servers), options.overrides()),
        (None, None) => bail!("without servers of its own it needs a file that names some: --config FILE"),
    }
}

/// Waits for Ctrl-C, or for the signal that ends services.
async fn stopped() -> anyhow::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted?,
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await?;
    Ok(())
}
