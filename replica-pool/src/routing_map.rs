use std::{borrow::Borrow, fmt};

/// Some of the keys: from `from`, inclusive, to `to`, exclusive. `None` is the start or the end of all keys.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two bounds")]
pub struct KeyRange<K> {
    /// The first key; `None`: the range has no first key.
    pub from: Option<K>,
    /// The first key that no longer belongs to it; `None`: the range has no end.
    pub to: Option<K>,
}

impl<K> KeyRange<K> {
    /// All keys.
    pub const ALL: Self = Self { from: None, to: None };

    /// The keys from `from` to before `to`.
    pub const fn new(from: Option<K>, to: Option<K>) -> Self {
        Self { from, to }
    }
}

impl<K: fmt::Debug> fmt::Display for KeyRange<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound =
            |bound: &Option<K>, none: &str| bound.as_ref().map_or(none.to_owned(), |key| format!("{key:?}"));
        write!(f, "[{}, {})", bound(&self.from, "start"), bound(&self.to, "end"))
    }
}

/// Which partition serves a key: ranges of keys without gaps or overlaps, each with its partition.
///
/// A map that does not cover every key exactly once can't be built. Looking a key up is a binary search.
#[derive(Clone, PartialEq, Eq)]
pub struct RoutingMap<K, P> {
    version: u64,
    /// The first keys of all ranges but the first, ascending.
    starts: Box<[K]>,
    /// The partition of each range.
    partitions: Box<[P]>,
}

impl<K: Ord + Clone + fmt::Debug, P> RoutingMap<K, P> {
    /// A map of `ranges`, in any order. `version` grows with every change; of two maps the one of the higher
    /// version is newer.
    ///
    /// # Errors
    ///
    /// When there are no ranges, or they leave a key out, overlap, or end before they start.
    pub fn new(
        version: u64,
        ranges: impl IntoIterator<Item = (KeyRange<K>, P)>,
    ) -> Result<Self, RoutingMapError> {
        let mut ranges: Vec<_> = ranges.into_iter().collect();
        ranges.sort_by(|(a, _), (b, _)| a.from.cmp(&b.from));
        let last = ranges.len().checked_sub(1).ok_or(RoutingMapError::Empty)?;
        let (mut starts, mut partitions) = (Vec::with_capacity(last), Vec::with_capacity(ranges.len()));
        let mut end = None;
        for (i, (range, partition)) in ranges.into_iter().enumerate() {
            if let (Some(from), Some(to)) = (&range.from, &range.to)
                && from >= to
            {
                return Err(RoutingMapError::Inverted { range: range.to_string() });
            }
            match (i, &end, &range.from) {
                (0, _, None) => {}
                (0, _, Some(_)) => return Err(RoutingMapError::gap(&KeyRange::new(None, range.from))),
                // What came before goes on to the end, or this one has no start: either way they share keys.
                (_, None, _) | (_, _, None) => return Err(RoutingMapError::overlap(&range)),
                (_, Some(end), Some(from)) if from < end => return Err(RoutingMapError::overlap(&range)),
                (_, Some(end), Some(from)) if from > end => {
                    return Err(RoutingMapError::gap(&KeyRange::new(Some(end.clone()), range.from)));
                }
                (_, Some(_), Some(from)) => starts.push(from.clone()),
            }
            end = range.to;
            partitions.push(partition);
        }
        match end {
            Some(end) => Err(RoutingMapError::gap(&KeyRange::new(Some(end), None))),
            None => Ok(Self { version, starts: starts.into(), partitions: partitions.into() }),
        }
    }

    /// Grows with every change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The partition that serves `key`.
    pub fn partition<Q: Ord + ?Sized>(&self, key: &Q) -> &P
    where
        K: Borrow<Q>,
    {
        &self.partitions[self.index(key)]
    }

    /// The range that holds `key`, by its number in the order of keys.
    pub(crate) fn index<Q: Ord + ?Sized>(&self, key: &Q) -> usize
    where
        K: Borrow<Q>,
    {
        self.starts.partition_point(|start| start.borrow() <= key)
    }

    /// The range that holds the keys just before `key`.
    pub(crate) fn index_before(&self, key: &K) -> usize {
        self.starts.partition_point(|start| start < key)
    }

    /// The partitions, in the order of their keys. One that serves several ranges is there several times.
    pub fn partitions(&self) -> &[P] {
        &self.partitions
    }

