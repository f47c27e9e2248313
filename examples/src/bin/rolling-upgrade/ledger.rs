//! What the replicas themselves know: when each served an ordinary request.

use std::sync::{Mutex, PoisonError};

use crate::cluster::HostId;

/// The instants, in microseconds, at which each replica served.
#[derive(Debug)]
pub struct Ledger {
    served: Vec<Mutex<Vec<u64>>>,
}

impl Ledger {
    /// An empty one for so many replicas.
    pub fn new(hosts: usize) -> Self {
        Self { served: (0..hosts).map(|_| Mutex::default()).collect() }
    }

    /// `host` served a request at `now`.
    pub fn served(&self, host: HostId, now: u64) {
        if let Some(served) = self.served.get(host.index()) {
            served.lock().unwrap_or_else(PoisonError::into_inner).push(now);
        }
    }

    /// How many requests each replica served.
    pub fn counts(&self) -> Vec<u64> {
        self.each(|served| served.len() as u64)
    }

    /// How long after `since` it took until each of `hosts` had served again; `None` when one never did.
    pub fn spread_after(&self, since: u64, hosts: &[HostId]) -> Option<u64> {
        let first = self.each(|served| served.iter().copied().filter(|&at| at >= since).min());
        let first = hosts.iter().map(|host| first.get(host.index()).copied().flatten());
        let last = first.collect::<Option<Vec<_>>>()?.into_iter().max()?;
        Some(last - since)
    }

    fn each<T>(&self, of: impl Fn(&[u64]) -> T) -> Vec<T> {
        self.served.iter().map(|served| of(&served.lock().unwrap_or_else(PoisonError::into_inner))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(served: &[(u32, u64)]) -> Ledger {
        let ledger = Ledger::new(3);
        for &(host, at) in served {
            ledger.served(HostId(host), at);
        }
        ledger
    }

    #[test]
    fn traffic_is_spread_when_the_last_replica_has_served_again() {
        let ledger = ledger(&[(0, 90), (1, 95), (2, 99), (0, 100), (1, 130), (2, 350), (2, 110)]);
        assert_eq!(ledger.spread_after(100, &[HostId(0), HostId(1), HostId(2)]), Some(30));
        assert_eq!(ledger.spread_after(100, &[HostId(0)]), Some(0));
    }

    #[test]
    fn a_replica_that_never_serves_again_leaves_the_time_open() {
        let ledger = ledger(&[(0, 120), (1, 120), (2, 99)]);
        assert_eq!(ledger.spread_after(100, &[HostId(0), HostId(1), HostId(2)]), None);
        assert_eq!(ledger.counts(), [1, 1, 1]);
    }
}
