//! All of it in paused time: what takes a day here takes milliseconds.

mod cancel;
mod circuits;
mod crowd;
mod life;
mod owners;
mod rounds;

use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use breaker_core::{Circuit, Clock, Outcome, config::StrategyConfig};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::*;
use crate::{CanaryRateThreshold, TokioClock};

/// What a remote does with a probe.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Healthy,
    Unhealthy,
    HealthyAfter(Duration),
    Never,
    Panic,
}

/// Some remotes, by number, and when they were probed.
struct Remotes {
    clock: TokioClock,
    answer: Mutex<HashMap<u32, Answer>>,
    otherwise: Answer,
    probes: Mutex<Vec<(u32, Duration)>>,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
}

impl Remotes {
    fn all(otherwise: Answer) -> Arc<Self> {
        Arc::new(Self {
            clock: TokioClock::new(),
            answer: Mutex::default(),
            otherwise,
            probes: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
        })
    }

    fn set(&self, remote: u32, answer: Answer) {
        self.answer.lock().unwrap().insert(remote, answer);
    }

    /// When this remote was probed, in milliseconds.
    fn probed(&self, remote: u32) -> Vec<u128> {
        let probes = self.probes.lock().unwrap();
        probes.iter().filter(|(probed, _)| *probed == remote).map(|(_, at)| at.as_millis()).collect()
    }

    fn count(&self) -> usize {
        self.probes.lock().unwrap().len()
    }

    fn breaker(&self, block: Value) -> Arc<Breaker> {
        let config = CanaryRateThreshold::from_keys(serde_json::from_value(block).unwrap()).unwrap();
        Arc::new(Breaker::builder(config).clock(Arc::new(self.clock)).probed().build().unwrap())
    }
}

#[async_trait]
impl Probe<u32> for Remotes {
    async fn probe(&self, remote: &u32) -> bool {
        struct InFlight<'a>(&'a AtomicUsize);
        impl Drop for InFlight<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let in_flight = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_in_flight.fetch_max(in_flight, Ordering::Relaxed);
        let _in_flight = InFlight(&self.in_flight);
        let at = self.clock.now().since(breaker_core::Timestamp::ZERO);
        self.probes.lock().unwrap().push((*remote, at));
        let answer = self.answer.lock().unwrap().get(remote).copied().unwrap_or(self.otherwise);
        match answer {
            Answer::Healthy => true,
            Answer::Unhealthy => false,
            Answer::HealthyAfter(delay) => {
                sleep(delay).await;
                true
            }
            Answer::Never => std::future::pending().await,
            Answer::Panic => panic!("a bug in the probe"),
        }
    }
}

fn worker(remotes: &Arc<Remotes>) -> CanaryWorker<u32> {
    CanaryWorker::builder(Arc::clone(remotes) as Arc<dyn Probe<u32>>).seed(7).spawn()
}

fn circuit(registration: &Registration<u32>) -> Circuit {
    registration.breaker().state().circuit()
}

fn calls(breaker: &Breaker, outcome: Outcome, count: u32) {
    for _ in 0..count {
        breaker.acquire().unwrap().settle(outcome);
    }
}

async fn after(millis: u64) {
    sleep(Duration::from_millis(millis)).await;
}

/// Waits for the first round, and not for good.
async fn first_round(registration: &Registration<u32>) {
    let done = timeout(Duration::from_secs(3_600), registration.first_round()).await;
    assert!(done.is_ok(), "the first round of {} is never done", registration.target());
}
