//! Who serves which keys, really and as the gateway has it. A pool without partitions has one of them, with all keys.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    ops::Range,
};

use fastrand::Rng;
use replica_pool::{Gone, KeyRange, RoutingMap};

use crate::truth::Node;

/// Keys are those below.
pub(crate) const KEYS: u8 = 64;
/// No partition has fewer.
const FEWEST_KEYS: u8 = 8;
const MOST_PARTS: usize = 4;

/// Which partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PartId(pub(crate) u8);

impl PartId {
    /// The one of a store that is not divided.
    pub(crate) const WHOLE: Self = Self(0);
}

impl fmt::Display for PartId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// One becomes two.
    Split,
    /// Two become one.
    Merge,
    /// Its replicas are others, though some may have stayed.
    Migrate,
    /// One of its replicas is another.
    Replace,
}

impl Change {
    /// What the replicas say while it is being made.
    const fn notice(self) -> Gone {
        match self {
            Self::Split | Self::Merge => Gone::Splitting,
            Self::Migrate | Self::Replace => Gone::Migrating,
        }
    }

    /// Whether the map is another afterwards.
    pub(crate) const fn is_of_map(self) -> bool {
        matches!(self, Self::Split | Self::Merge)
    }
}

/// All partitions with their keys and their replicas, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    pub(crate) version: u8,
    /// The first key of each partition and which it is, ascending, the first at 0.
    pub(crate) starts: Vec<(u8, PartId)>,
    pub(crate) serving: BTreeMap<PartId, Vec<Node>>,
}

impl Division {
    pub(crate) fn part(&self, key: u8) -> PartId {
        self.starts.iter().rev().find(|(start, _)| *start <= key).unwrap().1
    }

    fn keys(&self, place: usize) -> Range<u8> {
        self.starts[place].0..self.starts.get(place + 1).map_or(KEYS, |(start, _)| *start)
    }

    /// All who serve anything.
    pub(crate) fn members(&self) -> BTreeSet<Node> {
        self.serving.values().flatten().copied().collect()
    }

    pub(crate) fn map(version: u8, starts: &[(u8, PartId)]) -> RoutingMap<u8, PartId> {
        let ends = starts.iter().skip(1).map(|(start, _)| Some(*start)).chain([None]);
        let range = |((start, id), end): (&(u8, PartId), Option<u8>)| {
            (KeyRange::new((*start > 0).then_some(*start), end), *id)
        };
        RoutingMap::new(version.into(), starts.iter().zip(ends).map(range)).unwrap()
    }
}

/// What is so, and what is said of it.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) now: Division,
    /// What was so before.
    past: Vec<Division>,
    /// What is about to change, where, and the replicas say so.
    announced: Option<(Change, usize)>,
    /// By what the gateway names addresses.
    pub(crate) addresses: Division,
    /// By what the map is told.
    pub(crate) map: Division,
    nodes: u8,
    /// Partitions that were ever there.
    parts: u8,
}

impl Store {
    /// `parts`, with the same number of keys and `each` replicas.
    pub(crate) fn new(nodes: u8, parts: u8, each: u8) -> Self {
        let starts = (0..parts).map(|part| (part * (KEYS / parts), PartId(part))).collect();
        let serving = |part: u8| (part * each..(part + 1) * each).map(Node).collect();
        let serving = (0..parts).map(|part| (PartId(part), serving(part))).collect();
        let now = Division { version: 1, starts, serving };
        Self {
            past: Vec::new(),
            announced: None,
            addresses: now.clone(),
            map: now.clone(),
            now,
            nodes,
            parts,
        }
    }

    /// What `node` says to a call for `part`.
    pub(crate) fn answer(&self, node: Node, part: PartId) -> Result<(), Gone> {
        match self.now.serving.get(&part) {
            None => Err(Gone::Partition),
            Some(serving) if serving.contains(&node) => match self.announced {
                Some((change, place)) if self.touched(change, place).contains(&part) => Err(change.notice()),
                _ => Ok(()),
            },
            Some(_) if self.now.members().contains(&node) => Err(Gone::Migrating),
            Some(_) => Err(Gone::Replica),
        }
    }

