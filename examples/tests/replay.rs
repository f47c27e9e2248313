//! `replay` as a person runs it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

/// Exit status, standard output, standard error.
fn replay(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_replay")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A file that is gone at the end of its test.
struct File(PathBuf);

impl File {
    fn new(test: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("replay-{test}-{}.jsonl", std::process::id()));
        fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

const OUTAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/short-outage.jsonl");
const STATIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../breaker-static/tests/golden");
const CANARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../breaker-canary/tests/golden");

/// Trips at the second failure.
const WRONG: &str = r#"{"name":"two strikes","config":{"failureThreshold":2},"steps":[{"op":"acquire","call":0,"permitted":true},{"op":"acquire","call":1},{"op":"failure","call":0,"state":"open","calls":1},{"op":"failure","call":1,"state":"open"},{"op":"acquire","call":2,"permitted":true},{"op":"events","transitions":[]}]}"#;

#[test]
fn all_traces_replay_without_a_mismatch() {
    let files = [
        format!("{STATIC}/static-threshold.jsonl"),
        format!("{STATIC}/cases.jsonl"),
        format!("{CANARY}/canary-rate-threshold.jsonl"),
        format!("{CANARY}/canary-time-and-slow.jsonl"),
        format!("{CANARY}/cases.jsonl"),
    ];
    let (status, out, err) = replay(&files.each_ref().map(String::as_str));
    assert_eq!((status, out.as_str(), err.as_str()), (0, "145 scenarios, 19888 steps, 0 mismatches\n", ""));
}

#[test]
fn each_mismatch_is_a_line_and_the_status_is_1() {
    let file = File::new("wrong", WRONG);
    let (status, out, err) = replay(&[file.path()]);
    assert_eq!(
        out.lines().collect::<Vec<_>>(),
        [
            "two strikes, step 3 (failure): expected state open, got closed",
            "two strikes, step 5 (acquire): expected permitted true, got false",
            "two strikes, step 6 (events): expected transitions [], got [closed>open]",
            "1 scenarios, 6 steps, 3 mismatches",
        ]
    );
    assert_eq!((status, err.as_str()), (1, ""));
}

#[test]
fn what_makes_no_sense_is_told_on_standard_error_and_the_rest_goes_on() {
    let bad = r#"{"name":"bad","steps":[{"op":"acquire","call":0,"permited":true}]}"#;
    let file = File::new("bad", &format!("{bad}\n{WRONG}\n"));
    let (status, out, err) = replay(&[file.path()]);
    assert_eq!(status, 2);
    assert!(out.ends_with("1 scenarios, 6 steps, 3 mismatches\n"), "{out}");
    let place = format!("{}:1:58: step 1: unknown field `permited`, expected one of `op`, ", file.path());
    assert!(err.starts_with(&place) && err.contains("`permitted`"), "{err}");
}

#[test]
fn a_step_that_cannot_be_done_is_told_with_its_number() {
    let file = File::new("undone", r#"{"name":"n","steps":[{"op":"state"},{"op":"success","call":9}]}"#);
    let (status, _, err) = replay(&[file.path()]);
    let told = "step 2 (success): call 9 is not out: it was never acquired, or has ended already";
    assert_eq!((status, err), (2, format!("{}:1: {told}\n", file.path())));
}

#[test]
fn files_that_cannot_be_read_are_status_2() {
    let (status, out, err) = replay(&["no-such-file.jsonl", OUTAGE]);
    assert_eq!(status, 2);
    assert!(err.starts_with("no-such-file.jsonl: cannot be read: "), "{err}");
    assert!(out.ends_with("1 scenarios, 32 steps, 0 mismatches\n"), "{out}");
    assert_eq!(replay(&[]).0, 2, "no file named");
}

#[test]
fn without_expectations_it_shows_what_happened_when() {
    let (status, out, err) = replay(&[OUTAGE]);
    assert_eq!((status, err.as_str()), (0, ""));
    for line in [
        "a short outage",
        "     0.000      2  success 0 in 12ms                                       closed         1       0",
        "     3.000      *  closed -> open: too many failures",
        "     4.000     13  acquire 4             rejected: open until 8.000        open           0       0",
        "     4.000     14  failure 4             never made, it was rejected       open           0       0",
        "     8.000      *  open -> half_open: the open delay has passed",
        "     8.500     24  advance 1.5s                                            half_open      0       0",
        "     9.000      *  half_open -> closed: half-open calls succeeded",
        "  7 calls admitted, 4 rejected (of these, 4 would have failed and 0 succeeded)",
    ] {
        assert!(out.lines().any(|other| other.starts_with(line)), "{line}\n{out}");
    }
    let times: Vec<f64> = out.lines().filter_map(|line| line.get(..10)?.trim().parse().ok()).collect();
    assert!(times.len() > 32 && times.is_sorted(), "{times:?}");
}

#[test]
fn a_timeline_can_be_forced_and_shows_mismatches_in_their_places() {
    let file = File::new("forced", WRONG);
    let (status, out, _) = replay(&["--timeline", file.path()]);
    assert_eq!(status, 1);
    let at = |text: &str| out.find(text).unwrap_or_else(|| panic!("{text}\n{out}"));
    let mismatch = at("two strikes, step 3 (failure): expected state open, got closed");
    assert!(at("     0.000      3  failure 0") < mismatch && mismatch < at("     0.000      4  failure 1"));
}

#[test]
fn warnings_of_old_blocks_are_no_errors() {
    let file = File::new("old", r#"{"name":"n","config":{"logChanges":true},"steps":[]}"#);
    let (status, _, err) = replay(&[file.path()]);
    let told = format!("warning: {}:1:23: config.logChanges: unknown key, ignored\n", file.path());
    assert_eq!((status, err), (0, told));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let file = format!("{CANARY}/canary-rate-threshold.jsonl");
    let mut child = Command::new(env!("CARGO_BIN_EXE_replay"))
        .args(["--timeline", &file])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
