//! Numbers that a seed determines.

/// SplitMix64: small, and the same everywhere and for ever, so that a seed reproduces its sequence.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// The numbers of one sequence of a suite.
    pub(super) fn of(seed: u64, sequence: u64) -> Self {
        let mut random = Self(seed ^ sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.next();
        random
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// True in `percent` of 100 cases.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let index = usize::try_from(self.below(from.len() as u64)).ok()?;
        from.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second to the fourth number that SplitMix64 gives from 1234567, as its author's program does; the first is
    /// passed over.
    const NUMBERS: [u64; 3] =
        [3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431];

    fn known() -> Random {
        Random::of(1_234_567, 0)
    }

    #[test]
    fn numbers_are_those_of_split_mix_64() {
        let mut random = known();
        assert_eq!([random.next(), random.next(), random.next()], NUMBERS);
    }

    #[test]
    fn each_sequence_of_a_seed_has_numbers_of_its_own() {
        // The sequence's number is worked into the seed so that some of its bits are turned over, and others are not.
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        assert_eq!(Random::of(step, 1).next(), Random::of(0, 0).next());
        assert_ne!(Random::of(0, 1).next(), Random::of(0, 0).next());
        assert_ne!(Random::of(7, 1).next(), Random::of(7, 0).next());
    }

    #[test]
    fn a_number_below_a_bound_is_the_rest_of_a_division() {
        assert_eq!(known().below(100), 73);
        assert_eq!(known().below(0), 0);
    }

    #[test]
    fn a_chance_is_taken_in_so_many_of_a_hundred_cases() {
        // 73 is not below 73.
        assert_eq!([72, 73, 74].map(|percent| known().chance(percent)), [false, false, true]);
    }

    #[test]
    fn one_of_some_is_picked_by_its_index() {
        assert_eq!(known().pick(&[10, 11, 12, 13, 14, 15, 16, 17, 18, 19]), Some(13));
        assert_eq!(known().pick::<u8>(&[]), None);
    }
}
