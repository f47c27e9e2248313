//! The program as its user runs it, with few replicas. What takes time here is looked at, not asserted on.

use std::{
    io,
    process::{Command, Output},
};

use serde_json::Value;

fn program(arguments: &[&str]) -> io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_scale")).args(arguments).output()
}

#[test]
fn a_small_store_comes_up_loses_a_replica_and_is_well_again() {
    let run = program(&["--replicas=102", "--requests=50", "--seconds=1", "--probe=1", "--json"]).unwrap();
    assert!(run.status.success(), "{run:?}");
    let row: Value = serde_json::from_slice(&run.stdout).unwrap();
    // 26 partitions of four, and one replica in a hundred is a victim: numbers 0 and 100.
    assert_eq!((&row["replicas"], &row["victims"]), (&Value::from(104), &Value::from(2)));
    assert!(row["start_in_flight"].as_u64().unwrap() <= 64, "{row}");
    assert!(row["outage_in_flight"].as_u64().unwrap() <= 2, "{row}");
}

#[test]
fn several_numbers_become_columns() {
    let run = program(&["--replicas=4,8", "--requests=50", "--seconds=1", "--probe=0"]).unwrap();
    assert!(run.status.success(), "{run:?}");
    let table = String::from_utf8_lossy(&run.stdout).into_owned();
    assert_eq!(table.lines().next().unwrap().split_whitespace().collect::<Vec<_>>(), ["replicas", "4", "8"]);
    assert!(table.contains("return: all circuits closed after"), "{table}");
}

#[test]
fn help_tells_what_it_is_for() {
    let help = program(&["--help"]).unwrap();
    assert!(help.status.success());
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    for word in ["--replicas", "--requests", "--seconds", "--probe", "--seed", "outage", "Exit status"] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn a_wrong_command_line_ends_with_two() {
    assert_eq!(program(&["--replicas", "0"]).unwrap().status.code(), Some(2));
    assert_eq!(program(&["--replicas", "many"]).unwrap().status.code(), Some(2));
}
