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
use clap::Parser as _;

use options::Options;
use run::{Row, check};

fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    if let ([replicas], true) = (&options.replicas[..], options.json) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        println!("{}", serde_json::to_string(&runtime.block_on(run::run(&options, *replicas))?)?);
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = Vec::new();
    for replicas in &options.replicas {
        eprintln!("{replicas} replicas …");
        rows.push(apart(&options, *replicas)?);
    }
    table::print(&rows);
    let faults: Vec<_> = rows.iter().filter_map(|row| check(row).err()).collect();
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One run in a process of its own.
fn apart(options: &Options, replicas: u32) -> anyhow::Result<Row> {
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
        Command::new(env::current_exe()?).arg("--json").args(arguments).stderr(Stdio::inherit()).output();
    let output = program?;
    ensure!(output.status.success(), "the run with {replicas} replicas failed");
    serde_json::from_slice(&output.stdout).context("the run did not report")
}
