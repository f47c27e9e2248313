#![doc = include_str!("../README.md")]

mod clock;
mod strategy;
mod worker;

pub use clock::TokioClock;
pub use strategy::{CanaryRateThreshold, CanaryRateThresholdKeys, InitialState, SlidingWindowType};
pub use worker::{Attendance, Attended, CanaryWorker, CanaryWorkerBuilder, Line, Notes, Probe, Registration};
