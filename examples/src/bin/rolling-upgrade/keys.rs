//! Which partition a key belongs to.

/// Even key ranges, one for each partition.
#[derive(Clone, Debug)]
pub struct KeyMap {
    partitions: u32,
}

impl KeyMap {
    /// As many ranges of one size as there are `partitions`.
    pub fn even(partitions: u32) -> Self {
        Self { partitions: partitions.max(1) }
    }

    /// The partition whose range holds `key`.
    pub fn partition(&self, key: u64) -> u32 {
        let scaled = u128::from(key) * u128::from(self.partitions);
        u32::try_from(scaled >> 64).unwrap_or(self.partitions - 1)
    }

    /// Every partition.
    pub fn partitions(&self) -> impl Iterator<Item = u32> + use<> {
        0..self.partitions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_partitions_share_the_keys_at_the_middle() {
        let map = KeyMap::even(2);
        assert_eq!(map.partition(0), 0);
        assert_eq!(map.partition((1 << 63) - 1), 0);
        assert_eq!(map.partition(1 << 63), 1);
        assert_eq!(map.partition(u64::MAX), 1);
    }
}
