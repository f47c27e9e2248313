//! The store: who serves what, and who is well.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use breaker_canary::Probe;
use replica_pool::{Gateway, GatewayError, KeyRange, PartitionGateway, PartitionedPool, RoutingMap};
use tokio::time::sleep;

pub type Pool = PartitionedPool<u32, u32, SocketAddr>;

/// Replicas of one partition.
pub const REPLICAS: u32 = 4;

/// Keys of one partition.
const KEYS: u32 = 1_000;

/// One replica in so many is a victim of the outage.
const VICTIMS: u32 = 100;

/// All of the store is computed, so that it takes no memory that could be mistaken for the pool's.
#[derive(Debug)]
pub struct World {
    pub partitions: u32,
    probe_time: Duration,
    pub outage: AtomicBool,
    map_version: AtomicU64,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
    probes: AtomicU64,
}

impl World {
    pub fn new(partitions: u32, probe_time: Duration) -> Arc<Self> {
        Arc::new(Self {
            partitions,
            probe_time,
            outage: AtomicBool::new(false),
            map_version: AtomicU64::new(1),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
            probes: AtomicU64::new(0),
        })
    }

    /// A key of every partition.
    pub fn keys(&self) -> impl Iterator<Item = u32> + use<> {
        (0..self.partitions).map(|partition| partition * KEYS)
    }

    pub fn random_key(&self, rng: &mut fastrand::Rng) -> u32 {
        rng.u32(..self.partitions * KEYS)
    }

    pub fn is_victim(&self, address: &SocketAddr) -> bool {
        number(address).is_multiple_of(VICTIMS)
    }

    /// The next routing map is a new one.
    pub fn renew_map(&self) {
        self.map_version.fetch_add(1, Ordering::Relaxed);
    }

    pub fn probes(&self) -> u64 {
        self.probes.load(Ordering::Relaxed)
    }

    /// The most probes that ran at a time since this was last asked.
    pub fn take_most_in_flight(&self) -> usize {
        self.most_in_flight.swap(0, Ordering::Relaxed)
    }
}

fn address(number: u32) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::from_bits(0x0a00_0000 + number), 9_042))
}

fn number(address: &SocketAddr) -> u32 {
    match address {
        SocketAddr::V4(address) => address.ip().to_bits() - 0x0a00_0000,
        SocketAddr::V6(_) => unreachable!("all addresses here are of version 4"),
    }
}

/// The store as its clients see it.
#[derive(Clone, Debug)]
pub struct Door(pub Arc<World>);

#[async_trait]
impl Gateway<SocketAddr, u32> for Door {
    async fn addresses(&self, partition: &u32) -> Result<Vec<SocketAddr>, GatewayError> {
        Ok((partition * REPLICAS..(partition + 1) * REPLICAS).map(address).collect())
    }
}

#[async_trait]
impl PartitionGateway<u32, SocketAddr, u32> for Door {
    async fn routing_map(&self) -> Result<RoutingMap<u32, u32>, GatewayError> {
        let last = self.0.partitions - 1;
        let range = |partition| {
            let from = (partition > 0).then_some(partition * KEYS);
            let to = (partition < last).then_some((partition + 1) * KEYS);
            (KeyRange::new(from, to), partition)
        };
        let version = self.0.map_version.load(Ordering::Relaxed);
        RoutingMap::new(version, (0..=last).map(range)).map_err(GatewayError::failed)
    }
}

#[async_trait]
impl Probe<SocketAddr> for Door {
    async fn probe(&self, target: &SocketAddr) -> bool {
        let Self(world) = self;
        world.probes.fetch_add(1, Ordering::Relaxed);
        let present = world.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        world.most_in_flight.fetch_max(present, Ordering::Relaxed);
        sleep(world.probe_time).await;
        world.in_flight.fetch_sub(1, Ordering::Relaxed);
        !(world.outage.load(Ordering::Relaxed) && world.is_victim(target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_partition_and_every_replica_one_address() {
        let door = Door(World::new(3, Duration::ZERO));
        let map = futures::executor::block_on(door.routing_map()).unwrap();
        for (key, partition) in [(0, 0), (999, 0), (1_000, 1), (2_999, 2), (u32::MAX, 2)] {
            assert_eq!(*map.partition(&key), partition, "{key}");
        }
        let addresses = futures::executor::block_on(door.addresses(&2)).unwrap();
        assert_eq!(addresses[0], "10.0.0.8:9042".parse().unwrap());
        assert_eq!(addresses.iter().map(number).collect::<Vec<_>>(), [8, 9, 10, 11]);
    }

    #[test]
    fn one_replica_in_a_hundred_is_a_victim() {
        let world = World::new(50, Duration::ZERO);
        assert_eq!((0..200).filter(|number| world.is_victim(&address(*number))).count(), 2);
    }
}
