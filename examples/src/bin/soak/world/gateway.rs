//! What the gateway says.

use std::{
    net::SocketAddr,
    sync::{PoisonError, atomic::Ordering},
};

use examples::{
    gateway::{Book, Reply},
    keys,
};
use fastrand::Rng;

use super::World;

/// How the gateway is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It says what is true.
    Honest,
    /// It leaves some of those out who are not well, and names addresses where nobody lives.
    Lying,
    /// It never answers.
    Hanging,
    /// It closes the connection.
    Failing,
}

impl Mood {
    pub const ALL: [Self; 4] = [Self::Honest, Self::Lying, Self::Hanging, Self::Failing];
}

impl World {
    /// From now on the gateway is like this.
    pub fn set_mood(&self, mood: Mood) {
        self.faults.fetch_add(u64::from(mood != Mood::Honest), Ordering::Relaxed);
        self.gateway.lock().unwrap_or_else(PoisonError::into_inner).0 = mood;
    }

    /// What those hear who ask a gateway that lies. Who is well is always named.
    fn lie(&self, group: usize, rng: &mut Rng) -> Vec<SocketAddr> {
        let (now, replicas) = (self.now(), self.groups.get(group).into_iter().flatten());
        let mut named: Vec<_> = replicas
            .filter(|replica| replica.is_settled(now) || rng.bool())
            .map(|replica| replica.server.address())
            .collect();
        let nobodys = self.nobodys.iter().filter(|_| rng.bool());
        named.extend(nobodys.filter_map(|socket| socket.local_addr().ok()));
        rng.shuffle(&mut named);
        named
    }
}

impl Book for World {
    fn reply_to(&self, question: &str) -> Reply {
        let (mood, rng) = &mut *self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        let group = question.strip_prefix("addresses ").and_then(|number| number.parse().ok());
        let addresses = match (mood, group) {
            (Mood::Hanging, _) => return Reply::Silence,
            (Mood::Failing, _) => return Reply::HangUp,
            (_, None) => return Reply::Line(keys::to_line(&map()) + "\n"),
            (Mood::Honest, Some(group)) => self.addresses(group),
            (Mood::Lying, Some(group)) => self.lie(group, rng),
        };
        Reply::addresses(&addresses)
    }
}

/// The partitions of the divided pool: groups 1 and 2.
fn map() -> keys::KeyMap {
    keys::from_starts(1, &[(1, 0), (2, 1 << 63)]).unwrap_or_else(|error| unreachable!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{server::Condition, world::REPLICAS};

    #[tokio::test]
    async fn a_gateway_that_lies_names_everyone_who_is_well() {
        let world = World::new(7).unwrap();
        for number in 1..REPLICAS {
            world.turn(2, number, Condition::Refusing);
        }
        let well = world.addresses(2)[0];
        let mut rng = Rng::with_seed(7);
        let lies: Vec<_> = (0..100).map(|_| world.lie(2, &mut rng)).collect();
        assert!(lies.iter().all(|lie| lie.contains(&well)));
        assert!(lies.iter().any(|lie| lie.len() < REPLICAS) && lies.iter().any(|lie| lie.len() > REPLICAS));
    }
}
