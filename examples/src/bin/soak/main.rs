//! Random faults on real sockets, and whether everything is as it was when they are over.
//!
//! The [`director`] makes things go wrong in a [`world`] of [`server`]s and a gateway; the [`clients`] are four pools, under a
//! steady [`load`]. A [`stage`] lets faults come for a while and then waits until all is quiet; the [`gauge`] tells what
//! was left behind.

mod clients;
mod director;
mod gauge;
mod load;
mod options;
mod server;
mod stage;
mod world;

use std::process::ExitCode;

use clap::Parser as _;

use gauge::Mebibytes;
use options::Options;
use stage::Stage;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    let mut stage = Stage::new(&options).await?;
    println!("warming up for {} s", stage::warm_up(options.minutes).as_secs_f64());
    stage.shake(stage::warm_up(options.minutes)).await?;
    let start = stage.reading(None).await;
    let before = stage.requests();
    println!();
    stage.heading();
    stage.row("start", &start);
    stage.shake(options.minutes).await?;
    let end = stage.reading(Some(&start)).await;
    stage.row("end", &end);

    let mut faults = end.faults(&start, stage.requests() - before);
    faults.extend(stage.faults());
    println!();
    if faults.is_empty() {
        let (start, end) = (Mebibytes(start.memory), Mebibytes(end.memory));
        println!("ok: everything is as it was; memory was {start} and is {end}");
        return Ok(ExitCode::SUCCESS);
    }
    faults.iter().for_each(|fault| println!("FAULT: {fault}"));
    Ok(ExitCode::FAILURE)
}
