//! The pool as its users see it, in virtual time.

mod config;
mod kit;
mod partition;
mod refresh;
