//! The reader of traces, and the circuits that they are replayed on.

#![no_main]
#![allow(dead_code, reason = "these are parts of a program")]

#[path = "../checks/trace.rs"]
mod check;
#[path = "../../examples/src/bin/replay/reading.rs"]
mod reading;
#[path = "../../examples/src/bin/replay/runner.rs"]
mod runner;
#[path = "../../examples/src/bin/replay/trace.rs"]
mod trace;

libfuzzer_sys::fuzz_target!(|content: &[u8]| check::check(content));
