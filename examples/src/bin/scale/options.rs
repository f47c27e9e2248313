//! The command line.

use clap::Parser;

/// What 100,000 replicas cost: memory, picks, canaries, refreshes, and the way back from an outage.
///
/// The program builds a store of partitions of four replicas each inside itself, with a gateway that answers
/// from memory and probes that answer after a moment. Every replica has a circuit breaker of the strategy
/// CANARY_RATE_THRESHOLD with its default settings, so all circuits start open. (Memory is measured with
/// STATIC_THRESHOLD too, which a pool has unless told otherwise.) For each number of replicas it
///
///   start    uses every partition, and waits until all circuits are closed
///   idle     does nothing for a while, with all circuits closed
///   traffic  makes requests with random keys, each answered at once
///   refresh  asks for all addresses again, and for the routing map
///   outage   opens the circuit of one replica in a hundred, and lets the canaries knock in vain
///   return   lets the probes succeed, and waits until all circuits are closed again
///
/// Processor time is that of the whole process. All of it runs on one thread.
#[derive(Debug, Parser)]
#[command(
    name = "scale",
    verbatim_doc_comment,
    after_help = "Exit status: 0 when all circuits closed again and no more probes ran at a time than may, 1 when not, 2 for a wrong command line."
)]
pub struct Options {
    /// How many replicas, rounded up to a multiple of four; several numbers separated by commas. Each runs in a
    /// process of its own, so that no run hides its memory in what another left behind.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "4,1000,10000,100000",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub replicas: Vec<u32>,

    /// Requests of each kind of traffic.
    #[arg(long, default_value_t = 200_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub requests: u32,

    /// Seconds of idleness, and of the outage.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub seconds: u64,

    /// Milliseconds that a probe takes.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=900))]
    pub probe: u64,

    /// Decides the keys.
    #[arg(long, default_value_t = 7, value_name = "N")]
    pub seed: u64,

    /// One run, reported as JSON.
    #[arg(long)]
    pub json: bool,

    /// The start of a run with STATIC_THRESHOLD: the memory for each replica, as JSON.
    #[arg(long, conflicts_with = "json")]
    pub static_memory: bool,
}
