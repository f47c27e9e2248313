//! The reader of settings.

#![no_main]

#[path = "../checks/config.rs"]
mod config;

libfuzzer_sys::fuzz_target!(|content: &[u8]| config::check(content));
