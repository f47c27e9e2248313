//! The runs that are compared.

use clap::ValueEnum;

use crate::scenario::Scenario;

/// One run: a client, and whether anything happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum RunKind {
    /// The plain client, and nothing happens. The reference is the plain client so that what the pool itself
    /// costs counts against the pool.
    Quiet,
    /// The plain client.
    Plain,
    /// The pool with STATIC_THRESHOLD.
    Static,
    /// The pool with CANARY_RATE_THRESHOLD and validation.
    Canary,
}

impl RunKind {
    /// All, in the order in which they are run and shown.
    pub const ALL: [Self; 4] = [Self::Quiet, Self::Plain, Self::Static, Self::Canary];

    /// Its name in the report and on the command line.
    pub fn key(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Plain => "plain",
            Self::Static => "static",
            Self::Canary => "canary",
        }
    }

    /// Its name for readers.
    pub fn title(self) -> &'static str {
        match self {
            Self::Quiet => "Quiet cluster",
            Self::Plain => "Plain client",
            Self::Static => "Pool, STATIC_THRESHOLD",
            Self::Canary => "Pool, CANARY_RATE_THRESHOLD",
        }
    }

    /// What it is, in one sentence.
    pub fn summary(self, scenario: Scenario) -> &'static str {
        match self {
            Self::Quiet => "For reference: the plain client on a cluster where nothing happens.",
            Self::Plain if scenario.changes_partitions() => {
                "Keeps its map until a replica says that the partition is gone or moving, gives its caller that \
                 answer as it is, and refreshes map and addresses in the background."
            }
            Self::Static if scenario.changes_partitions() => {
                "Looks for its addresses every half second in the background, finds the feed empty, and has the \
                 new map and the new addresses before the old replicas say a word."
            }
            Self::Canary if scenario.changes_partitions() => {
                "As above. Its circuits start open: each new replica is probed before it is given requests."
            }
            Self::Plain => {
                "Picks a random replica, tries another when that fails, and refreshes its addresses in the \
                 background after each failure, serving the old ones meanwhile."
            }
            Self::Static => {
                "A breaker per replica that opens after a few failures and tries again after a delay."
            }
            Self::Canary => {
                "A breaker per replica that watches the failure rate; only a real request that succeeds \
                 brings a replica back. A replica that failed and is named again is validated first."
            }
        }
    }

    /// Whether anything happens to the cluster in this run.
    pub fn disturbed(self) -> bool {
        self != Self::Quiet
    }

    /// The strategy of the client's circuits, if the client is a pool.
    pub fn strategy(self) -> Option<&'static str> {
        match self {
            Self::Quiet | Self::Plain => None,
            Self::Static => Some("STATIC_THRESHOLD"),
            Self::Canary => Some("CANARY_RATE_THRESHOLD"),
        }
    }

    /// Whether the client is a replica pool, for which the goals are set.
    pub fn is_pool(self) -> bool {
        self.strategy().is_some()
    }
}