    /// The ranges with their partitions, in the order of keys.
    pub fn ranges(&self) -> impl Iterator<Item = (KeyRange<K>, &P)> {
        let start = |i: usize| i.checked_sub(1).and_then(|i| self.starts.get(i)).cloned();
        let range = move |i| KeyRange::new(start(i), self.starts.get(i).cloned());
        self.partitions.iter().enumerate().map(move |(i, partition)| (range(i), partition))
    }
}

impl<K, P> fmt::Debug for RoutingMap<K, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoutingMap")
            .field("version", &self.version)
            .field("ranges", &self.partitions.len())
            .finish_non_exhaustive()
    }
}

/// Why ranges do not make a map.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RoutingMapError {
    /// There are none.
    #[error("a routing map needs at least one range")]
    Empty,
    /// A range ends before it starts, or where it starts.
    #[error("the range {range} holds no key: its end must lie behind its start")]
    #[non_exhaustive]
    Inverted {
        /// The range.
        range: String,
    },
    /// Some keys belong to no partition.
    #[error("no partition serves the keys {missing}: the ranges must cover all keys")]
    #[non_exhaustive]
    Gap {
        /// The keys.
        missing: String,
    },
    /// Some keys belong to two partitions.
    #[error("the range {range} overlaps the one before it: each key must belong to one range")]
    #[non_exhaustive]
    Overlap {
        /// The range that starts too early.
        range: String,
    },
}

impl RoutingMapError {
    fn gap<K: fmt::Debug>(missing: &KeyRange<K>) -> Self {
        Self::Gap { missing: missing.to_string() }
    }

    fn overlap<K: fmt::Debug>(range: &KeyRange<K>) -> Self {
        Self::Overlap { range: range.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(
        ranges: &[(Option<u32>, Option<u32>, &'static str)],
    ) -> Result<RoutingMap<u32, &'static str>, RoutingMapError> {
        RoutingMap::new(1, ranges.iter().map(|(from, to, partition)| (KeyRange::new(*from, *to), *partition)))
    }

    #[test]
    fn a_key_on_either_side_of_each_boundary() {
        let map = map(&[(Some(20), None, "c"), (None, Some(10), "a"), (Some(10), Some(20), "b")]).unwrap();
        let expected = [(0, "a"), (9, "a"), (10, "b"), (19, "b"), (20, "c"), (u32::MAX, "c")];
        for (key, partition) in expected {
            assert_eq!(*map.partition(&key), partition, "{key}");
        }
        assert_eq!(map.partitions(), ["a", "b", "c"]);
        let ranges: Vec<_> = map.ranges().map(|(range, partition)| format!("{range} {partition}")).collect();
        assert_eq!(ranges, ["[start, 10) a", "[10, 20) b", "[20, end) c"]);
    }

    #[test]
    fn one_range_holds_every_key() {
        let map = RoutingMap::new(7, [(KeyRange::<String>::ALL, 1)]).unwrap();
        assert_eq!((*map.partition(""), *map.partition("z"), map.version()), (1, 1, 7));
    }

    #[test]
    fn gaps_overlaps_and_empty_ranges_cannot_be_built() {
        use RoutingMapError as Error;
        let gap = |missing: &str| Err(Error::Gap { missing: missing.to_owned() });
        let overlap = |range: &str| Err(Error::Overlap { range: range.to_owned() });
        assert_eq!(map(&[]), Err(Error::Empty));
        assert_eq!(map(&[(Some(1), None, "a")]), gap("[start, 1)"));
        assert_eq!(map(&[(None, Some(1), "a")]), gap("[1, end)"));
        assert_eq!(map(&[(None, Some(1), "a"), (Some(2), None, "b")]), gap("[1, 2)"));
        assert_eq!(map(&[(None, Some(3), "a"), (Some(2), None, "b")]), overlap("[2, end)"));
        assert_eq!(map(&[(None, None, "a"), (Some(2), None, "b")]), overlap("[2, end)"));
        assert_eq!(map(&[(None, Some(2), "a"), (None, None, "b")]), overlap("[start, end)"));
        assert_eq!(
            map(&[(None, None, "a"), (Some(2), Some(2), "b")]),
            Err(Error::Inverted { range: "[2, 2)".to_owned() })
        );
        assert_eq!(
            map(&[(None, Some(5), "a"), (Some(5), Some(4), "b")]),
            Err(Error::Inverted { range: "[5, 4)".to_owned() })
        );
    }
}
