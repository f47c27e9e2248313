//! Numbers for readers.

/// Microseconds as milliseconds, with the digits that matter: `4.9 ms`, `104 ms`.
pub fn millis(us: u64) -> String {
    let ms = us as f64 / 1_000.0;
    if ms < 99.95 { format!("{ms:.1} ms") } else { format!("{ms:.0} ms") }
}

/// Microseconds as a span that may be long: `40.1 ms`, `1.20 s`.
pub fn span(us: u64) -> String {
    if us < 1_000_000 { millis(us) } else { format!("{:.2} s", us as f64 / 1_000_000.0) }
}

/// How many times `unit` goes into `value`: `21`, `1.1`.
pub fn times(value: u64, unit: u64) -> String {
    let ratio = value as f64 / unit.max(1) as f64;
    if ratio < 9.95 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

/// A count with thousands apart: `26,000`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([4_870, 99_960, 104_200].map(millis), ["4.9 ms", "100 ms", "104 ms"]);
        assert_eq!([40_100, 1_204_000].map(span), ["40.1 ms", "1.20 s"]);
        assert_eq!([(21_300, 1_000), (1_140, 1_000)].map(|(value, unit)| times(value, unit)), ["21", "1.1"]);
        assert_eq!(
            [7, 999, 1_000, 26_000, 1_234_567].map(count),
            ["7", "999", "1,000", "26,000", "1,234,567"]
        );
    }
}
