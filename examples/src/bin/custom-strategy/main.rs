//! A circuit breaker strategy of one's own: CONSECUTIVE_FAILURES.
//!
//! So many failures in a row open the circuit; after a while one call may try the remote, and its result decides.
//! All that the author of such a strategy writes is in [`consecutive_failures`]. The breaker brings threads,
//! permits, clocks and events; the registry reads it from files, with the errors that a person needs.

mod consecutive_failures;

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::ensure;
use breaker_core::{Breaker, CallError, Event, ManualClock};
use clap::Parser;
use replica_pool::config::{Config, ConfigLoader, builtin};

use consecutive_failures::ConsecutiveFailures;

/// A circuit breaker strategy of one's own, CONSECUTIVE_FAILURES, chosen by a settings file.
///
/// The program calls a remote once a second on a clock of its own (so it takes no time). The remote is down
/// from second 3 to second 20; the program shows what the breaker makes of that, and then what mistakes in
/// the file would bring.
#[derive(Parser)]
#[command(name = "custom-strategy", verbatim_doc_comment)]
struct Options {
    /// A settings file with a circuitBreaker block, of this strategy or a built-in one. Without it, the one
    /// that comes with the program, examples/config/custom-strategy.json
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();

    let mut registry = builtin();
    registry.register::<ConsecutiveFailures>()?;
    let loader = Config::loader().registry(registry);

    let config = match &options.config {
        Some(file) => loader.file(file)?,
        None => loader.text(
            "examples/config/custom-strategy.json",
            include_str!("../../../config/custom-strategy.json"),
        )?,
    };
    ensure!(!config.absent, "{} does not exist", options.config.unwrap_or_default().display());
    println!("{:#}\n", serde_json::Value::Object(config.breaker.effective()));
    outage(config)?;
    mistakes(&loader);
    Ok(())
}

/// Calls a remote that is down for a while.
fn outage(config: Config) -> anyhow::Result<()> {
    let clock = Arc::new(ManualClock::default());
    let breaker = Breaker::builder(config.breaker)
        .clock(Arc::clone(&clock) as _)
        .observer(Arc::new(|event: &Event| println!("      *  {event}")))
        .build()?;

    let (mut failed, mut spared, mut lost) = (0, 0, 0);
    println!(" second  remote");
    for second in 0..=32 {
        let up = !(3..20).contains(&second);
        let remote = if up { "up" } else { "down" };
        let called = breaker.run(|| {
            println!("{second:>7}  {remote:<6}  {}", if up { "answered" } else { "failed" });
            if up { Ok(()) } else { Err("down") }
        });
        match called {
            Ok(()) => {}
            Err(CallError::Failed(_)) => failed += 1,
            Err(CallError::Rejected(rejection)) => {
                println!("{second:>7}  {remote:<6}  not called: {rejection}");
                if up { lost += 1 } else { spared += 1 }
            }
        }
        clock.advance(Duration::from_secs(1));
    }
    println!("\n{failed} calls failed, {spared} were spared the wait for a remote that was down,");
    println!("and {lost} were turned away though it was up again.\n");
    Ok(())
}

/// Reads a block with two mistakes.
fn mistakes(loader: &ConfigLoader) {
    let text = r#"{ "circuitBreaker": { "strategy": "CONSECUTIVE_FAILURES",
    "failuresInARoe": 3,
    "retryAfter": "ten seconds" } }"#;
    println!("This file, however:\n\n{text}\n\nis refused:\n");
    if let Err(error) = loader.text("app.json", text) {
        println!("{error}");
    }
}
