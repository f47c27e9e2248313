//! The settings in the form that the state machine works with.

use std::{num::NonZeroU32, time::Duration};

use breaker_core::{
    GrowingDelay, ProbePlan, Reason, Tally,
    config::IsoDuration,
    window::{CountWindow, TimeWindow, Window},
};

use super::{
    checks::Checks,
    keys::{CanaryRateThresholdKeys, InitialState, SlidingWindowType},
    rate::Rate,
};

/// The largest window. It takes one or two bits for each call, or 12 bytes for each second.
const MAX_WINDOW: u32 = 1_000_000;

const SECOND: IsoDuration = IsoDuration::from_secs(1);
const MINUTE: IsoDuration = IsoDuration::from_secs(60);

#[derive(Debug, PartialEq)]
pub(super) struct Rules {
    failure_rate: Rate,
    half_open_failure_rate: Rate,
    slow_rate: Option<Rate>,
    slow_from: IsoDuration,
    window_type: SlidingWindowType,
    window_size: NonZeroU32,
    minimum_calls: NonZeroU32,
    permitted: NonZeroU32,
    initial_state: InitialState,
    wait_in_open: Option<IsoDuration>,
    max_wait_in_half_open: Option<IsoDuration>,
    lease: IsoDuration,
    canary_interval: IsoDuration,
    max_canary_interval: IsoDuration,
    canary_attempts: NonZeroU32,
    canary_timeout: IsoDuration,
}

impl Rules {
    /// The rules that `keys` make. They stand only if `checks` stays empty.
    pub(super) fn new(keys: &CanaryRateThresholdKeys, checks: &mut Checks) -> Self {
        let failure_rate =
            checks.percent("failureRateThreshold", keys.failure_rate_threshold.unwrap_or(21.0));
        let window_type = keys.sliding_window_type.unwrap_or_default();
        let (minimum_calls, window_size) = minimum_and_window(keys, window_type, checks);
        let canary_interval = checks.positive("canaryInterval", keys.canary_interval.unwrap_or(SECOND));
        let max_canary_interval = keys.max_canary_interval.unwrap_or(canary_interval);
        if max_canary_interval < canary_interval {
            let allowed = format!("at least {canary_interval}, since canaryInterval is {canary_interval}");
            checks.fault("maxCanaryInterval", max_canary_interval, allowed);
        }
        Self {
            failure_rate,
            half_open_failure_rate: keys
                .half_open_failure_rate_threshold
                .map_or(failure_rate, |percent| checks.percent("halfOpenFailureRateThreshold", percent)),
            slow_rate: keys
                .slow_call_rate_threshold
                .map(|rate| checks.percent("slowCallRateThreshold", rate)),
            slow_from: checks
                .positive("slowCallDurationThreshold", keys.slow_call_duration_threshold.unwrap_or(MINUTE)),
            window_type,
            window_size,
            minimum_calls,
            permitted: checks.one_to(
                u32::MAX,
                "permittedNumberOfCallsInHalfOpenState",
                keys.permitted_number_of_calls_in_half_open_state.unwrap_or(10),
            ),
            initial_state: keys.initial_state.unwrap_or_default(),
            wait_in_open: keys
                .wait_duration_in_open_state
                .map(|span| checks.positive("waitDurationInOpenState", span)),
            max_wait_in_half_open: keys
                .max_wait_duration_in_half_open_state
                .map(|span| checks.positive("maxWaitDurationInHalfOpenState", span)),
            lease: checks.positive("halfOpenPermitLease", keys.half_open_permit_lease.unwrap_or(MINUTE)),
            canary_interval,
            max_canary_interval,
            canary_attempts: checks.one_to(u32::MAX, "canaryAttempts", keys.canary_attempts.unwrap_or(3)),
            canary_timeout: checks.positive("canaryTimeout", keys.canary_timeout.unwrap_or(SECOND)),
        }
    }

    /// The keys that make these rules, each with its value.
    pub(super) fn keys(&self) -> CanaryRateThresholdKeys {
        CanaryRateThresholdKeys {
            failure_rate_threshold: Some(self.failure_rate.percent()),
            minimum_number_of_calls: Some(self.minimum_calls.get()),
            permitted_number_of_calls_in_half_open_state: Some(self.permitted.get()),
            half_open_failure_rate_threshold: Some(self.half_open_failure_rate.percent()),
            sliding_window_type: Some(self.window_type),
            sliding_window_size: Some(self.window_size.get()),
            slow_call_rate_threshold: self.slow_rate.map(Rate::percent),
            slow_call_duration_threshold: Some(self.slow_from),
            wait_duration_in_open_state: self.wait_in_open,
            max_wait_duration_in_half_open_state: self.max_wait_in_half_open,
            half_open_permit_lease: Some(self.lease),
            initial_state: Some(self.initial_state),
            canary_interval: Some(self.canary_interval),
            canary_attempts: Some(self.canary_attempts.get()),
            canary_timeout: Some(self.canary_timeout),
            max_canary_interval: Some(self.max_canary_interval),
        }
    }

