//! What goes wrong, and when: decided by the seed.

use std::time::Duration;

use fastrand::Rng;
use tokio::time::sleep;

use crate::{
    server::Condition,
    world::{GROUPS, Mood, REPLICAS, TOLERABLE, World},
};

/// Makes things go wrong.
#[derive(Debug)]
pub struct Director {
    rng: Rng,
}

impl Director {
    pub fn new(seed: u64) -> Self {
        Self { rng: Rng::with_seed(seed) }
    }

    /// One change after another, without end. Begins with the worst, so that a short run has seen it.
    pub async fn stir(&mut self, world: &World) {
        loop {
            self.black_out(world).await;
            for _ in 0..self.rng.u32(30..60) {
                self.pause(30..250).await;
                if self.rng.u8(..10) == 0 { self.change_gateway(world) } else { self.change_replica(world) }
            }
        }
    }

    /// All of a group are ill at once, for a while.
    async fn black_out(&mut self, world: &World) {
        let group = self.rng.usize(..GROUPS);
        for number in 0..REPLICAS {
            let condition = if self.rng.bool() { Condition::Hanging } else { Condition::Refusing };
            world.turn(group, number, condition);
        }
        self.pause(300..1_500).await;
        for number in 0..REPLICAS {
            world.turn(group, number, Condition::Well);
        }
    }

    /// Somebody is well, or ill, unless that leaves nobody who has been well for long.
    fn change_replica(&mut self, world: &World) {
        let (group, number) = (self.rng.usize(..GROUPS), self.rng.usize(..REPLICAS));
        let condition = match self.rng.u8(..8) {
            0..=3 => Condition::Well,
            4 => Condition::Slow(TOLERABLE.mul_f64(self.rng.f64())),
            5 => Condition::Slow(TOLERABLE * self.rng.u32(2..20)),
            6 => Condition::Hanging,
            _ => Condition::Refusing,
        };
        if condition == Condition::Well || world.can_spare(group, number) {
            world.turn(group, number, condition);
        }
    }

    fn change_gateway(&mut self, world: &World) {
        world.set_mood(Mood::ALL[self.rng.usize(..Mood::ALL.len())]);
    }

    async fn pause(&mut self, millis: std::ops::Range<u64>) {
        sleep(Duration::from_millis(self.rng.u64(millis))).await;
    }
}
