//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::{kind::RunKind, scenario::Scenario};

/// Shows what a rolling upgrade, or the change of a partition, does to the clients of a replicated store,
/// and what a replica pool with circuit breakers makes of it.
///
/// The program starts a small cluster inside itself, on real TCP sockets of the loopback device: two
/// partitions (three to merge) of four replicas, and a gateway that says which partition serves a key
/// and which addresses serve a partition; each of its answers takes 200 ms. Requests arrive on a fixed
/// schedule. Then something happens:
///
///   upgrade  An upgrade rolls over the replicas, one at a time in each partition: each stops at its
///            old address (it refuses, hangs or answers "gone"), comes back at a new port 1.5 s later,
///            and the gateway hears of that after another 0.5 s.
///   split    Partition 0 is divided in two. The replicas of both halves come up; 0.5 s later the
///            gateway has the new map and the new addresses, and for the old partition an empty feed;
///            1.5 s after that the old replicas begin to answer 410/1002, "partition gone", for good.
///   merge    Partitions 0 and 1 become one, in the same steps.
///   migrate  Partition 0 moves to other replicas. They come up; 0.5 s later the gateway has a map of a
///            new version and an empty feed for the partition; 0.7 s later it names the new
///            addresses; 2 s later the old replicas answer 410/1008, "migrating", for 0.8 s, and from
///            then on 410/0, "replica gone".
///
/// The same load and the same happening run once per client:
///
///   quiet    a plain client, and nothing happens: the reference
///   plain    a plain client: random replica, retry on another, refresh in the background; it keeps its
///            map until a failure says that it is old, and its caller sees that failure
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
    /// What happens.
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub scenario: Scenario,

    /// The pools' configuration: a JSON file with the members "static" and "canary", each with the
    /// blocks `circuitBreaker` and `replicaPool`. Without it, the file that comes with the example:
    /// rolling-upgrade.json, or partition-change.json for the other scenarios.
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

    /// A short run (about 5 s per client) with shorter delays: to try it out, and for CI. Latencies are shown
    /// and not judged.
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
        assert_eq!((options.rate, options.seed, options.scenario), (2_000, 7, Scenario::Upgrade));
    }

    #[test]
    fn only_picks_runs_and_keeps_their_order() {
        let options = Options::parse_from(["rolling-upgrade", "--only", "plain,quiet"]);
        assert_eq!(options.runs(), [RunKind::Quiet, RunKind::Plain]);
    }
}
