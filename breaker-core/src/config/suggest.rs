//! "Did you mean …?"

use strsim::damerau_levenshtein;

/// The known name that `written` resembles most, if any.
///
/// Two names resemble each other when, upper and lower case aside, at most a third of the longer one's letters
/// has to change: `testdelay` and `testDelays` resemble `testDelay`, and `delay` does not. Equally near names
/// are taken in their order.
pub(super) fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = written.to_lowercase();
    let length = lower.chars().count();
    known
        .into_iter()
        .filter_map(|name| {
            let known_length = name.chars().count();
            let most = length.max(known_length) / 3;
            if length.abs_diff(known_length) > most {
                return None;
            }
            let distance = damerau_levenshtein(&lower, &name.to_lowercase());
            (distance <= most).then_some((distance, name))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 6] =
        ["strategy", "type", "failureThreshold", "failureThresholdCapacity", "successThreshold", "testDelay"];

    #[test]
    fn up_to_a_third_of_the_letters_may_differ() {
        assert_eq!(nearest("failureTreshold", KEYS), Some("failureThreshold"));
        assert_eq!(nearest("testdelay", KEYS), Some("testDelay"));
        assert_eq!(nearest("test_delay", KEYS), Some("testDelay"));
        assert_eq!(nearest("estDly", KEYS), Some("testDelay"), "3 of 9 letters");
        assert_eq!(nearest("etDly", KEYS), None, "4 of 9 letters");
        assert_eq!(nearest("tpye", KEYS), Some("type"), "a swap is one change");
        assert_eq!(nearest("delay", KEYS), None);
        assert_eq!(nearest("comment", KEYS), None);
        assert_eq!(nearest("", KEYS), None);
    }

    #[test]
    fn the_nearest_wins() {
        assert_eq!(nearest("failureThresholdCapacty", KEYS), Some("failureThresholdCapacity"));
        assert_eq!(nearest("anything", []), None);
    }

    #[test]
    fn long_names_do_not_overflow() {
        assert_eq!(nearest(&"x".repeat(5_000), KEYS), None);
    }
}
