//! The pool as its users see it, in virtual time.

#![allow(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod backoff;
mod calls;
mod config;
mod errors;
mod fixed;
mod health;
mod kit;
mod order;
mod partition;
mod refresh;
mod startup;
