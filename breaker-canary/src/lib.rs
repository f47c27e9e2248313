#![doc = include_str!("../README.md")]

mod clock;
mod strategy;

pub use strategy::{CanaryRateThreshold, CanaryRateThresholdKeys, InitialState, SlidingWindowType};

pub use clock::TokioClock;
