//! The program as its user runs it, for a few seconds.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::process::{Command, Output};

fn soak(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_soak")).args(arguments).output().unwrap()
}

#[test]
fn after_some_seconds_of_faults_everything_is_as_it_was() {
    let run = soak(&["--minutes=0.05", "--rate=200", "--seed=1"]);
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert_eq!((run.status.code(), &*err), (Some(0), ""), "{out}");
    let row = |word: &str| {
        let row = out
            .lines()
            .find_map(|line| line.trim_start().strip_prefix(word))
            .unwrap_or_else(|| panic!("{word}: {out}"));
        let number = |word: &str| word.parse().unwrap();
        row.split_whitespace().take(5).map(number).collect::<Vec<u64>>()
    };
    let (start, end) = (row("start "), row("end "));
    // Requests and faults were more; none of the requests should have been served and was not, and no circuit is open.
    assert!(end[0] > start[0] && end[1] > start[1], "{out}");
    assert_eq!((&start[3..], &end[3..]), (&[0, 0][..], &[0, 0][..]), "{out}");
}

#[test]
fn a_wrong_command_line_ends_with_two() {
    for wrong in ["--minutes=0", "--minutes=long", "--rate=1"] {
        assert_eq!(soak(&[wrong]).status.code(), Some(2), "{wrong}");
    }
}
