//! Files that nobody would write.

use proptest::prelude::*;

use super::registry;
use crate::config::{ConfigError, Document};

fn read(text: &[u8]) -> Result<(), ConfigError> {
    let document = Document::parse("f", text)?;
    document.to_value();
    let blocks = document.blocks()?;
    registry().resolve(blocks.breaker()).map(|_| ())
}

/// Every fault stands in the text, and has one line.
fn is_sane(text: &[u8], error: &ConfigError) {
    let lines = String::from_utf8_lossy(text).split(['\n', '\r']).count();
    assert!(!error.faults.is_empty());
    for fault in &error.faults {
        assert!((1..=lines).contains(&fault.line), "{fault}");
        assert!((1..=text.len() + 1).contains(&fault.column), "{fault}");
        assert!(!fault.to_string().contains(char::is_control), "{fault:?}");
    }
    assert!(error.faults.is_sorted_by_key(|fault| (fault.line, fault.column)));
}

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "//",
        "/*",
        "*/",
        "\n",
        "\r",
        "\\",
        "ä",
        "1",
        "-",
        ".",
        "e9",
        "1e400",
        "null",
        "true",
        "\"circuitBreaker\"",
        "\"solver\"",
        "\"remote\"",
        "\"strategy\"",
        "\"SAMPLE\"",
        "\"count\"",
        "\"delay\"",
        "\"nested\"",
        "\"ports\"",
        "\"PT1S\"",
        "\"either\"",
        "\u{feff}",
        "{\"circuitBreaker\":{",
    ])
}

#[test]
fn a_key_with_a_line_break_is_told_on_one_line() {
    let error = read(b"{\"circuitBreaker\": {\"strategy\": \"SAMPLE\", \"co\nunt\x1b\": 1}}").unwrap_err();
    let told = error.to_string();
    assert!(told.starts_with(r"f:1:43: circuitBreaker.co\nunt\u{1b}: unknown key"), "{told}");
    assert_eq!(told.lines().count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_reader_panic(pieces in prop::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        if let Err(error) = read(text.as_bytes()) {
            is_sane(text.as_bytes(), &error);
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        if let Err(error) = read(&bytes) {
            is_sane(&bytes, &error);
        }
    }

    #[test]
    fn no_value_of_a_key_makes_the_check_panic(key in piece(), value in prop::collection::vec(piece(), 1..6)) {
        let text = format!("{{\"circuitBreaker\": {{{key}: {}}}}}", value.concat());
        if let Err(error) = read(text.as_bytes()) {
            is_sane(text.as_bytes(), &error);
        }
    }
}
