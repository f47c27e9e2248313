//! What a replica is, wherever it lives.

use replica_pool::KeyRange;
use serde::Serialize;

use crate::{keys::KeyMap, wire::Gone};

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInfo {
    /// Its number.
    pub id: HostId,
    /// Its name for readers.
    pub label: String,
    /// The partition that it serves.
    pub partition: u32,
    /// The keys of that partition.
    pub keys: KeyRange<u64>,
    /// Whether it is there when the run starts.
    pub from_start: bool,
}

impl HostInfo {
    /// `replicas` hosts for each range of `map`, numbered partition by partition, there from the start.
    pub fn grid(map: &KeyMap, replicas: u32) -> Vec<Self> {
        let ranges = map.ranges().flat_map(|range| (0..replicas).map(move |number| (range.clone(), number)));
        (0..)
            .zip(ranges)
            .map(|(id, ((keys, &partition), number))| Self {
                id: HostId(id),
                from_start: true,
                ..Self::newcomer(partition, number, keys)
            })
            .collect()
    }

    /// Replica `number` of `partition`, which comes up later; its id is still to be given.
    pub fn newcomer(partition: u32, number: u32, keys: KeyRange<u64>) -> Self {
        let label = format!("p{partition}/r{number}");
        Self { id: HostId(0), label, partition, keys, from_start: false }
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
    /// Every request is answered with this.
    Answer(Gone),
}

impl Way {
    /// Those of a rolling upgrade, in the order in which they take turns.
    pub const IN_TURN: [Self; 3] = [Self::Refuse, Self::Hang, Self::Answer(Gone::Replica)];
}
