//! Checks a settings file, and prints what it means.
//!
//! ```text
//! check-config app.json                  the effective blocks, every key with its value
//! check-config app.json --pointer /a/b   the same, the circuitBreaker block being there
//! check-config --schema                  the JSON schema of settings files, for editors
//! ```
//!
//! Exit status: 0 when the file is right, or does not exist (all defaults); 1 when something is wrong with
//! it, each fault on a line of its own; 2 when it cannot be read.

use std::{path::PathBuf, process::ExitCode};

use breaker_core::config::LoadError;
use clap::Parser;
use replica_pool::config::{Config, builtin};

/// Checks the circuitBreaker and replicaPool blocks of a settings file, and prints their effective values.
#[derive(Parser)]
#[command(name = "check-config")]
struct Args {
    /// The file; one that does not exist means all defaults
    #[arg(required_unless_present = "schema")]
    file: Option<PathBuf>,

    /// A JSON pointer to the circuitBreaker block, as in /upstreams/0/breaker, if it is in an unusual place
    #[arg(long, value_name = "P")]
    pointer: Option<String>,

    /// Print the JSON schema of settings files instead
    #[arg(long)]
    schema: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let Some(file) = args.file.filter(|_| !args.schema) else {
        println!("{}", serde_json::to_string_pretty(&builtin().schema())?);
        return Ok(ExitCode::SUCCESS);
    };
    let loader = match args.pointer {
        Some(pointer) => Config::loader().pointer(pointer),
        None => Config::loader(),
    };
    match loader.file(&file) {
        Ok(config) => {
            if config.absent {
                eprintln!("note: {} does not exist; these are the defaults", file.display());
            }
            for warning in &config.warnings {
                eprintln!("warning: {warning}");
            }
            println!("{}", serde_json::to_string_pretty(&config.effective())?);
            Ok(ExitCode::SUCCESS)
        }
        Err(LoadError::Invalid(error)) => {
            eprintln!("{error}");
            Ok(ExitCode::FAILURE)
        }
        Err(error) => {
            eprintln!("{error}");
            Ok(ExitCode::from(2))
        }
    }
}
