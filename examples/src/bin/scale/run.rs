//! One run: a store of so many replicas, from its start to the end of an outage.

use std::{
    convert::Infallible,
    hint::black_box,
    net::SocketAddr,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use anyhow::{Context as _, ensure};
use breaker_canary::CanaryRateThreshold;
use breaker_core::{Circuit, Outcome, config::Blueprint};
use breaker_static::StaticThreshold;
use examples::process::resident;
use futures::future::try_join_all;
use replica_pool::{Judge, ReplicaPool, Verdict};
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};

use crate::{
    gauge::Gauge,
    options::Options,
    world::{Door, Pool, REPLICAS, World},
};

/// The longest that circuits may take to close.
const PATIENCE: Duration = Duration::from_secs(300);

/// The rounds of canaries that a worker runs at a time unless told otherwise.
pub const CAP: usize = 64;

/// What a run showed. Spans are in seconds, costs in nanoseconds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    pub replicas: u32,
    /// Resident memory for each replica, with its share of its partition and of the map.
    pub bytes: Option<f64>,
    /// The same with the other strategy.
    pub static_bytes: Option<f64>,
    /// Until every partition has its replicas, asked for one after another.
    pub found: f64,
    /// From then on until all circuits are closed.
    pub start: f64,
    pub start_in_flight: usize,
    /// Processor time for each second in which nothing happens, all circuits closed.
    pub idle: f64,
    /// From a key to a settled attempt, by `acquire`.
    pub pick: f64,
    /// A whole request on a ready future.
    pub call: f64,
    /// The same while one replica in a hundred is open.
    pub call_in_outage: f64,
    /// For each partition: asking for its addresses, which are the same.
    pub refresh: f64,
    /// For each partition: a new routing map.
    pub map: f64,
    pub victims: usize,
    /// For each probe in vain, with the rounds, timers and jitter around it.
    pub probe: f64,
    pub outage_in_flight: usize,
    /// From the first probe that may succeed until all circuits are closed.
    pub recovery: f64,
    pub recovery_in_flight: usize,
}

/// Success is all that ever comes back.
struct Fine;

impl Judge<u32, Infallible> for Fine {
    fn judge(&self, _: &Result<u32, Infallible>) -> Verdict {
        Verdict::SUCCESS
    }
}

type Partition = ReplicaPool<SocketAddr>;

pub async fn run(options: &Options, replicas: u32) -> anyhow::Result<Row> {
    let world = World::new(replicas.div_ceil(REPLICAS), Duration::from_millis(options.probe));
    let partitions = u64::from(world.partitions);
    let replicas = world.partitions * REPLICAS;
    let mut rng = fastrand::Rng::with_seed(options.seed);

    let mut gauge = Gauge::new();
    let Started { pool, parts, bytes, found, start } =
        begin(&world, CanaryRateThreshold::default().into()).await?;
    let start_in_flight = world.take_most_in_flight();

    // Idle.
    sleep(Duration::from_secs(1)).await;
    gauge.lap();
    sleep(Duration::from_secs(options.seconds)).await;
    let idle = gauge.lap().nanos_each(options.seconds);

    // Traffic.
    let requests = u64::from(options.requests);
    let keys: Vec<u32> = (0..options.requests).map(|_| world.random_key(&mut rng)).collect();
    calls(&pool, &keys[..keys.len() / 10]).await?;
    gauge.lap();
    calls(&pool, &keys).await?;
    let call = gauge.lap().nanos_each(requests);
    picks(&pool, &keys)?;
    let pick = gauge.lap().nanos_each(requests);

    // Refresh.
    gauge.lap();
    try_join_all(parts.iter().map(Partition::refresh)).await?;
    let refresh = gauge.lap().nanos_each(partitions);
    world.renew_map();
    gauge.lap();
    pool.refresh().await?;
    let map = gauge.lap().nanos_each(partitions);

    // Outage.
    world.outage.store(true, Ordering::Relaxed);
    world.take_most_in_flight();
    let sick: Vec<Partition> = parts.iter().filter(|part| trip_victims(part, &world)).cloned().collect();
    let victims = parts.iter().map(closed).map(|closed| REPLICAS as usize - closed).sum();
    gauge.lap();
    calls(&pool, &keys).await?;
    let call_in_outage = gauge.lap().nanos_each(requests);
    let probes = world.probes();
    sleep(Duration::from_secs(options.seconds)).await;
    let probe = gauge.lap().nanos_each(world.probes() - probes);
    let outage_in_flight = world.take_most_in_flight();

    // Return.
    world.outage.store(false, Ordering::Relaxed);
    gauge.lap();
    timeout(PATIENCE, all_well(&sick)).await.context("some circuits never closed again")?;
    let recovery = gauge.lap().wall.as_secs_f64();
    let recovery_in_flight = world.take_most_in_flight();

    Ok(Row {
        replicas,
        bytes,
        static_bytes: None,
        found,
        start,
        start_in_flight,
        idle,
        pick,
        call,
        call_in_outage,
        refresh,
        map,
        victims,
        probe,
        outage_in_flight,
        recovery,
        recovery_in_flight,
    })
}

