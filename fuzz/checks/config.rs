//! What must hold for the content of a settings file, whatever it is.

use std::sync::LazyLock;

use breaker_core::{
    Timestamp,
    config::{ConfigError, Document},
};
use replica_pool::config::{Config, ConfigLoader};

/// Made once: most of the time of a reading is the making of its registry.
static USUAL: LazyLock<ConfigLoader> = LazyLock::new(Config::loader);
/// For a block anywhere, as a program with a pointer of its own reads it.
static ANYWHERE: LazyLock<[ConfigLoader; 4]> =
    LazyLock::new(|| ["", "/", "/a/0", "/a~1b/~0"].map(|pointer| Config::loader().pointer(pointer)));

pub fn check(content: &[u8]) {
    let read = USUAL.text("file", content);
    match &read {
        Err(error) => is_sane(content, error),
        Ok(config) => {
            assert!(content.len() <= Document::MAX_BYTES);
            // What it says of itself reads as the same again.
            let effective = config.effective().to_string();
            let again =
                USUAL.text("again", &effective).unwrap_or_else(|error| panic!("{effective}: {error}"));
            assert_eq!(effective, again.effective().to_string());
            assert!(again.warnings.is_empty());
            config.breaker.build(Timestamp::ZERO);
        }
    }
    if let Ok(document) = Document::parse("file", content) {
        document.to_value();
        if let Err(error) = ANYWHERE[content.len() % ANYWHERE.len()].document(&document) {
            is_sane(content, &error);
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
