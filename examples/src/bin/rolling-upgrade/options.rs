//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::kind::RunKind;

/// Shows what a rolling upgrade does to the clients of a replicated store, and what a replica pool with
/// circuit breakers makes of it.
///
/// The program starts a small cluster inside itself, on real TCP sockets of the loopback device: two
/// partitions of four replicas, and a gateway that says which addresses serve a partition. Requests
/// arrive on a fixed schedule. Then an upgrade rolls over the replicas, one at a time in each partition:
/// each stops at its old address (it refuses, hangs or answers "gone"), comes back at a new port, and
/// the gateway hears of it later.
///
/// The same load and the same upgrade run once per client:
///
///   quiet    a plain client and no upgrade: the reference
///   plain    a plain client: random replica, retry on another, refresh in the background
///   static   a replica pool with STATIC_THRESHOLD breakers
///   canary   a replica pool with CANARY_RATE_THRESHOLD breakers and validation
///
/// It prints a table, and writes report.html (open it in a browser) and report.json.
#[derive(Debug, Parser)]
#[command(
    name = "rolling-upgrade",
    verbatim_doc_comment,
    after_help = "Exit status: 0 when all went as it should, 1 when a run is invalid or a goal was missed, 2 for a wrong command line."
)]
pub struct Options {
    /// The pools' configuration: a JSON file with the members "static" and "canary", each with the
    /// blocks `circuitBreaker` and `replicaPool`. Without it, the file that comes with the example.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Decides the keys, the service times and the random choices; the same seed gives the same load.
    #[arg(long, default_value_t = 7, value_name = "N")]
    pub seed: u64,

    /// Requests per second, over all partitions.
    #[arg(long, default_value_t = 2_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub rate: u32,

    /// Where the report goes; made if it is not there.
    #[arg(long, default_value = "target/rolling-upgrade", value_name = "DIR")]
    pub out: PathBuf,

    /// Only these runs, separated by commas. Goals that compare with a run left out are not judged.
    #[arg(long, value_delimiter = ',', value_name = "RUN,…")]
    pub only: Vec<RunKind>,

    /// A short run (about 5 s per client) with all delays scaled down: to try it out, and for CI.
    #[arg(long)]
    pub quick: bool,
}

impl Options {
    /// The runs to do, in their usual order whatever order they were asked for in.
    pub fn runs(&self) -> Vec<RunKind> {
        RunKind::ALL.into_iter().filter(|kind| self.only.is_empty() || self.only.contains(kind)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_only_every_run_is_done() {
        let options = Options::parse_from(["rolling-upgrade"]);
        assert_eq!(options.runs(), RunKind::ALL);
        assert_eq!((options.rate, options.seed), (2_000, 7));
    }

    #[test]
    fn only_picks_runs_and_keeps_their_order() {
        let options = Options::parse_from(["rolling-upgrade", "--only", "plain,quiet"]);
        assert_eq!(options.runs(), [RunKind::Quiet, RunKind::Plain]);
    }
}
