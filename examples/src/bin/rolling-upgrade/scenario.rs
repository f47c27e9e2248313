//! What happens to the cluster while the load runs.

use clap::ValueEnum;

/// What happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// The replicas are replaced, one after the other in each partition.
    #[default]
    Upgrade,
    /// A partition is divided in two.
    Split,
    /// Two partitions become one.
    Merge,
    /// A partition moves to other replicas.
    Migrate,
}

impl Scenario {
    /// Its name on the command line.
    pub fn key(self) -> &'static str {
        match self {
            Self::Upgrade => "upgrade",
            Self::Split => "split",
            Self::Merge => "merge",
            Self::Migrate => "migrate",
        }
    }

    /// Its name for readers.
    pub fn title(self) -> &'static str {
        match self {
            Self::Upgrade => "Rolling upgrade",
            Self::Split => "Partition split",
            Self::Merge => "Partition merge",
            Self::Migrate => "Partition migration",
        }
    }

    /// It, in a sentence.
    pub fn event(self) -> &'static str {
        match self {
            Self::Upgrade => "a rolling upgrade",
            Self::Split => "the split of a partition",
            Self::Merge => "the merge of two partitions",
            Self::Migrate => "the migration of a partition",
        }
    }

    /// How often the routing map changes.
    pub fn map_changes(self) -> u64 {
        u64::from(self.changes_partitions())
    }

    /// Whether partitions change, and not only addresses.
    pub fn changes_partitions(self) -> bool {
        self != Self::Upgrade
    }
}
