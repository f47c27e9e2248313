//! Requests at a steady rate, whether or not earlier ones have ended.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use examples::{transport::Transport, wire::Request};
use fastrand::Rng;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

use crate::{
    clients::{Client, Ended},
    world::World,
};

const TICK: Duration = Duration::from_millis(5);

/// The most faults of the pools that are told.
const TOLD: usize = 5;

/// What came of the requests.
#[derive(Debug, Default)]
pub struct Tally {
    pub requests: AtomicU64,
    pub unserved: AtomicU64,
    pub broken: AtomicU64,
    told: Mutex<Vec<String>>,
}

impl Tally {
    fn ended(&self, ended: Ended) {
        match ended {
            Ended::Served => {}
            Ended::Unserved => drop(self.unserved.fetch_add(1, Ordering::Relaxed)),
            Ended::Broken(why) => {
                self.broken.fetch_add(1, Ordering::Relaxed);
                let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
                if told.len() < TOLD {
                    told.push(why);
                }
            }
        }
    }

    /// The first requests that should not have failed.
    pub fn told(&self) -> Vec<String> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Who asks whom.
#[derive(Clone, Debug)]
pub struct Load {
    pub clients: Arc<Vec<Client>>,
    pub world: Arc<World>,
    pub transport: Arc<Transport>,
    pub tally: Arc<Tally>,
    /// Requests per second.
    pub rate: u32,
    pub seed: u64,
}

impl Load {
    /// Asks until it is told to stop, and then until all requests have ended.
    pub async fn drive(self, mut stop: watch::Receiver<bool>) {
        let mut rng = Rng::with_seed(self.seed);
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let (mut running, mut due) = (JoinSet::new(), 0.0);
        loop {
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                _ = tick.tick() => {}
            }
            due += f64::from(self.rate) * TICK.as_secs_f64();
            while due >= 1.0 {
                due -= 1.0;
                running.spawn(self.clone().one(rng.u64(..)));
            }
            while running.try_join_next().is_some() {}
        }
        while running.join_next().await.is_some() {}
    }

    async fn one(self, key: u64) {
        let id = self.tally.requests.fetch_add(1, Ordering::Relaxed);
        // Each client in turn.
        let client = &self.clients[id as usize % self.clients.len()];
        let ended = client.request(&self.world, &self.transport, Request { id, key }).await;
        self.tally.ended(ended);
    }
}
