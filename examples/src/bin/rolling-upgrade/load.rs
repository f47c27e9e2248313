//! The open loop: every request starts at its instant, whether or not earlier ones have finished.

use std::{sync::Arc, time::Duration};

use tokio::{
    task::{JoinError, JoinSet},
    time::{MissedTickBehavior, interval, timeout},
};

use crate::{
    client::{Client, Failure},
    clock::RunClock,
    schedule::Schedule,
};

/// How long requests may go on after the last one started. What is not done then has failed.
const DRAIN: Duration = Duration::from_secs(5);

/// One request as its caller saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When it was due, in microseconds.
    pub due: u64,
    /// From then to its end, in microseconds: what the caller waited, the load generator's lateness included.
    pub latency: u64,
    /// Why it failed, if it did.
    pub error: Option<Failure>,
}

/// Drives `client` through the whole `schedule`. One sample for each request, in no order.
pub async fn drive(schedule: &Schedule, clock: &Arc<RunClock>, client: &Arc<dyn Client>) -> Vec<Sample> {
    let mut tick = interval(Duration::from_millis(1));
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut running = JoinSet::new();
    let mut samples = Vec::with_capacity(usize::try_from(schedule.count()).unwrap_or_default());
    let mut next = 0;
    while next < schedule.count() {
        tick.tick().await;
        let due = schedule.due_by(clock.micros());
        for id in next..due {
            running.spawn(one(schedule.clone(), id, Arc::clone(clock), Arc::clone(client)));
        }
        next = due;
        while let Some(done) = running.try_join_next() {
            keep(&mut samples, done);
        }
    }
    let drained = timeout(DRAIN, async {
        while let Some(done) = running.join_next().await {
            keep(&mut samples, done);
        }
    });
    // Running out of time here is no fault of its own: `lost` finds whatever has not been answered.
    let _ = drained.await;
    lost(schedule, clock.micros(), &mut samples);
    samples
}

async fn one(schedule: Schedule, id: u64, clock: Arc<RunClock>, client: Arc<dyn Client>) -> Sample {
    let due = schedule.due_at(id);
    let error = client.request(schedule.request(id)).await.err();
    Sample { due, latency: clock.micros().saturating_sub(due), error }
}

/// A request whose task panicked left no sample: `lost` finds it.
fn keep(samples: &mut Vec<Sample>, done: Result<Sample, JoinError>) {
    samples.extend(done);
}

/// Adds a failure for each request that never ended.
fn lost(schedule: &Schedule, now: u64, samples: &mut Vec<Sample>) {
    let mut ended: Vec<u64> = samples.iter().map(|sample| sample.due).collect();
    ended.sort_unstable();
    let missing =
        (0..schedule.count()).map(|id| schedule.due_at(id)).filter(|due| ended.binary_search(due).is_err());
    samples.extend(missing.map(|due| Sample {
        due,
        latency: now.saturating_sub(due),
        error: Some(Failure { status: None, reason: "it never ended".to_owned() }),
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_never_ended_has_failed() {
        let schedule = Schedule::new(1_000, Duration::from_millis(3), 7);
        let done = |due| Sample { due, latency: 1, error: None };
        let mut samples = vec![done(2_000), done(0)];
        lost(&schedule, 9_000, &mut samples);
        assert_eq!(samples.len(), 3);
        assert_eq!((samples[2].due, samples[2].latency), (1_000, 8_000));
        assert!(samples[2].error.is_some());
    }
}
