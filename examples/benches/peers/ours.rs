//! This project's breakers.

use std::{hint::black_box, sync::Arc};

use breaker_canary::{CanaryRateThreshold, CanaryRateThresholdKeys, InitialState, SlidingWindowType};
use breaker_core::{
    Breaker, CallError,
    config::{Blueprint, IsoDuration},
};
use breaker_static::{StaticThreshold, StaticThresholdKeys};

use crate::measure::Subject;

const HOUR: Option<IsoDuration> = Some(IsoDuration::from_secs(3_600));

/// The guarded call.
#[inline(always)]
pub fn work(fails: bool) -> Result<u64, ()> {
    if fails { Err(()) } else { Ok(black_box(7)) }
}

fn breaker(blueprint: impl Into<Blueprint>) -> Arc<Breaker> {
    Arc::new(Breaker::builder(blueprint).build().expect("time ends its open state"))
}

#[inline(always)]
fn guard(breaker: &Breaker, fails: bool) -> bool {
    !matches!(breaker.run(|| work(fails)), Err(CallError::Rejected(_)))
}

fn canary(window: SlidingWindowType, size: u32) -> Arc<Breaker> {
    let keys = CanaryRateThresholdKeys {
        failure_rate_threshold: Some(50.0),
        minimum_number_of_calls: Some(100),
        sliding_window_type: Some(window),
        sliding_window_size: Some(size),
        initial_state: Some(InitialState::Closed),
        wait_duration_in_open_state: HOUR,
        ..CanaryRateThresholdKeys::default()
    };
    breaker(CanaryRateThreshold::try_from(keys).expect("the keys go together"))
}

pub struct Static(Arc<Breaker>);

impl Subject for Static {
    const NAME: &'static str = "STATIC";
    const OURS: bool = true;
    type Handle = Arc<Breaker>;

    fn build() -> Self {
        let keys = StaticThresholdKeys {
            failure_threshold: Some(50),
            failure_threshold_capacity: Some(100),
            test_delay: HOUR,
            ..StaticThresholdKeys::default()
        };
        Self(breaker(StaticThreshold::try_from(keys).expect("the keys go together")))
    }

    fn handle(&self) -> Self::Handle {
        Arc::clone(&self.0)
    }

    #[inline(always)]
    fn call(handle: &mut Self::Handle, fails: bool) -> bool {
        guard(handle, fails)
    }
}

pub struct Canary(Arc<Breaker>);

impl Subject for Canary {
    const NAME: &'static str = "CANARY";
    const OURS: bool = true;
    type Handle = Arc<Breaker>;

    fn build() -> Self {
        Self(canary(SlidingWindowType::CountBased, 100))
    }

    fn handle(&self) -> Self::Handle {
        Arc::clone(&self.0)
    }

    #[inline(always)]
    fn call(handle: &mut Self::Handle, fails: bool) -> bool {
        guard(handle, fails)
    }
}

/// The calls of the last 30 s.
pub struct CanaryTime(Arc<Breaker>);

impl Subject for CanaryTime {
    const NAME: &'static str = "CANARY";
    const OURS: bool = true;
    type Handle = Arc<Breaker>;

    fn build() -> Self {
        Self(canary(SlidingWindowType::TimeBased, 30))
    }

    fn handle(&self) -> Self::Handle {
        Arc::clone(&self.0)
    }

    #[inline(always)]
    fn call(handle: &mut Self::Handle, fails: bool) -> bool {
        guard(handle, fails)
    }
}
