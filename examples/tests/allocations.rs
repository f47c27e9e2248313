//! Guarding a call costs no heap allocation, whatever state the circuit is in. Only a change of state may
//! allocate: it queues an event.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::{hint::black_box, sync::Arc, time::Duration};

use allocation_counter::measure;
use breaker_canary::{CanaryRateThreshold, CanaryRateThresholdKeys, InitialState, SlidingWindowType};
use breaker_core::{Breaker, Circuit, ManualClock, Outcome, config::IsoDuration};
use breaker_static::{StaticThreshold, StaticThresholdKeys};

const CALLS: usize = 1_000;

/// Counts work in half-open, and can have as many places as anybody likes.
const PLACES: u32 = 1_000_000;

/// A breaker with a clock that a test holds, and somebody who would probe it.
struct Guard {
    breaker: Breaker,
    clock: Arc<ManualClock>,
}

impl Guard {
    /// `STATIC_THRESHOLD`: 3 failures in 10 calls open it for 20 s.
    fn of_static() -> Self {
        let keys = StaticThresholdKeys { success_threshold: Some(PLACES), ..StaticThresholdKeys::default() };
        Self::new(StaticThreshold::try_from(keys).unwrap())
    }

    /// `CANARY_RATE_THRESHOLD`, closed: 21 % of at least 50 of the last 100 calls open it for 20 s.
    fn of_canary(keys: CanaryRateThresholdKeys) -> Self {
        let keys = CanaryRateThresholdKeys {
            initial_state: Some(InitialState::Closed),
            wait_duration_in_open_state: Some(IsoDuration::from_secs(20)),
            ..keys
        };
        Self::new(CanaryRateThreshold::try_from(keys).unwrap())
    }

    fn new(strategy: impl Into<breaker_core::config::Blueprint>) -> Self {
        let clock = Arc::new(ManualClock::default());
        let breaker = Breaker::builder(strategy).clock(Arc::clone(&clock) as _).probed().build().unwrap();
        Self { breaker, clock }
    }

    fn call(&self, outcome: Outcome) {
        self.breaker.acquire().unwrap().settle(outcome);
    }

    fn is(&self, circuit: Circuit) -> bool {
        self.breaker.state().circuit() == circuit
    }

    fn opened(self) -> Self {
        while self.is(Circuit::Closed) {
            self.call(Outcome::Failure);
        }
        assert!(self.is(Circuit::Open));
        self
    }

    fn half_opened(self) -> Self {
        let guard = self.opened();
        guard.clock.advance(Duration::from_secs(20));
        // The first call commits the change.
        guard.call(Outcome::Cancelled);
        assert!(guard.is(Circuit::HalfOpen));
        guard
    }
}

/// `CALLS` calls with these outcomes in turn.
fn allocations(guard: &Guard, outcomes: &[Outcome]) -> u64 {
    let counted = measure(|| {
        for outcome in outcomes.iter().cycle().take(CALLS) {
            black_box(guard.breaker.acquire()).unwrap().settle(*outcome);
        }
    });
    counted.count_total
}

fn closed_circuits() -> Vec<(&'static str, Guard)> {
    let canary = CanaryRateThresholdKeys::default;
    let time =
        CanaryRateThresholdKeys { sliding_window_type: Some(SlidingWindowType::TimeBased), ..canary() };
    let slow = CanaryRateThresholdKeys { slow_call_rate_threshold: Some(50.0), ..canary() };
    vec![
        ("static", Guard::of_static()),
        ("canary", Guard::of_canary(canary())),
        ("canary with a time window", Guard::of_canary(time)),
        ("canary that times its calls", Guard::of_canary(slow)),
    ]
}

#[test]
fn the_counter_counts() {
    assert_eq!(measure(|| drop(black_box(Box::new(1)))).count_total, 1);
}

#[test]
fn a_closed_circuit_allocates_nothing() {
    for (name, guard) in closed_circuits() {
        assert_eq!(
            allocations(&guard, &[Outcome::Success]),
            0,
            "{name}: from a fresh window to a steady one"
        );
        assert_eq!(allocations(&guard, &[Outcome::Success]), 0, "{name}: steady");
        let mixed = [&[Outcome::Failure][..], &[Outcome::Success; 9]].concat();
        assert_eq!(allocations(&guard, &mixed), 0, "{name}: one in ten fails, which is below the threshold");
        let others = [Outcome::Ignored, Outcome::Cancelled];
        assert_eq!(allocations(&guard, &others), 0, "{name}: results that say nothing");
        assert!(guard.is(Circuit::Closed), "{name}");
    }
}

#[test]
fn seconds_that_pass_allocate_nothing() {
    for (name, guard) in closed_circuits() {
        let counted = measure(|| {
            for _ in 0..CALLS {
                guard.clock.advance(Duration::from_millis(300));
                guard.call(Outcome::Success);
            }
        });
        assert_eq!(counted.count_total, 0, "{name}");
    }
}

#[test]
fn an_open_circuit_allocates_nothing() {
    for (name, guard) in closed_circuits() {
        let guard = guard.opened();
        let counted = measure(|| {
            for _ in 0..CALLS {
                assert!(black_box(guard.breaker.acquire()).is_err());
            }
        });
        assert_eq!(counted.count_total, 0, "{name}");
        assert!(guard.is(Circuit::Open), "{name}");
    }
}

#[test]
fn a_half_open_circuit_allocates_nothing() {
    let keys = CanaryRateThresholdKeys {
        permitted_number_of_calls_in_half_open_state: Some(PLACES),
        minimum_number_of_calls: Some(PLACES / 2),
        ..CanaryRateThresholdKeys::default()
    };
    let canary = Guard::new(CanaryRateThreshold::try_from(keys).unwrap());
    let probe = canary.breaker.begin_probe().unwrap();
    canary.breaker.finish_probe(probe, true);
    assert!(canary.is(Circuit::HalfOpen));
    assert_eq!(allocations(&canary, &[Outcome::Success, Outcome::Failure, Outcome::Ignored]), 0, "canary");
    assert!(canary.is(Circuit::HalfOpen));

    let fixed = Guard::of_static().half_opened();
    assert_eq!(allocations(&fixed, &[Outcome::Success, Outcome::Cancelled]), 0, "static");
    assert!(fixed.is(Circuit::HalfOpen));
}

#[test]
fn a_full_half_open_circuit_allocates_nothing() {
    for (name, guard) in closed_circuits().split_off(1) {
        let guard = guard.half_opened();
        let out: Vec<_> = std::iter::from_fn(|| guard.breaker.acquire().ok()).collect();
        assert_eq!(out.len(), 10, "{name}: the places of a canary");
        let counted = measure(|| {
            for _ in 0..CALLS {
                assert!(black_box(guard.breaker.acquire()).is_err());
            }
        });
        assert_eq!(counted.count_total, 0, "{name}");
    }
}

#[test]
fn permits_that_cross_tasks_allocate_nothing_either() {
    let breaker = Arc::new(Breaker::builder(StaticThreshold::default()).build().unwrap());
    let counted = measure(|| {
        for _ in 0..CALLS {
            black_box(breaker.acquire_owned()).unwrap().settle(Outcome::Success);
        }
    });
    assert_eq!(counted.count_total, 0);
}
