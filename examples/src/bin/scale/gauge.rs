//! What the process takes: time, processor time, memory.

use std::time::Duration;

use breaker_core::{Clock as _, MonotonicClock, Timestamp};

/// Measures from its making, or from the last lap.
pub struct Gauge {
    clock: MonotonicClock,
    began: Timestamp,
    /// Absent where the system does not tell.
    processor: Option<Duration>,
}

/// Time that passed, and time that the processor worked.
#[derive(Clone, Copy, Debug)]
pub struct Lap {
    pub wall: Duration,
    pub processor: Option<Duration>,
}

impl Gauge {
    pub fn new() -> Self {
        let clock = MonotonicClock::new();
        Self { began: clock.now(), clock, processor: processor_time() }
    }

    pub fn lap(&mut self) -> Lap {
        let (now, processor) = (self.clock.now(), processor_time());
        let worked = processor.zip(self.processor).map(|(now, then)| now.saturating_sub(then));
        let lap = Lap { wall: now.since(self.began), processor: worked };
        (self.began, self.processor) = (self.clock.now(), processor_time());
        lap
    }
}

impl Lap {
    /// Nanoseconds of processor time for each of `count`; of time where the system does not tell.
    pub fn nanos_each(&self, count: u64) -> f64 {
        let nanos = self.processor.unwrap_or(self.wall).as_secs_f64() * 1e9;
        nanos / count.max(1) as f64
    }
}

#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.try_into().ok()
}

#[cfg(not(unix))]
fn processor_time() -> Option<Duration> {
    None
}
