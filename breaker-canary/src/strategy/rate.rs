//! Percentages that are compared without rounding.

/// A share in percent, exactly as its decimal digits say.
///
/// The `f64` nearest to 33.3 is a little less than 33.3. What a person wrote is its shortest decimal form, so
/// that is what counts: 333 of 1000 calls are 33.3 %, and 332 are not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    percent: f64,
    /// The share as a fraction: so many of `all`.
    share: u128,
    all: u128,
    /// The same where numbers of half the size will do, as they nearly always do; zeros elsewhere.
    small: (u32, u32),
}

impl Rate {
    /// All of them.
    pub(super) const HUNDRED: Self = Self { percent: 100.0, share: 1, all: 1, small: (1, 1) };

    /// The share, if `percent` is more than 0 and at most 100.
    pub(super) fn new(percent: f64) -> Option<Self> {
        if !(percent > 0.0 && percent <= 100.0) {
            return None;
        }
        // One call of u32::MAX is more than this percentage, so it decides like all smaller ones. With 8 places before
        // the first of at most 17 digits, all numbers below stay under 2^128.
        let text = percent.max(1e-8).to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let all = 100 * 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let share: u128 = format!("{whole}{fraction}").parse().ok()?;
        let small = match (u32::try_from(share), u32::try_from(all)) {
            (Ok(share), Ok(all)) => (share, all),
            _ => (0, 0),
        };
        Some(Self { percent, share, all, small })
    }

    /// The share as it was given.
    pub(super) fn percent(self) -> f64 {
        self.percent
    }

    /// Whether `part` of `whole` calls are this share of them or more. No calls are no share at all.
    pub(super) fn reached(self, part: u32, whole: u32) -> bool {
        if whole == 0 {
            return false;
        }
        match self.small {
            (0, _) => u128::from(part) * self.all >= self.share * u128::from(whole),
            (share, all) => u64::from(part) * u64::from(all) >= u64::from(share) * u64::from(whole),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(percent: f64) -> Rate {
        Rate::new(percent).unwrap()
    }

    #[test]
    fn an_equal_share_is_reached() {
        assert!(rate(50.0).reached(5, 10));
        assert!(!rate(50.0).reached(4, 9));
        assert!(rate(100.0).reached(7, 7));
        assert!(!rate(100.0).reached(6, 7));
    }

    #[test]
    fn percentages_mean_their_decimal_digits() {
        assert!(rate(33.3).reached(333, 1_000));
        assert!(!rate(33.3).reached(332, 1_000));
        assert!(rate(21.9).reached(219, 1_000));
        assert!(!rate(21.9).reached(218, 1_000));
        assert!(rate(0.1).reached(1, 1_000));
        assert!(!rate(0.1).reached(1, 1_001));
        // 29 % of 100 in floating point: 0.29 * 100 is 28.999999999999996.
        assert!(rate(29.0).reached(29, 100));
        assert!(!rate(33.333_333_333_333_336).reached(1, 3));
        assert!(rate(33.333_333_333_333_33).reached(1, 3));
    }

    #[test]
    fn the_smallest_and_the_longest_numbers_fit() {
        for percent in [f64::MIN_POSITIVE, 5e-324, 1e-8, 1.000_000_000_000_000_2e-8, 2.328_306_437_080_797e-8]
        {
            assert!(rate(percent).reached(1, u32::MAX), "{percent}");
            assert!(!rate(percent).reached(0, u32::MAX), "{percent}");
        }
        assert!(
            !rate(2.328_306_437_080_798e-8).reached(1, u32::MAX),
            "100 / u32::MAX is 2.3283064370807973…e-8"
        );
        assert!(rate(99.999_999_999_999_99).reached(u32::MAX, u32::MAX));
    }

    #[test]
    fn what_is_no_percentage_is_refused() {
        for percent in [0.0, -0.0, -1.0, 100.000_000_000_000_01_f64.next_up(), 101.0, f64::NAN, f64::INFINITY]
        {
            assert_eq!(Rate::new(percent), None, "{percent}");
        }
    }

    #[test]
    fn no_calls_are_no_share() {
        assert!(!rate(0.1).reached(0, 0));
    }
}
