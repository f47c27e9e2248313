//! What many replicas cost, and how they come back together.
//!
//! [`run::run`] does one run in the [`world`], measured by a [`gauge`]; the [`table`] shows several.

mod gauge;
mod options;
mod run;
mod table;
mod world;

use std::{
    env,
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context as _, ensure};
use clap::{CommandFactory as _, Parser as _, error::ErrorKind};
use serde::de::DeserializeOwned;

use options::Options;
use run::{Row, check};

fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    if options.json || options.static_memory {
        let [replicas] = options.replicas[..] else {
            let message = "--json and --static-memory report one run: give --replicas one number";
            Options::command().error(ErrorKind::WrongNumberOfValues, message).exit()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let report = if options.json {
            serde_json::to_string(&runtime.block_on(run::run(&options, replicas))?)?
        } else {
            serde_json::to_string(&runtime.block_on(run::static_memory(replicas))?)?
        };
        println!("{report}");
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = Vec::new();
    for replicas in &options.replicas {
        eprintln!("{replicas} replicas …");
        let static_bytes = apart(&options, *replicas, "--static-memory")?;
        rows.push(Row { static_bytes, ..apart(&options, *replicas, "--json")? });
    }
    table::print(&rows);
    let faults: Vec<_> = rows.iter().filter_map(|row| check(row).err()).collect();
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One run in a process of its own.
fn apart<R: DeserializeOwned>(options: &Options, replicas: u32, report: &str) -> anyhow::Result<R> {
    let Options { requests, seconds, probe, seed, .. } = options;
    let arguments = [
        ("--replicas", u64::from(replicas)),
        ("--requests", u64::from(*requests)),
        ("--seconds", *seconds),
        ("--probe", *probe),
        ("--seed", *seed),
    ];
    let arguments = arguments.map(|(name, number)| format!("{name}={number}"));
    let program =
        Command::new(env::current_exe()?).arg(report).args(arguments).stderr(Stdio::inherit()).output();
    let output = program?;
    ensure!(output.status.success(), "the run with {replicas} replicas failed");
    serde_json::from_slice(&output.stdout).context("the run did not report")
}
