//! What is true: who is well since when, and what the gateway says of it.

mod gateway;

pub use gateway::Mood;

use std::{
    io,
    net::SocketAddr,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use breaker_core::{Clock as _, MonotonicClock, Timestamp};
use examples::sockets::reserve;
use fastrand::Rng;
use tokio::net::TcpSocket;

use crate::server::{Condition, Server};

/// The group of the pool, and one for each partition of the divided pool.
pub const GROUPS: usize = 3;
/// Replicas of each group.
pub const REPLICAS: usize = 4;
/// Addresses where nobody lives.
const NOBODYS: usize = 4;

/// What takes longer is a fault.
pub const TOLERABLE: Duration = Duration::from_millis(150);

/// A replica that has been well for this long must be found by everyone who knows its address: longer than a circuit stays
/// open, and than half-open calls and the wait for a place among them take.
pub const SETTLED: Duration = Duration::from_secs(4);

/// All replicas, and what the gateway says.
#[derive(Debug)]
pub struct World {
    clock: MonotonicClock,
    groups: Vec<Vec<Replica>>,
    /// Bound, and not listening.
    nobodys: Vec<TcpSocket>,
    gateway: Mutex<(Mood, Rng)>,
    faults: AtomicU64,
}

#[derive(Debug)]
struct Replica {
    server: Server,
    /// Nanoseconds; the end of time while it is not well.
    well_since: AtomicU64,
}

impl Replica {
    fn is_settled(&self, at: Timestamp) -> bool {
        let since = Timestamp::from_nanos(self.well_since.load(Ordering::Relaxed));
        since == Timestamp::ZERO || since + SETTLED <= at
    }
}

impl World {
    /// All replicas well, and an honest gateway.
    pub fn new(seed: u64) -> io::Result<Self> {
        let replica = |_| Ok(Replica { server: Server::open()?, well_since: AtomicU64::new(0) });
        let group = |_| (0..REPLICAS).map(replica).collect::<io::Result<_>>();
        let nobody = |_| reserve(([127, 0, 0, 1], 0).into());
        Ok(Self {
            clock: MonotonicClock::new(),
            groups: (0..GROUPS).map(group).collect::<io::Result<_>>()?,
            nobodys: (0..NOBODYS).map(nobody).collect::<io::Result<_>>()?,
            gateway: Mutex::new((Mood::Honest, Rng::with_seed(seed))),
            faults: AtomicU64::new(0),
        })
    }

    /// The present instant.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Changes how a replica is.
    pub fn turn(&self, group: usize, number: usize, condition: Condition) {
        let replica = &self.groups[group][number];
        let well = match condition {
            Condition::Well => true,
            Condition::Slow(span) => span <= TOLERABLE,
            Condition::Hanging | Condition::Refusing => false,
        };
        let since = &replica.well_since;
        if !well {
            since.store(u64::MAX, Ordering::Relaxed);
        } else if since.load(Ordering::Relaxed) == u64::MAX {
            since.store(self.now().as_nanos().max(1), Ordering::Relaxed);
        }
        self.faults.fetch_add(u64::from(condition != Condition::Well), Ordering::Relaxed);
        replica.server.turn(condition);
    }

    /// Changes for the worse so far.
    pub fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }

    /// Everyone is well, and the gateway says so.
    pub fn heal(&self) {
        for (group, number) in (0..GROUPS).flat_map(|group| (0..REPLICAS).map(move |number| (group, number)))
        {
            self.turn(group, number, Condition::Well);
        }
        self.set_mood(Mood::Honest);
    }

    /// Whether somebody else in the group has been well for long.
    pub fn can_spare(&self, group: usize, number: usize) -> bool {
        let now = self.now();
        let others = self.groups[group].iter().enumerate().filter(|(other, _)| *other != number);
        others.into_iter().any(|(_, replica)| replica.is_settled(now))
    }

    /// One of these who was well all the time from `began` to now, and for long before that.
    pub fn who_could_serve(&self, known: &[SocketAddr], began: Timestamp) -> Option<SocketAddr> {
        let settled = self.groups.iter().flatten().filter(|replica| replica.is_settled(began));
        settled.map(|replica| replica.server.address()).find(|address| known.contains(address))
    }

    /// The addresses of a group, whoever is well.
    pub fn addresses(&self, group: usize) -> Vec<SocketAddr> {
        self.groups.get(group).into_iter().flatten().map(|replica| replica.server.address()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_was_well_from_the_start_could_serve_and_one_that_was_ill_is_not_settled() {
        let world = World::new(7).unwrap();
        let known = world.addresses(1);
        assert!(world.who_could_serve(&known, world.now()) == Some(known[0]) && world.can_spare(1, 0));
        for number in 0..REPLICAS {
            world.turn(1, number, Condition::Hanging);
        }
        assert!(
            world.who_could_serve(&known, world.now()).is_none()
                && world.who_could_serve(&world.addresses(2), world.now()).is_some()
        );
        world.heal();
        let now = world.now();
        assert!(
            world.who_could_serve(&known, now).is_none()
                && world.who_could_serve(&known, now + SETTLED).is_some()
        );
    }

    #[tokio::test]
    async fn a_replica_that_answers_a_little_late_is_still_well() {
        let world = World::new(7).unwrap();
        world.turn(0, 0, Condition::Slow(TOLERABLE));
        assert!(world.who_could_serve(&world.addresses(0)[..1], world.now()).is_some());
        world.turn(0, 0, Condition::Slow(TOLERABLE * 2));
        assert!(world.who_could_serve(&world.addresses(0)[..1], world.now()).is_none());
    }
}
