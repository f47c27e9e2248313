//! Every input that fuzzing found worth keeping, and a few thousand near each, read as the fuzzer reads them.

#![allow(dead_code, reason = "these are parts of a program")]

#[path = "../../fuzz/checks/trace.rs"]
mod check;
#[path = "../../fuzz/checks/config.rs"]
mod config;
#[path = "../src/bin/replay/reading.rs"]
mod reading;
#[path = "../src/bin/replay/runner.rs"]
mod runner;
#[path = "../src/bin/replay/trace.rs"]
mod trace;

use std::{fs, path::Path};

/// Small changes of one input.
const CHANGES: usize = 40;

fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(name);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let read = |file: fs::DirEntry| {
        let content = fs::read(file.path()).expect("a readable file");
        (file.file_name().display().to_string(), content)
    };
    files.map(|file| read(file.expect("a file"))).collect()
}

/// Cuts, drops, repeats and overwrites, the same ones in every run.
fn changed(content: &[u8], nth: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(nth as u64 + 1);
    let mut content = content.to_vec();
    for _ in 0..=random.usize(0..3) {
        let at = random.usize(0..=content.len());
        let to = (at + random.usize(0..12)).min(content.len());
        match random.u8(0..5) {
            0 => content.truncate(at),
            1 => drop(content.drain(at..to)),
            2 => {
                let part = content[at..to].to_vec();
                content.splice(at..at, part);
            }
            3 => content[at..to].fill(b"{}[]\",:0-9.eE\\ \n\xff\x00"[random.usize(0..18)]),
            _ => drop(content.splice(at..at, b"\"PT99999999999S\"".iter().copied())),
        }
    }
    content
}

fn holds_for(name: &str, check: impl Fn(&[u8])) {
    let corpus = corpus(name);
    assert!(corpus.len() >= 10, "{} inputs", corpus.len());
    for (file, content) in corpus {
        check(&content);
        for nth in 0..CHANGES {
            let content = changed(&content, nth);
            let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&content)));
            assert!(told.is_ok(), "{file}, change {nth}: {}", String::from_utf8_lossy(&content));
        }
    }
}

#[test]
fn whatever_stands_in_a_settings_file_is_read_or_told_with_its_place() {
    holds_for("config", config::check);
}

#[test]
fn whatever_stands_in_a_file_of_traces_is_replayed_or_told_with_its_place() {
    holds_for("trace", check::check);
}

#[test]
fn a_file_past_the_limits_is_refused_before_it_is_read() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let large = format!("{{\"a\": \"{}\"}}", "x".repeat(1 << 20));
    let number = format!("{{\"circuitBreaker\": {{\"failureThreshold\": {}}}}}", "9".repeat(100_000));
    for content in [deep, large, number] {
        config::check(content.as_bytes());
        check::check(content.as_bytes());
    }
}
