//! Replays recorded calls through a real circuit breaker.
//!
//! [`reading`] turns the lines of a file into [`trace`]s and names what is wrong with them; a [`runner`] puts
//! one trace through a [`Breaker`](breaker_core::Breaker) whose clock only the trace moves; [`check`]
//! compares what it saw with what the trace expects, and [`timeline`] shows it to a person.

mod check;
mod options;
mod reading;
mod runner;
mod timeline;
mod trace;

#[cfg(test)]
mod tests;

use std::{
    fs,
    io::{self, BufWriter, Write},
    process::ExitCode,
};

use clap::Parser as _;

use options::Options;
use runner::Runner;
use timeline::Timeline;
use trace::Scenario;

fn main() -> ExitCode {
    let options = Options::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    match run(&options, &mut out).and_then(|totals| totals.end(&mut out)) {
        Ok(status) => status,
        // Whoever reads has seen enough, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("standard output: {error}");
            ExitCode::from(2)
        }
    }
}

/// Replays every file. What is wrong with a file is told on standard error, and the others go on.
fn run(options: &Options, out: &mut impl Write) -> io::Result<Totals> {
    let mut totals = Totals::default();
    for file in &options.files {
        let name = file.display().to_string();
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{name}: cannot be read: {error}");
                totals.unreadable = true;
                continue;
            }
        };
        for scenario in reading::scenarios(&name, &text) {
            let replayed = match scenario {
                Ok(scenario) => replay(&scenario, options.timeline, &mut totals, out)?,
                Err(faults) => Err(faults),
            };
            if let Err(faults) = replayed {
                out.flush()?;
                eprintln!("{faults}");
                totals.unreadable = true;
            }
        }
    }
    Ok(totals)
}

/// Replays one scenario. The inner error says what makes no sense in it.
fn replay(
    scenario: &Scenario,
    timeline: bool,
    totals: &mut Totals,
    out: &mut impl Write,
) -> io::Result<Result<(), String>> {
    if !scenario.warnings.is_empty() {
        out.flush()?;
    }
    for warning in &scenario.warnings {
        eprintln!("warning: {warning}");
    }
    let mut runner = match Runner::new(&scenario.strategy) {
        Ok(runner) => runner,
        Err(error) => return Ok(Err(format!("{}: config: {error}", scenario.place))),
    };
    let mut timeline = (timeline || !scenario.expects_anything()).then(Timeline::default);
    totals.scenarios += 1;
    for (index, step) in scenario.steps.iter().enumerate() {
        let number = index + 1;
        let seen = match runner.step(step) {
            Ok(seen) => seen,
            Err(fault) => {
                return Ok(Err(format!("{}: step {number} ({}): {fault}", scenario.place, step.op)));
            }
        };
        totals.steps += 1;
        if let Some(timeline) = &mut timeline {
            timeline.step(number, step, &seen);
        }
        for mismatch in check::mismatches(&step.expected, &seen, runner.transitions()) {
            totals.mismatches += 1;
            let line = format!("{}, step {number} ({}): {mismatch}", scenario.name, step.op);
            match &mut timeline {
                Some(timeline) => timeline.line(seen.at, line),
                None => writeln!(out, "{line}")?,
            }
        }
    }
    timeline.map_or(Ok(()), |timeline| timeline.print(scenario, out))?;
    Ok(Ok(()))
}

/// What was done, over all files.
#[derive(Debug, Default)]
struct Totals {
    scenarios: usize,
    steps: usize,
    mismatches: usize,
    /// Something could not be read.
    unreadable: bool,
}

impl Totals {
    fn end(&self, out: &mut impl Write) -> io::Result<ExitCode> {
        let Self { scenarios, steps, mismatches, unreadable } = self;
        writeln!(out, "{scenarios} scenarios, {steps} steps, {mismatches} mismatches")?;
        out.flush()?;
        Ok(match (unreadable, mismatches) {
            (true, _) => ExitCode::from(2),
            (false, 0) => ExitCode::SUCCESS,
            (false, _) => ExitCode::FAILURE,
        })
    }
}
