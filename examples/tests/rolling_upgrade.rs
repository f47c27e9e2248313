//! The program as its user runs it. What takes time here is looked at, not asserted on.

use std::{
    io,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;

fn program(arguments: &[&str]) -> io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_rolling-upgrade")).args(arguments).output()
}

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn a_short_run_of_the_plain_client_leaves_both_reports() {
    let folder = folder("rolling-upgrade-plain");
    let run = program(&["--quick", "--only", "plain", "--rate", "400", "--out", &folder.to_string_lossy()])
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    assert!(String::from_utf8_lossy(&run.stdout).contains("Plain client"));
    assert!(run.stderr.is_empty(), "no bars where there is no terminal: {run:?}");

    let report: Value = serde_json::from_slice(&std::fs::read(folder.join("report.json")).unwrap()).unwrap();
    let plain = &report["plain"];
    // 0.5 s, three replicas of 1.25 s, 0.5 s: 4.75 s of 400 requests each.
    assert_eq!(plain["requests"], 1_900);
    assert!(plain["bad_attempts"].as_u64().unwrap() > 0, "{plain}");
    assert_eq!(plain["attempts_after_mark"], Value::Null);
    assert!(std::fs::read_to_string(folder.join("report.html")).unwrap().contains("<svg"));
}

#[test]
fn help_tells_what_it_is_for() {
    let help = program(&["--help"]).unwrap();
    assert!(help.status.success());
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    for word in [
        "--scenario",
        "split",
        "migrate",
        "--config",
        "--seed",
        "--rate",
        "--out",
        "--only",
        "--quick",
        "report.html",
        "Exit status",
    ] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn a_wrong_command_line_ends_with_two() {
    assert_eq!(program(&["--only", "nothing"]).unwrap().status.code(), Some(2));
    assert_eq!(program(&["--rate", "0"]).unwrap().status.code(), Some(2));
}

#[test]
fn a_wrong_configuration_ends_before_anything_runs() {
    let file = folder("rolling-upgrade-wrong.json");
    let text =
        r#"{ "static": { "circuitBreaker": { "strategy": "STATIC_THRESHOLD", "failureTreshold": 3 } } }"#;
    std::fs::write(&file, text).unwrap();
    let run = program(&["--only", "static", "--config", &file.to_string_lossy()]).unwrap();
    assert_eq!(run.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&run.stderr).contains("failureThreshold"), "{run:?}");
}
