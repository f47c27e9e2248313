use std::fs;

use serde_json::json;

use crate::config::{Document, LoadError};

/// `line:column: message`.
fn error(content: impl AsRef<[u8]>) -> String {
    let error = Document::parse("f", content).unwrap_err().to_string();
    error.strip_prefix("f:").unwrap().to_owned()
}

#[test]
fn comments_trailing_commas_and_a_byte_order_mark_are_accepted() {
    let text = "\u{feff}{ // one\n  \"a\": [1, 2,], /* two\n */ \"b\": {\"c\": null,},\n}\n";
    assert_eq!(Document::parse("f", text).unwrap().to_value(), json!({ "a": [1, 2], "b": { "c": null } }));
}

#[test]
fn nothing_else_beyond_json_is_accepted() {
    for text in [
        "{'a': 1}",
        "{a: 1}",
        "{\"a\": 0x10}",
        "{\"a\": +1}",
        "{\"a\": .5}",
        "{\"a\": 5.}",
        "{\"a\": 05}",
        "{\"a\": NaN}",
        "{\"a\": Infinity}",
        "{\"a\": -Infinity}",
        "{\"a\": 1 \"b\": 2}",
        "[1 2]",
        "{} {}",
        "{,}",
        "{\"a\"}",
        "{\"a\": }",
        "{\"a\": TRUE}",
        r#"{"a": "\x41"}"#,
        "{\"a\": 1",
        "[1",
        "\"a",
        "{} /* open",
        "}",
        "# no comment\n{}",
    ] {
        assert!(Document::parse("f", text).is_err(), "{text}");
    }
}

#[test]
fn a_syntax_error_says_where() {
    assert_eq!(error("{\n  \"a\": nope\n}"), "2:8: not valid JSON at line 2, column 8: unexpected word");
    assert_eq!(
        error("{ \"a\": { \"b\": 3,"),
        "1:8: not valid JSON at line 1, column 8: this object is not closed"
    );
    assert_eq!(error("[1,\n [2"), "2:2: not valid JSON at line 2, column 2: this array is not closed");
}

#[test]
fn lines_end_in_any_way_and_columns_count_characters() {
    assert!(error("{\r\n\r\n  \"ä\": ?\r\n}").starts_with("3:8: "));
    assert!(error("{\r  \"äöü€😀\": ?}").starts_with("2:12: "));
    assert!(error("\u{feff}?").starts_with("1:1: "), "the byte-order mark is not counted");
}

#[test]
fn an_empty_file_is_not_an_absent_one() {
    let said = "1:1: the file is empty; without settings it reads `{}`";
    for text in ["", "\u{feff}", " \n\t", "// nothing\n", "/**/"] {
        assert_eq!(error(text), said, "{text:?}");
    }
    assert!(Document::absent("f").is_absent());
    assert_eq!(Document::absent("f").name(), "f");
    assert!(!Document::parse("f", "{}").unwrap().is_absent());
}

#[test]
fn what_is_not_utf_8_is_refused_at_its_place() {
    assert_eq!(error(b"{\n \"a\": \"\xff\" }"), "2:8: the file is not UTF-8 here");
    assert_eq!(error(b"\xff\xfe{\0}\0"), "1:1: the file is not UTF-8 here");
    assert_eq!(error([&b"{\"\xc3\xa4\": \""[..], &b"\xc3"[..]].concat()), "1:8: the file is not UTF-8 here");
}

#[test]
fn one_mebibyte_is_the_most() {
    let padded = |size: usize| format!("{{}}{}", " ".repeat(size - 2));
    assert!(Document::parse("f", padded(1_048_576)).is_ok());
    assert_eq!(error(padded(1_048_577)), "1:1: the file is larger than 1 MiB (1048576 bytes)");
}

#[test]
fn sixty_four_levels_are_the_most() {
    let nested = |open: &str, close: &str, levels: usize| open.repeat(levels) + "1" + &close.repeat(levels);
    assert!(Document::parse("f", nested("[", "]", 64)).is_ok());
    assert_eq!(error(nested("[", "]", 65)), "1:65: arrays and objects are nested more than 64 levels deep");
    assert!(Document::parse("f", nested("{\"a\":", "}", 64)).is_ok());
    assert_eq!(
        error(nested("{\"a\":", "}", 65)),
        "1:321: arrays and objects are nested more than 64 levels deep"
    );
    assert!(error("[".repeat(1_000_000)).ends_with("64 levels deep"));
    assert!(error("{\"a\":".repeat(200_000)).ends_with("64 levels deep"));
}

#[test]
fn numbers_that_no_float_holds_become_the_largest() {
    let value = |text: &str| Document::parse("f", text).unwrap().to_value();
    assert_eq!(value("1e400"), json!(f64::MAX));
    assert_eq!(value("-1e400"), json!(f64::MIN));
    assert_eq!(value("18446744073709551615"), json!(u64::MAX));
    assert_eq!(value("-9223372036854775808"), json!(i64::MIN));
    assert_eq!(value("1e-400"), json!(0.0));
    assert_eq!(value("3.0"), json!(3.0));
}

#[test]
fn a_missing_file_is_absent_and_an_unreadable_one_an_error_of_its_own() {
    let folder = std::env::temp_dir().join(format!("breaker-core-document-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("settings.json");

    assert!(Document::open(&file).unwrap().is_absent());
    let unreadable = Document::open(&folder).unwrap_err();
    assert!(
        matches!(&unreadable, LoadError::Unreadable { file, .. } if *file == folder),
        "a directory: {unreadable}"
    );

    fs::write(&file, "{\n?").unwrap();
    let invalid = Document::open(&file).unwrap_err();
    assert!(matches!(invalid, LoadError::Invalid(_)));
    assert!(invalid.to_string().starts_with(&format!("{}:2:1: ", file.display())), "{invalid}");

    fs::write(&file, " ".repeat(2 << 20)).unwrap();
    assert!(Document::open(&file).unwrap_err().to_string().contains("1 MiB"));
    fs::remove_dir_all(&folder).unwrap();
}