/// The resident memory for each of so many replicas with the strategy that a pool has unless told otherwise.
pub async fn static_memory(replicas: u32) -> anyhow::Result<Option<f64>> {
    let world = World::new(replicas.div_ceil(REPLICAS), Duration::ZERO);
    Ok(begin(&world, StaticThreshold::default().into()).await?.bytes)
}

/// A pool with all of its partitions in use and all circuits closed.
struct Started {
    pool: Pool,
    parts: Vec<Partition>,
    bytes: Option<f64>,
    found: f64,
    start: f64,
}

async fn begin(world: &Arc<World>, strategy: Blueprint) -> anyhow::Result<Started> {
    let (mut gauge, before) = (Gauge::new(), resident());
    let door = || Door(Arc::clone(world));
    let pool = Pool::builder(door()).strategy(strategy).probe(door()).build()?;
    pool.ready().await?;
    let mut parts = Vec::with_capacity(world.partitions as usize);
    for key in world.keys() {
        let part = pool.pool(&key).context("there is a routing map")?;
        part.ready().await?;
        parts.push(part);
    }
    let found = gauge.lap().wall.as_secs_f64();
    timeout(PATIENCE, all_well(&parts)).await.context("some circuits never closed")?;
    let start = gauge.lap().wall.as_secs_f64();
    let bytes = resident().zip(before).map(|(now, before)| {
        let handles = (size_of::<Partition>() * parts.capacity()) as u64;
        let taken = now.saturating_sub(before).saturating_sub(handles);
        taken as f64 / f64::from(world.partitions * REPLICAS)
    });
    Ok(Started { pool, parts, bytes, found, start })
}

async fn calls(pool: &Pool, keys: &[u32]) -> anyhow::Result<()> {
    for key in keys {
        let request = pool.request(key).judge(Fine);
        black_box(request.call(|_| async { Ok(black_box(7)) }).await?);
    }
    Ok(())
}

fn picks(pool: &Pool, keys: &[u32]) -> anyhow::Result<()> {
    for key in keys {
        let lease = pool.acquire(key)?;
        black_box(lease.finish(&Verdict::SUCCESS));
    }
    Ok(())
}

fn closed(part: &Partition) -> usize {
    let set = part.replicas();
    set.replicas().iter().filter(|replica| replica.breaker().state().circuit() == Circuit::Closed).count()
}

/// Lets calls to the victims in `part` fail until their circuits are open. Says whether there are any.
fn trip_victims(part: &Partition, world: &World) -> bool {
    let set = part.replicas();
    let victims = set.replicas().iter().filter(|replica| world.is_victim(replica.address()));
    victims
        .inspect(|victim| {
            while let Ok(permit) = victim.breaker().acquire() {
                permit.settle(Outcome::Failure);
            }
        })
        .count()
        > 0
}

/// Completes when every circuit of `parts` is closed, with traffic to those that are not: half-open circuits close on
/// answers to calls.
async fn all_well(parts: &[Partition]) {
    let mut sick: Vec<&Partition> = parts.iter().collect();
    while !sick.is_empty() {
        for part in &sick {
            let set = part.replicas();
            let may_pass = |circuit| circuit != Circuit::Open;
            if set.replicas().iter().any(|replica| may_pass(replica.breaker().state().circuit())) {
                for _ in 0..REPLICAS {
                    // It may be rejected: all half-open places can be taken, and the last closed circuit can open.
                    drop(part.request().judge(Fine).call(|_| async { Ok(black_box(7)) }).await);
                }
            }
            tokio::task::yield_now().await;
        }
        sick.retain(|part| closed(part) < part.replicas().replicas().len());
        sleep(Duration::from_millis(1)).await;
    }
}

/// Whether no more probes ran at a time than may.
pub fn check(row: &Row) -> anyhow::Result<()> {
    let most = row.start_in_flight.max(row.outage_in_flight).max(row.recovery_in_flight);
    ensure!(most <= CAP, "{} replicas: {most} probes ran at a time, and {CAP} may", row.replicas);
    Ok(())
}
