//! Plays the script on the cluster and the gateway, and writes down what happened when.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    book::AddressBook,
    clock::RunClock,
    cluster::{Cluster, HostId, HostInfo, Way},
    plan::{Action, Step},
};

/// What is true of a replica, for the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It does not exist yet.
    Absent,
    /// It serves where the gateway says.
    Up,
    /// It has stopped, and its address is like this.
    Down(Way),
    /// It serves at a new port, which the gateway does not know yet.
    Moved,
    /// It is new, and the gateway does not know it yet.
    New,
    /// It serves, and the gateway no longer names it.
    Draining,
}

impl Phase {
    /// How every run begins for `host`.
    pub fn first(host: &HostInfo) -> Self {
        if host.from_start { Self::Up } else { Self::Absent }
    }
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

/// The one who makes things happen.
#[derive(Debug)]
pub struct Director {
    cluster: Arc<Cluster>,
    book: Arc<AddressBook>,
    clock: Arc<RunClock>,
    log: Mutex<Vec<PhaseChange>>,
}

impl Director {
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
            match &step.action {
                Action::Stop(host, way) => {
                    self.cluster.stop(*host, *way);
                    self.note(*host, Phase::Down(*way));
                }
                Action::ComeUp(host) => {
                    let returns = self.cluster.address(*host).is_some();
                    self.cluster.come_up(*host).await?;
                    self.note(*host, if returns { Phase::Moved } else { Phase::New });
                }
                Action::Publish(host) => {
                    self.publish(*host);
                    self.note(*host, Phase::Up);
                }
                Action::Forget(partition) => {
                    for host in self.book.forget(*partition) {
                        self.note(host, Phase::Draining);
                    }
                }
                Action::Route(map) => self.book.route(map.clone()),
            }
        }
        Ok(())
    }

    /// What happened so far, in order.
    pub fn log(&self) -> Vec<PhaseChange> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, host: HostId, phase: Phase) {
        let change = PhaseChange { at: self.clock.micros(), host, phase };
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(change);
    }

    fn publish(&self, host: HostId) {
        let info = self.cluster.hosts().get(host.index());
        if let (Some(info), Some(address)) = (info, self.cluster.address(host)) {
            self.book.publish(info.partition, host, address);
        }
    }
}

/// The replicas of `hosts` that serve where the gateway says, after all that `log` tells.
pub fn in_service(hosts: &[HostInfo], log: &[PhaseChange]) -> Vec<HostId> {
    let last = |host: &HostInfo| log.iter().rev().find(|change| change.host == host.id);
    let phase = |host: &HostInfo| last(host).map_or(Phase::first(host), |change| change.phase);
    hosts.iter().filter(|host| phase(host) == Phase::Up).map(|host| host.id).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{keys, wire::Gone};

    async fn stage(hosts: Vec<HostInfo>) -> (Arc<Cluster>, Arc<AddressBook>, Director) {
        let clock = Arc::new(RunClock::new());
        let cluster = Arc::new(Cluster::start(hosts, 7, Arc::clone(&clock)).await.unwrap());
        let book = Arc::new(AddressBook::new(keys::even(2)));
        let director = Director::new(Arc::clone(&cluster), Arc::clone(&book), clock);
        director.publish_all();
        (cluster, book, director)
    }

    async fn play(director: &Director, actions: impl IntoIterator<Item = Action>) {
        let step = |action| Step { at: Duration::ZERO, action };
        director.play(&actions.into_iter().map(step).collect::<Vec<_>>()).await.unwrap();
    }

    fn phases(director: &Director) -> Vec<Phase> {
        director.log().into_iter().map(|change| change.phase).collect()
    }

    #[tokio::test]
    async fn the_gateway_repeats_the_old_address_until_the_new_one_is_published() {
        let (cluster, book, director) = stage(HostInfo::grid(&keys::even(2), 2)).await;
        let host = HostId(3);
        let old = cluster.address(host).unwrap();
        assert_eq!(book.addresses(1)[1], old);

        play(&director, [Action::Stop(host, Way::Hang), Action::ComeUp(host)]).await;
        let new = cluster.address(host).unwrap();
        assert_ne!(new, old);
        assert_eq!(book.addresses(1)[1], old);

        play(&director, [Action::Publish(host)]).await;
        assert_eq!(book.addresses(1)[1], new);
        assert_eq!(phases(&director), [Phase::Down(Way::Hang), Phase::Moved, Phase::Up]);
    }

    #[tokio::test]
    async fn a_partition_that_moves_is_served_by_those_who_came_up_for_it() {
        let mut hosts = HostInfo::grid(&keys::even(2), 1);
        hosts.push(HostInfo { id: HostId(2), ..HostInfo::newcomer(0, 1, hosts[0].keys.clone()) });
        let (cluster, book, director) = stage(hosts.clone()).await;
        assert_eq!((book.addresses(0).len(), cluster.address(HostId(2))), (1, None));

        play(&director, [Action::ComeUp(HostId(2)), Action::Forget(0)]).await;
        assert_eq!(book.addresses(0), []);
        let moved = Way::Answer(Gone::Migrating);
        play(&director, [Action::Publish(HostId(2)), Action::Stop(HostId(0), moved)]).await;
        assert_eq!(book.addresses(0), [cluster.address(HostId(2)).unwrap()]);
        assert_eq!(phases(&director), [Phase::New, Phase::Draining, Phase::Up, Phase::Down(moved)]);
        assert_eq!(in_service(&hosts, &director.log()), [HostId(1), HostId(2)]);
    }
}
