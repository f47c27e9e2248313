//! Faults for a while, then quiet.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use breaker_core::Timestamp;
use examples::{gateway::Gateway, transport::Transport};
use futures::future::{join, join_all};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{MissedTickBehavior, interval, sleep, timeout},
};

use crate::{
    clients::Client,
    director::Director,
    gauge::{Mebibytes, Reading},
    load::{Load, Tally},
    options::Options,
    world::World,
};

/// From one row to the next.
const REPORT: Duration = Duration::from_secs(30);
/// The longest that everything may take to be well again, or quiet: what takes longer is stuck.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);
/// An attempt that a rival overtook still counts against its replica, until the time of an attempt is up: a second.
const OVERTAKEN: Duration = Duration::from_millis(1_500);
/// How long things are looked at to see them at rest.
const REST: Duration = Duration::from_secs(2);
/// What the gateway takes to answer.
const GATEWAY: Duration = Duration::from_millis(2);

/// How long faults come before anything is compared.
pub fn warm_up(length: Duration) -> Duration {
    (length / 10).max(Duration::from_secs(2))
}

/// The world and its clients.
#[derive(Debug)]
pub struct Stage {
    load: Load,
    /// How often faults came.
    shakes: u64,
    _gateway: Gateway,
    began: Timestamp,
    stuck: Vec<String>,
}

impl Stage {
    pub async fn new(options: &Options) -> anyhow::Result<Self> {
        let world = Arc::new(World::new(options.seed)?);
        let gateway = Gateway::start(Arc::clone(&world), GATEWAY).await?;
        let transport = Arc::new(Transport::default());
        let clients = Arc::new(Client::all(gateway.address(), &transport).await?);
        let began = world.now();
        let (tally, rate, seed) = (Arc::new(Tally::default()), options.rate, options.seed);
        let load = Load { clients, world, transport, tally, rate, seed };
        Ok(Self { load, shakes: 0, _gateway: gateway, began, stuck: Vec::new() })
    }

    /// Faults for `span`; then everyone is well, the load goes on until all circuits are closed, and ends.
    pub async fn shake(&mut self, span: Duration) -> anyhow::Result<()> {
        let (mut stop, mut load) = self.begin_load();
        let world = Arc::clone(&self.load.world);
        let mut director = Director::new(self.load.seed.wrapping_add(self.shakes));
        self.shakes += 1;
        let mut rows = interval(REPORT);
        rows.set_missed_tick_behavior(MissedTickBehavior::Delay);
        rows.tick().await;
        let rows = async {
            loop {
                rows.tick().await;
                self.row("", &Reading::now());
            }
        };
        let _ = timeout(span, join(director.stir(&world), rows)).await;
        world.heal();
        loop {
            self.await_health().await;
            stop.send_replace(true);
            load.await?;
            // A request that began among the faults may have ended after all circuits had closed, and opened one again; so
            // may an attempt that was overtaken, whose time is not up yet.
            sleep(OVERTAKEN).await;
            if self.not_closed() == 0 || !self.stuck.is_empty() {
                return Ok(());
            }
            (stop, load) = self.begin_load();
        }
    }

    fn begin_load(&self) -> (watch::Sender<bool>, JoinHandle<()>) {
        let (stop, stopped) = watch::channel(false);
        (stop, tokio::spawn(self.load.clone().drive(stopped)))
    }

    async fn await_health(&mut self) {
        let well = timeout(PATIENCE, async {
            // A question from before may still be under way, and fail.
            while join_all(self.load.clients.iter().map(Client::refresh)).await.contains(&false) {}
            while self.not_closed() > 0 {
                sleep(LOOK).await;
            }
        });
        if well.await.is_err() {
            let not_closed = self.not_closed();
            self.stuck.push(format!("everyone is well, and {not_closed} circuits do not close"));
        }
    }

    /// What there is when all is at rest, with the connections closed that nobody uses; no more than at the `start` if that can
    /// be waited for.
    pub async fn reading(&self, start: Option<&Reading>) -> Reading {
        let mut least = Reading::now();
        let looks = if start.is_some() { PATIENCE } else { REST }.as_millis() / LOOK.as_millis();
        for _ in 0..looks {
            self.load.transport.close_idle();
            sleep(LOOK).await;
            let now = Reading::now();
            let (tasks, files) = (least.tasks.min(now.tasks), least.files.min(now.files));
            least = Reading { memory: now.memory, tasks, files };
            if start.is_some_and(|start| least.is_back(start)) {
                break;
            }
        }
        least
    }

    /// Requests so far.
    pub fn requests(&self) -> u64 {
        self.load.tally.requests.load(Ordering::Relaxed)
    }

    /// What did not hold while it ran.
    pub fn faults(&self) -> Vec<String> {
        let broken = self.load.tally.broken.load(Ordering::Relaxed);
        let mut faults = self.stuck.clone();
        if broken > 0 {
            faults.push(format!("{broken} requests failed while a replica was known that could serve them:"));
            faults.extend(self.load.tally.told());
        }
        faults
    }

    fn not_closed(&self) -> usize {
        self.load.clients.iter().map(Client::not_closed).sum()
    }

    pub fn heading(&self) {
        println!(
            "{:>8} {:>9} {:>7} {:>9} {:>7} {:>11} {:>10} {:>6} {:>6}",
            "", "requests", "faults", "unserved", "broken", "not closed", "memory", "tasks", "files"
        );
    }

    /// How things stand, under a word or the time.
    pub fn row(&self, word: &str, reading: &Reading) {
        let (tally, Reading { memory, tasks, files }) = (&self.load.tally, reading);
        let time = format!("{:.0} s", self.load.world.now().since(self.began).as_secs_f64());
        println!(
            "{:>8} {:>9} {:>7} {:>9} {:>7} {:>11} {:>10} {tasks:>6} {files:>6}",
            if word.is_empty() { &time } else { word },
            self.requests(),
            self.load.world.faults(),
            tally.unserved.load(Ordering::Relaxed),
            tally.broken.load(Ordering::Relaxed),
            self.not_closed(),
            Mebibytes(*memory).to_string(),
        );
    }
}
