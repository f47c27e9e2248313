//! `check-config` as a person runs it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Exit status, standard output, standard error.
fn check_config(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_check-config")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A folder that is gone at the end of its test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("check-config-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, text: &str) -> String {
        let file = self.0.join("app.json");
        fs::write(&file, text).unwrap();
        path(&file)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn path(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_good_file_prints_every_key_of_both_blocks() {
    let folder = Folder::new("good");
    let file =
        folder.file(r#"{ "circuitBreaker": { "testDelay": 90 }, "replicaPool": { "maxAttempts": 2 } }"#);
    let (status, out, err) = check_config(&[&file]);
    assert_eq!((status, err.as_str()), (0, ""));
    let blocks: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(blocks["circuitBreaker"]["strategy"], "STATIC_THRESHOLD");
    assert_eq!(blocks["circuitBreaker"]["testDelay"], "PT1M30S");
    assert_eq!(blocks["circuitBreaker"]["failureThresholdCapacity"], 10);
    assert_eq!(blocks["replicaPool"]["maxAttempts"], 2);
    assert_eq!(blocks["replicaPool"]["deadline"], "PT30S");
    assert_eq!(blocks["replicaPool"].as_object().unwrap().len(), 15);
    assert!(out.lines().count() > 20, "pretty");
}

#[test]
fn a_wrong_file_prints_a_line_for_each_fault() {
    let folder = Folder::new("wrong");
    let file = folder.file("{ \"circuitBreaker\": {\n  \"failureThreshold\": 0,\n  \"testDealy\": 1 } }");
    let (status, out, err) = check_config(&[&file]);
    assert_eq!((status, out.as_str()), (1, ""));
    let lines: Vec<_> = err.lines().collect();
    assert_eq!(lines.len(), 2, "{err}");
    assert!(lines[0].starts_with(&format!("{file}:2:3: circuitBreaker.failureThreshold: 0 is out of range")));
    assert_eq!(
        lines[1],
        format!("{file}:3:3: circuitBreaker.testDealy: unknown key; did you mean \"testDelay\"?")
    );
}

#[test]
fn a_missing_file_prints_the_defaults_and_a_note() {
    let folder = Folder::new("missing");
    let file = path(&folder.0.join("none.json"));
    let (status, out, err) = check_config(&[&file]);
    assert_eq!((status, err), (0, format!("note: {file} does not exist; these are the defaults\n")));
    let blocks: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(blocks["circuitBreaker"]["failureThreshold"], 3);
}

#[test]
fn an_unreadable_file_is_another_status() {
    let folder = Folder::new("unreadable");
    let (status, out, err) = check_config(&[&path(&folder.0)]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("cannot be read"), "{err}");
    assert_eq!(check_config(&[]).0, 2, "no file named");
}

#[test]
fn warnings_are_printed_and_are_no_errors() {
    let folder = Folder::new("warnings");
    let file = folder.file(r#"{ "circuitBreaker": { "logChanges": true } }"#);
    let (status, out, err) = check_config(&[&file]);
    assert_eq!(
        (status, err),
        (0, format!("warning: {file}:1:23: circuitBreaker.logChanges: unknown key, ignored\n"))
    );
    assert!(out.contains("STATIC_THRESHOLD"));
}

#[test]
fn a_pointer_leads_to_the_block() {
    let folder = Folder::new("pointer");
    let file = folder.file(r#"{ "a": [ { "strategy": "NON_RESILIENT" } ] }"#);
    let (status, out, _) = check_config(&[&file, "--pointer", "/a/0"]);
    assert_eq!(status, 0);
    assert!(out.contains("NON_RESILIENT"), "{out}");
    let (status, _, err) = check_config(&[&file, "--pointer", "/a/1"]);
    assert_eq!(status, 1);
    assert!(err.contains("points to nothing"), "{err}");
}

#[test]
fn the_schema_is_the_committed_one() {
    let committed =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/circuit-breaker.schema.json"));
    let (status, out, _) = check_config(&["--schema"]);
    assert_eq!(status, 0);
    assert_eq!(out, committed.unwrap().replace("\r\n", "\n"));
}
