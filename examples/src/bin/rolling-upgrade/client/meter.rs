//! Counts attempts, and knows which were made in vain from the start.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use examples::{transport::Watcher, wire::Purpose};

use crate::{
    clock::RunClock,
    cluster::{Cluster, Condition, HostId},
};

/// Looks at the truth when an attempt starts. Only the harness reads it: no client knows.
#[derive(Debug)]
pub struct Meter {
    cluster: Arc<Cluster>,
    clock: Arc<RunClock>,
    attempts: AtomicU64,
    probes: AtomicU64,
    bad: Mutex<Vec<(u64, HostId)>>,
}

impl Meter {
    /// Nothing counted yet.
    pub fn new(cluster: Arc<Cluster>, clock: Arc<RunClock>) -> Self {
        Self { cluster, clock, attempts: AtomicU64::new(0), probes: AtomicU64::new(0), bad: Mutex::default() }
    }

    /// Ordinary attempts so far.
    pub fn attempts(&self) -> u64 {
        self.attempts.load(Ordering::Relaxed)
    }

    /// Probes so far.
    pub fn probes(&self) -> u64 {
        self.probes.load(Ordering::Relaxed)
    }

    /// The attempts that started at an address that was bad at that moment: when, and whose it was.
    pub fn bad_attempts(&self) -> Vec<(u64, HostId)> {
        self.bad.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Watcher for Meter {
    fn starts(&self, address: SocketAddr, purpose: Purpose) {
        if purpose == Purpose::Probe {
            self.probes.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.attempts.fetch_add(1, Ordering::Relaxed);
        if let Some((host, Condition::Stopped(_))) = self.cluster.truth().of(address) {
            let mut bad = self.bad.lock().unwrap_or_else(PoisonError::into_inner);
            bad.push((self.clock.micros(), host));
        }
    }
}

#[cfg(test)]
mod tests {
    use examples::{keys, wire::Gone};

    use super::*;
    use crate::cluster::{HostInfo, Way};

    #[tokio::test]
    async fn an_attempt_is_bad_when_its_address_was_bad_as_it_started() {
        let clock = Arc::new(RunClock::new());
        let hosts = HostInfo::grid(&keys::even(1), 2);
        let cluster = Arc::new(Cluster::start(hosts, 7, Arc::clone(&clock)).await.unwrap());
        let meter = Meter::new(Arc::clone(&cluster), clock);
        let [old, other] = [0, 1].map(|id| cluster.address(HostId(id)).unwrap());

        meter.starts(old, Purpose::Ordinary);
        cluster.stop(HostId(0), Way::Answer(Gone::Replica));
        meter.starts(old, Purpose::Ordinary);
        meter.starts(other, Purpose::Ordinary);
        let new = cluster.come_up(HostId(0)).await.unwrap();
        meter.starts(new, Purpose::Ordinary);
        meter.starts(old, Purpose::Ordinary);

        meter.starts(old, Purpose::Probe);

        assert_eq!((meter.attempts(), meter.probes()), (5, 1));
        let hosts: Vec<_> = meter.bad_attempts().into_iter().map(|(_, host)| host).collect();
        assert_eq!(hosts, [HostId(0), HostId(0)]);
    }
}
