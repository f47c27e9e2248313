//! The breaker under threads that all come at once, under code that panics, and under futures that are dropped. No test
//! sleeps or measures time.

#![allow(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod cancel;
mod panics;
mod places;
mod threads;
