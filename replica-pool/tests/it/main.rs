//! The pool as its users see it, in virtual time.

#![allow(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod backoff;
mod calls;
mod canary;
mod cancel;
mod config;
mod diagnostics;
mod errors;
mod fixed;
mod health;
mod hedging;
mod held_open;
mod kit;
mod lifecycle;
mod model;
mod order;
mod partition;
mod places;
mod refresh;
mod startup;
mod types;
mod validation;
