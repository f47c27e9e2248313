//! Plays the script of an upgrade on the cluster and the gateway, and writes down what happened when.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::{
    clock::RunClock,
    cluster::{Cluster, HostId, Way},
    gateway::AddressBook,
    plan::{Action, Step},
};

/// What is true of a replica, for the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It serves where the gateway says.
    Up,
    /// It has stopped, and its address is like this.
    Down(Way),
    /// It serves at a new port, which the gateway does not know yet.
    Moved,
}

/// A replica entered a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseChange {
    /// When, in microseconds.
    pub at: u64,
    /// Who.
    pub host: HostId,
    /// What it is now.
    pub phase: Phase,
}

/// The one who upgrades.
#[derive(Debug)]
pub struct Upgrade {
    cluster: Arc<Cluster>,
    book: Arc<AddressBook>,
    clock: Arc<RunClock>,
    log: Mutex<Vec<PhaseChange>>,
}

impl Upgrade {
    /// Of this cluster, behind a gateway that answers from `book`.
    pub fn new(cluster: Arc<Cluster>, book: Arc<AddressBook>, clock: Arc<RunClock>) -> Self {
        Self { cluster, book, clock, log: Mutex::default() }
    }

    /// The gateway learns where every replica lives now.
    pub fn publish_all(&self) {
        for host in self.cluster.hosts() {
            self.publish(host.id);
        }
    }

    /// Does each step at its time.
    ///
    /// # Errors
    ///
    /// When a replica can't open its new socket.
    pub async fn play(&self, script: &[Step]) -> anyhow::Result<()> {
        for step in script {
            self.clock.sleep_until(step.at).await;
            let phase = match step.action {
                Action::Stop(way) => {
                    self.cluster.stop(step.host, way);
                    Phase::Down(way)
                }
                Action::Return => {
                    self.cluster.come_up(step.host).await?;
                    Phase::Moved
                }
                Action::Publish => {
                    self.publish(step.host);
                    Phase::Up
                }
            };
            let change = PhaseChange { at: self.clock.micros(), host: step.host, phase };
            self.log.lock().unwrap_or_else(PoisonError::into_inner).push(change);
        }
        Ok(())
    }

    /// What happened so far, in order.
    pub fn log(&self) -> Vec<PhaseChange> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn publish(&self, host: HostId) {
        let info = self.cluster.hosts().get(host.index());
        if let (Some(info), Some(address)) = (info, self.cluster.address(host)) {
            self.book.publish(info.partition, host, address);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn step(host: u32, action: Action) -> Step {
        Step { at: Duration::ZERO, host: HostId(host), action }
    }

    #[tokio::test]
    async fn the_gateway_repeats_the_old_address_until_the_new_one_is_published() {
        let clock = Arc::new(RunClock::new());
        let cluster = Arc::new(Cluster::start(2, 2, 7, Arc::clone(&clock)).await.unwrap());
        let book = Arc::new(AddressBook::default());
        let upgrade = Upgrade::new(Arc::clone(&cluster), Arc::clone(&book), clock);
        upgrade.publish_all();
        let old = cluster.address(HostId(3)).unwrap();
        assert_eq!(book.addresses(1)[1], old);

        upgrade.play(&[step(3, Action::Stop(Way::Hang)), step(3, Action::Return)]).await.unwrap();
        let new = cluster.address(HostId(3)).unwrap();
        assert_ne!(new, old);
        assert_eq!(book.addresses(1)[1], old);

        upgrade.play(&[step(3, Action::Publish)]).await.unwrap();
        assert_eq!(book.addresses(1)[1], new);
        let phases: Vec<_> = upgrade.log().into_iter().map(|change| change.phase).collect();
        assert_eq!(phases, [Phase::Down(Way::Hang), Phase::Moved, Phase::Up]);
    }
}
