//! What a replica is, wherever it lives.

use serde::Serialize;

/// A replica's number; it keeps it when it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct HostId(pub u32);

impl HostId {
    /// The number as a position in a list of all hosts.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A replica and what it serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostInfo {
    /// Its number.
    pub id: HostId,
    /// Its name for readers.
    pub label: String,
    /// The partition that it serves.
    pub partition: u32,
}

impl HostInfo {
    /// `replicas` hosts for each partition, numbered partition by partition.
    pub fn grid(partitions: u32, replicas: u32) -> Vec<Self> {
        (0..partitions)
            .flat_map(|partition| (0..replicas).map(move |replica| (partition, replica)))
            .zip(0..)
            .map(|((partition, replica), id)| Self {
                id: HostId(id),
                label: format!("p{partition}/r{replica}"),
                partition,
            })
            .collect()
    }
}

/// How a replica stops at its old address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Connections are refused, and open ones are reset.
    Refuse,
    /// Connections are accepted and nothing is ever answered, on open ones neither.
    Hang,
    /// Every request is answered with "gone".
    AnswerGone,
}

impl Way {
    /// All, in the order in which they take turns.
    pub const ALL: [Self; 3] = [Self::Refuse, Self::Hang, Self::AnswerGone];
}
