//! Every interleaving of two or three threads that use a breaker at the same time, checked by loom.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p breaker-core --release loom`, with `-- --nocapture` for the number of
//! interleavings of each model. Where a model bounds preemptions, its name of the bound says so; all others are
//! exhausted.

mod control;
mod epochs;
mod events;
mod gate;
mod kit;
mod lease;
mod places;
mod steady;
mod waiting;