    /// Whether what is said of `key` is so.
    pub(crate) fn is_told(&self, key: u8) -> bool {
        let part = self.now.part(key);
        self.map.part(key) == part && self.addresses.serving.get(&part) == self.now.serving.get(&part)
    }

    fn touched(&self, change: Change, place: usize) -> Vec<PartId> {
        let more = usize::from(change == Change::Merge);
        self.now.starts[place..=place + more].iter().map(|(_, part)| *part).collect()
    }

    /// Finds where `change` can be made, and which keys it touches.
    pub(crate) fn announce(&mut self, change: Change, rng: &mut Rng) -> Option<Range<u8>> {
        let (now, parts) = (&self.now, self.now.starts.len());
        let fits = |place: &usize| match change {
            Change::Split => now.keys(*place).len() >= usize::from(2 * FEWEST_KEYS) && parts < MOST_PARTS,
            Change::Merge => place + 1 < parts,
            Change::Migrate | Change::Replace => true,
        };
        let places: Vec<_> = (0..parts).filter(fits).collect();
        let place = *rng.choice(&places)?;
        self.announced = Some((change, place));
        let last = if change == Change::Merge { place + 1 } else { place };
        Some(now.keys(place).start..now.keys(last).end)
    }

    /// Makes the change that was announced.
    pub(crate) fn change(&mut self, rng: &mut Rng) {
        let Some((change, place)) = self.announced.take() else { return };
        self.past.push(self.now.clone());
        let keys = self.now.keys(place);
        let part = self.now.starts[place].1;
        match change {
            Change::Split => {
                let middle = rng.u8(keys.start + FEWEST_KEYS..=keys.end - FEWEST_KEYS);
                let halves = [(keys.start, self.name()), (middle, self.name())];
                self.now.serving.remove(&part);
                for (_, half) in halves {
                    let serving = self.choose(rng);
                    self.now.serving.insert(half, serving);
                }
                self.now.starts.splice(place..=place, halves);
            }
            Change::Merge => {
                let (merged, serving) = (self.name(), self.choose(rng));
                let (_, other) = self.now.starts.remove(place + 1);
                self.now.starts[place].1 = merged;
                self.now.serving.retain(|id, _| *id != part && *id != other);
                self.now.serving.insert(merged, serving);
            }
            Change::Migrate => {
                // Somebody leaves: where somebody only comes, nobody would ask.
                let leaver = rng.choice(self.now.serving[&part].iter().copied());
                let mut serving = self.choose(rng);
                serving.retain(|node| Some(*node) != leaver);
                self.now.serving.insert(part, serving);
            }
            Change::Replace => self.replace(part, rng),
        }
        // Now and then a map is newer, and leads nowhere else.
        self.now.version += u8::from(change.is_of_map() || rng.u8(..3) == 0);
    }

    /// One of a partition's replicas is another from now on.
    pub(crate) fn replace(&mut self, part: PartId, rng: &mut Rng) {
        let serving = self.now.serving.get_mut(&part).unwrap();
        let spare: Vec<_> = (0..self.nodes).map(Node).filter(|node| !serving.contains(node)).collect();
        let (Some(spare), place) = (rng.choice(spare), rng.usize(..serving.len())) else { return };
        serving[place] = spare;
    }

    pub(crate) fn tell_map(&mut self) {
        self.map = self.now.clone();
    }

    pub(crate) fn tell_addresses(&mut self) {
        self.addresses = self.now.clone();
    }

    /// The gateway says again what was so `back` changes ago.
    pub(crate) fn tell_old(&mut self, back: usize) {
        let Some(old) = self.past.iter().rev().nth(back) else { return };
        (self.map, self.addresses) = (old.clone(), old.clone());
    }

    fn name(&mut self) -> PartId {
        let part = PartId(self.parts);
        self.parts += 1;
        part
    }

    fn choose(&self, rng: &mut Rng) -> Vec<Node> {
        let each = rng.usize(2..=3);
        let mut chosen = rng.choose_multiple((0..self.nodes).map(Node), each);
        rng.shuffle(&mut chosen);
        chosen
    }
}