    pub(super) fn window(&self) -> Window {
        match self.window_type {
            SlidingWindowType::TimeBased => TimeWindow::new(self.window_size).into(),
            SlidingWindowType::CountBased if self.counts_slow_calls() => {
                CountWindow::with_slow_calls(self.window_size).into()
            }
            SlidingWindowType::CountBased => CountWindow::new(self.window_size).into(),
        }
    }

    /// Whether one call less would not have been enough to decide by.
    pub(super) fn are_just_enough(&self, calls: u32) -> bool {
        calls == self.minimum_calls.get()
    }

    /// What a closed circuit with these calls in its window has too many of.
    pub(super) fn closed_verdict(&self, tally: Tally) -> Option<Reason> {
        if tally.calls < self.minimum_calls.get() { None } else { self.excess(tally, self.failure_rate) }
    }

    /// How many results decide a half-open state.
    pub(super) fn deciding_calls(&self) -> u32 {
        self.minimum_calls.min(self.permitted).get()
    }

    /// Whether these calls, which decide a half-open state, open the circuit again.
    pub(super) fn fails_trial(&self, tally: Tally) -> bool {
        self.excess(tally, self.half_open_failure_rate).is_some()
    }

    fn excess(&self, Tally { calls, failures, slow }: Tally, failure_rate: Rate) -> Option<Reason> {
        if failure_rate.reached(failures, calls) {
            return Some(Reason::Failures);
        }
        self.slow_rate.filter(|rate| rate.reached(slow, calls)).map(|_| Reason::SlowCalls)
    }

    pub(super) fn counts_slow_calls(&self) -> bool {
        self.slow_rate.is_some()
    }

    pub(super) fn is_slow(&self, latency: Duration) -> bool {
        self.counts_slow_calls() && latency >= self.slow_from.get()
    }

    pub(super) fn permitted(&self) -> u32 {
        self.permitted.get()
    }

    pub(super) fn starts_open(&self) -> bool {
        self.initial_state == InitialState::Open
    }

    pub(super) fn wait_in_open(&self) -> Option<Duration> {
        self.wait_in_open.map(IsoDuration::get)
    }

    pub(super) fn max_wait_in_half_open(&self) -> Option<Duration> {
        self.max_wait_in_half_open.map(IsoDuration::get)
    }

    pub(super) fn lease(&self) -> Duration {
        self.lease.get()
    }

    /// How often a circuit that has opened `trips` times in a row wants canaries.
    pub(super) fn canary_interval(&self, trips: u32) -> Duration {
        let (base, max) = (self.canary_interval.get(), self.max_canary_interval.get());
        GrowingDelay::new(base, max).with_trips(trips).current()
    }

    pub(super) fn probe_plan(&self, trips: u32) -> ProbePlan {
        let interval = self.canary_interval(trips);
        ProbePlan { interval, attempts: self.canary_attempts.get(), timeout: self.canary_timeout.get() }
    }
}

/// `minimumNumberOfCalls` and `slidingWindowSize`, which in a count window must go together. Where they don't, the one
/// that was written is at fault.
fn minimum_and_window(
    keys: &CanaryRateThresholdKeys,
    window_type: SlidingWindowType,
    checks: &mut Checks,
) -> (NonZeroU32, NonZeroU32) {
    let minimum = keys.minimum_number_of_calls.unwrap_or(50);
    let size = keys.sliding_window_size.unwrap_or(match window_type {
        SlidingWindowType::CountBased => minimum.clamp(100, MAX_WINDOW),
        SlidingWindowType::TimeBased => 60,
    });
    let valid_minimum = checks.one_to(MAX_WINDOW, "minimumNumberOfCalls", minimum);
    let valid_size = checks.one_to(MAX_WINDOW, "slidingWindowSize", size);
    let sound = valid_minimum.get() == minimum && valid_size.get() == size;
    if sound && window_type == SlidingWindowType::CountBased && minimum > size {
        match keys.minimum_number_of_calls {
            Some(_) => {
                let allowed = format!("at most {size}, since slidingWindowSize is {size} calls");
                checks.fault("minimumNumberOfCalls", minimum, allowed);
            }
            None => {
                let allowed =
                    format!("at least {minimum}, since minimumNumberOfCalls is {minimum} unless set");
                checks.fault("slidingWindowSize", size, allowed);
            }
        }
    }
    (valid_minimum, valid_size)
}
