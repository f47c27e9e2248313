//! `custom-strategy` as a person runs it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::process::Command;

/// Exit status, standard output, standard error.
fn custom_strategy(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_custom-strategy")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn it_trips_waits_and_recovers_and_shows_what_mistakes_bring() {
    let (status, out, err) = custom_strategy(&[]);
    assert_eq!((status, err.as_str()), (0, ""));
    let mut rest = out.as_str();
    for told in [
        r#""strategy": "CONSECUTIVE_FAILURES""#,
        "      5  down    failed\n      *  closed -> open: too many failures",
        "      6  down    not called: the circuit is open until 15s",
        "      *  open -> half_open: the open delay has passed\n     15  down    failed\n      *  half_open -> open",
        "     25  up      answered\n      *  half_open -> closed",
        "4 calls failed, 13 were spared",
        r#"app.json:2:5: circuitBreaker.failuresInARoe: unknown key; did you mean "failuresInARow"?"#,
        r#"app.json:3:5: circuitBreaker.retryAfter: "ten seconds" is not a duration; allowed: "#,
    ] {
        let at = rest.find(told).unwrap_or_else(|| panic!("{told}\nin\n{rest}"));
        rest = &rest[at + told.len()..];
    }
}

#[test]
fn any_other_settings_file_will_do() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../replica-pool/tests/configs/partial-static.json");
    let (status, out, _) = custom_strategy(&["--config", file]);
    assert_eq!(status, 0);
    assert!(out.contains(r#""strategy": "STATIC_THRESHOLD""#), "{out}");
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let (status, out, err) = custom_strategy(&["--config", "no-such-file.json"]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(err.contains("no-such-file.json does not exist"), "{err}");
}
