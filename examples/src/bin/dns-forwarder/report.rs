//! What people get to see: changes as they happen, and a summary.

mod journal;
mod stats;
mod summary;

pub(crate) use journal::Journal;
pub(crate) use stats::{Stats, Tally};
pub(crate) use summary::Summary;
