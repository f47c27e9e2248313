#![doc = include_str!("../README.md")]

mod breaker;
mod classify;
mod clock;
pub mod config;
mod delay;
mod event;
mod non_resilient;
mod rejection;
mod state;
mod strategy;
mod sync;
#[cfg(feature = "testing")]
pub mod testing;
mod time;
pub mod window;

pub use breaker::{
    Attendant, Breaker, BreakerBuilder, BuildError, CallError, DetachedPermit, OwnedPermit, Permit,
    ProbeTicket, Settlement, Snapshot, Status,
};
pub use classify::Classifier;
pub use clock::{Clock, ManualClock, MonotonicClock, Now};
pub use delay::GrowingDelay;
pub use event::{Event, EventKind, Mode, Observer};
pub use rejection::{Rejection, RejectionReason};
pub use state::{Change, Circuit, Outcome, Reason, Report, State, Tally};
pub use strategy::{Evidence, ProbePlan, Sample, Strategy, Tick};
pub use time::Timestamp;
