//! The command line.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use breaker_core::config::IsoDuration;
use clap::{Parser, ValueEnum};
use replica_pool::config::Order;

use crate::config::Overrides;

/// Forwards DNS queries to the first of several upstream servers that does its work.
///
/// Each server has a circuit breaker: one that does not answer is left alone until it is well again. Without
/// arguments, four small upstream servers are started along with the program, one of them dead; nothing leaves
/// the machine then.
#[derive(Debug, Parser)]
#[command(name = "dns-forwarder", after_help = "SIGHUP, or a change of the file, reads the file again.")]
pub(crate) struct Options {
    /// The upstream servers and the settings. The files of the old proxy, of versions 1, 2 and 3, are read as they are; or
    /// {"remoteDnsServers": ["192.0.2.1", …], "circuitBreaker": {…}, "replicaPool": {…}}
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Where to listen, over UDP and TCP. May be given several times
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:5353")]
    pub(crate) listen: Vec<SocketAddr>,

    /// Whether to start upstream servers along with the program, and to ask these. Default: on without --config
    #[arg(long, value_name = "WHETHER")]
    pub(crate) upstream_demo: Option<Switch>,

    /// In which order equally healthy servers are asked. Default: as listed
    #[arg(long, value_name = "ORDER")]
    order: Option<By>,

    /// The longest that one server has time to answer, as 1s or 300ms. Default: 1s
    #[arg(long, value_name = "TIME", value_parser = span)]
    attempt_timeout: Option<Duration>,

    /// The longest that a client waits for its answer. Default: 4s
    #[arg(long, value_name = "TIME", value_parser = span)]
    deadline: Option<Duration>,

    /// The most queries in flight. More are answered with SERVFAIL
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) in_flight: u32,

    /// The most TCP connections of clients. For one more, the one that was silent for the longest is closed
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: u32,

    /// How long a TCP connection may be silent before it is closed
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = span)]
    pub(crate) idle_timeout: Duration,

    /// Threads to work with. One takes the least effort for each query, and is enough for tens of thousands a second
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,

    /// Forward nothing: be an upstream server at this address, for tests. SIGUSR1 makes it deaf, SIGUSR2 well again
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) upstream_only: Option<SocketAddr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    Listed,
    Shuffled,
}

impl Options {
    /// Whether upstream servers are to be started.
    pub(crate) fn demo(&self) -> bool {
        self.upstream_demo.map_or(self.config.is_none(), |switch| switch == Switch::On)
    }

    pub(crate) fn overrides(&self) -> Overrides {
        let order = self.order.map(|order| match order {
            By::Listed => Order::Listed,
            By::Shuffled => Order::Shuffled,
        });
        Overrides { order, attempt_timeout: self.attempt_timeout, deadline: self.deadline }
    }
}

fn span(written: &str) -> Result<Duration, String> {
    written.parse().map(IsoDuration::get).map_err(|error| error.to_string())
}
