//! Settings files: the built-in strategies, the `replicaPool` block, and the schema of both.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod files;
mod guide;
mod pool;
mod schema;
mod third_party;

use std::path::PathBuf;

use replica_pool::config::Config;

/// A folder of the test data.
fn configs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/configs")
}

fn read(text: &str) -> Config {
    Config::from_text("f.json", text).unwrap()
}

/// What is said of a file, line by line, without its name.
fn errors(text: &str) -> Vec<String> {
    let error = Config::from_text("f", text).unwrap_err().to_string();
    error.lines().map(|line| line.strip_prefix("f:").unwrap().to_owned()).collect()
}
