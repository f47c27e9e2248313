#![doc = include_str!("../README.md")]

mod clock;
pub mod config;
mod state;
mod strategy;
mod time;
pub mod window;

pub use clock::{Clock, ManualClock, MonotonicClock, Now};
pub use state::{Change, Circuit, Outcome, Reason, Report, State, Tally};
pub use strategy::{Evidence, ProbePlan, Sample, Strategy, Tick};
pub use time::Timestamp;
