//! A rolling upgrade, or the change of a partition, on real sockets: what it does to a plain client, and what
//! the pool makes of it.
//!
//! [`run::Stage`] does one run: a [`cluster`] and a [`gateway`] on the loopback device, a [`client`], the
//! [`load`] on its fixed [`schedule`], and the [`director`], whose script the [`plan`] writes for the
//! [`scenario`]. Each run yields an [`outcome`]; the [`verdict`] judges them, the [`table`] and the [`report`]
//! show them.

mod book;
mod client;
mod clock;
mod cluster;
mod director;
mod kind;
mod ledger;
mod load;
mod options;
mod outcome;
mod plan;
mod progress;
mod report;
mod run;
mod scenario;
mod schedule;
mod settings;
mod table;
mod text;
mod verdict;
mod watch;

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Context as _;
use clap::Parser as _;
use examples::{gateway, keys, wire};

use kind::RunKind;
use options::Options;
use outcome::{Outcome, Summary};
use plan::Plan;
use progress::Progress;
use report::Report;
use run::Stage;
use settings::Settings;
use verdict::{Judgement, Rules, Verdict};

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    let plan = if options.quick { Plan::quick(options.scenario) } else { Plan::standard(options.scenario) };
    let runs = options.runs();
    let settings = Settings::load(options.config.as_deref(), options.scenario, &runs)?;
    let stage = Stage { plan, rate: options.rate, seed: options.seed, settings };

    let outcomes = perform(&stage, &runs).await?;
    let summaries: BTreeMap<RunKind, Summary> =
        outcomes.iter().map(|outcome| (outcome.kind, outcome.summary())).collect();
    let verdicts = Rules::new(options.scenario, options.quick).judge(&summaries);

    let report = Report { stage: &stage, outcomes: &outcomes, summaries: &summaries, verdicts: &verdicts };
    let page = report.write(&options.out).with_context(|| format!("writing to {}", options.out.display()))?;
    print(&format!("{}\n{}\n", findings(&summaries, &verdicts), page.display()))?;
    Ok(if verdict::all_reached(&verdicts) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn perform(stage: &Stage, kinds: &[RunKind]) -> anyhow::Result<Vec<Outcome>> {
    let progress = Progress::new(&stage.plan);
    let bars: Vec<_> = kinds.iter().map(|&kind| (kind, progress.add(kind))).collect();
    let mut outcomes = Vec::new();
    for (kind, bar) in bars {
        let outcome = stage.run(kind, &bar).await.with_context(|| format!("the run {}", kind.key()))?;
        let summary = outcome.summary();
        bar.done(format!("p99 {}, {} failed", text::millis(summary.p99_us), summary.failed));
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

fn findings(summaries: &BTreeMap<RunKind, Summary>, verdicts: &[Verdict]) -> String {
    let rows: Vec<_> = summaries
        .iter()
        .map(|(kind, summary)| (kind.title().to_owned(), table::cells(summary, kind.disturbed())))
        .collect();
    let mut text = table::render(&rows) + "\n";
    for verdict in verdicts {
        let word = match verdict.judgement {
            Judgement::Reached => "ok     ",
            Judgement::Missed => "MISSED ",
            Judgement::Invalid => "INVALID",
        };
        text += &format!("{word}  {}\n", verdict.text);
    }
    text
}

/// To stdout; a reader that has seen enough is no error.
fn print(text: &str) -> io::Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
