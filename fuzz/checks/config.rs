//! What must hold for the content of a settings file, whatever it is.

use breaker_core::{
    Timestamp,
    config::{ConfigError, Document},
};
use replica_pool::config::Config;

pub fn check(content: &[u8]) {
    let read = Config::from_text("file", content);
    match &read {
        Err(error) => is_sane(content, error),
        Ok(config) => {
            assert!(content.len() <= Document::MAX_BYTES);
            // What it says of itself reads as the same again.
            let effective = config.effective().to_string();
            let again = Config::from_text("again", &effective).unwrap_or_else(|error| panic!("{effective}: {error}"));
            assert_eq!(effective, again.effective().to_string());
            assert!(again.warnings.is_empty());
            config.breaker.build(Timestamp::ZERO);
        }
    }
    // A block anywhere, as a program with a pointer of its own reads it.
    if let Ok(document) = Document::parse("file", content) {
        document.to_value();
        for pointer in ["", "/", "/a/0", "/a~1b/~0"] {
            if let Err(error) = Config::loader().pointer(pointer).document(&document) {
                is_sane(content, &error);
            }
        }
    }
}

/// Every fault has a place in the text, is told in one line, and they come in order.
fn is_sane(content: &[u8], error: &ConfigError) {
    let lines = String::from_utf8_lossy(content).split(['\n', '\r']).count();
    assert!(!error.faults.is_empty());
    for fault in &error.faults {
        assert!((1..=lines).contains(&fault.line), "{fault}");
        assert!((1..=content.len() + 1).contains(&fault.column), "{fault}");
        assert_eq!(fault.to_string().lines().count(), 1, "{fault}");
    }
    assert!(error.faults.is_sorted_by_key(|fault| (fault.line, fault.column)), "{error}");
}
