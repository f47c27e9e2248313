//! Which partition a key belongs to, and how the gateway says so.

use std::io;

use replica_pool::{KeyRange, RoutingMap};

/// Ranges of keys, each with the number of its partition.
pub type KeyMap = RoutingMap<u64, u32>;

/// As many ranges of about one size as there are `partitions`: the first map.
pub fn even(partitions: u32) -> KeyMap {
    let partitions = partitions.max(1);
    let starts: Vec<_> = (0..partitions).map(|number| (number, share(number, partitions))).collect();
    from_starts(1, &starts).unwrap_or_else(|_| unreachable!("ascending starts make a map"))
}

/// The first key of part `number` when all keys are divided into `parts` of one size.
pub fn share(number: u32, parts: u32) -> u64 {
    let start = (u128::from(number) << 64).div_ceil(u128::from(parts));
    u64::try_from(start).unwrap_or(u64::MAX)
}

/// The map of ranges that begin at these keys, ascending, the first one at 0.
///
/// # Errors
///
/// When they don't ascend.
pub fn from_starts(version: u64, starts: &[(u32, u64)]) -> io::Result<KeyMap> {
    let ends = starts.iter().skip(1).map(|&(_, start)| Some(start)).chain([None]);
    let ranges = starts.iter().zip(ends).enumerate().map(|(at, (&(partition, start), end))| {
        // Nothing is below 0: the first range is open to that side.
        (KeyRange::new((at > 0).then_some(start), end), partition)
    });
    RoutingMap::new(version, ranges).map_err(io::Error::other)
}

/// The map as a line: its version, then each partition with its first key.
pub fn to_line(map: &KeyMap) -> String {
    let ranges = map.ranges().map(|(range, partition)| format!(" {partition}@{}", range.from.unwrap_or(0)));
    format!("{}{}", map.version(), ranges.collect::<String>())
}

/// The map that a line says.
///
/// # Errors
///
/// When it says none.
pub fn from_line(line: &str) -> io::Result<KeyMap> {
    let mut words = line.split_whitespace();
    let number = |word: &str| word.parse().map_err(io::Error::other);
    let version = number(words.next().unwrap_or_default())?;
    let start = |word: &str| {
        let (partition, key) = word.split_once('@').ok_or(io::ErrorKind::InvalidData)?;
        Ok((partition.parse().map_err(io::Error::other)?, number(key)?))
    };
    from_starts(version, &words.map(start).collect::<io::Result<Vec<_>>>()?)
}

/// Whether `range` holds `key`.
pub fn holds(range: &KeyRange<u64>, key: u64) -> bool {
    range.from.is_none_or(|from| from <= key) && range.to.is_none_or(|to| key < to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_partitions_share_the_keys_at_the_middle() {
        let map = even(2);
        let of = |key: u64| *map.partition(&key);
        assert_eq!([0, (1 << 63) - 1, 1 << 63, u64::MAX].map(of), [0, 0, 1, 1]);
    }

    #[test]
    fn a_map_survives_its_line() {
        let map = from_starts(2, &[(2, 0), (3, 50), (1, 100)]).unwrap();
        assert_eq!(to_line(&map), "2 2@0 3@50 1@100");
        assert_eq!(from_line("2 2@0 3@50 1@100").unwrap(), map);
        assert_eq!(from_line(&to_line(&even(3))).unwrap(), even(3));
    }

    #[test]
    fn a_line_that_says_no_map_is_an_error() {
        for line in ["", "1", "1 0", "1 0@x", "1 0@0 1@9 2@9"] {
            assert!(from_line(line).is_err(), "{line:?}");
        }
    }

    #[test]
    fn a_range_holds_its_start_and_not_its_end() {
        let range = KeyRange::new(Some(10), Some(20));
        assert_eq!([9, 10, 19, 20].map(|key| holds(&range, key)), [false, true, true, false]);
        assert!(holds(&KeyRange::ALL, 0) && holds(&KeyRange::ALL, u64::MAX));
    }
}
