//! The breaker under threads that all come at once. No test sleeps or measures time.

#![allow(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod panics;
mod places;
mod threads;
