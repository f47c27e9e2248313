//! `quickstart` as a person runs it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::process::{Command, Output};

fn quickstart(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quickstart")).args(arguments).output().unwrap()
}

/// The numbers of a stage: answers of A, answers of B, failed attempts; and the circuits of both.
fn stage(out: &str, name: &str) -> (Vec<u32>, String) {
    let line =
        out.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}\n{out}"));
    let words: Vec<_> = line.split_whitespace().collect();
    (words[..3].iter().map(|number| number.parse().unwrap()).collect(), words[3..].join(" "))
}

#[test]
fn requests_go_on_while_a_server_is_down_and_return_to_it_when_it_is_back() {
    let output = quickstart(&[]);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!((output.status.code(), &*err), (Some(0), ""));

    let (numbers, circuits) = stage(&out, "both are up ");
    assert_eq!((numbers[0] + numbers[1], numbers[2], circuits.as_str()), (300, 0, "closed, closed"));
    let (numbers, _) = stage(&out, "B is down ");
    assert_eq!(numbers[..2], [300, 0]);
    assert!((2..10).contains(&numbers[2]), "its circuit opened at the second failure: {numbers:?}");
    let (numbers, circuits) = stage(&out, "B is up again ");
    assert!(numbers[0] + numbers[1] == 300 && numbers[1] > 0, "{numbers:?}");
    assert_eq!(circuits, "closed, closed");
}

#[test]
fn a_strategy_that_needs_probes_is_refused_with_advice() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../replica-pool/tests/configs/v3-canary.json");
    let output = quickstart(&["--config", file]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(err.contains("the pool has no probe"), "{err}");
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let output = quickstart(&["--config", "no-such-file.json"]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(err.contains("no-such-file.json does not exist"), "{err}");
}
