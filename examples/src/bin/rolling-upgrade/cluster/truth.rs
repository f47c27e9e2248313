//! What is true of each address at this moment. The harness counts with it; clients never see it.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{PoisonError, RwLock},
};

use super::{HostId, Way};

/// What an address is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A replica serves there.
    Serving,
    /// The replica that lived there has stopped, this way.
    Stopped(Way),
}

/// Every address that a replica has or had.
#[derive(Debug, Default)]
pub struct Truth {
    addresses: RwLock<HashMap<SocketAddr, (HostId, Condition)>>,
}

impl Truth {
    /// `host` serves at `address`.
    pub fn declare(&self, address: SocketAddr, host: HostId) {
        let mut addresses = self.addresses.write().unwrap_or_else(PoisonError::into_inner);
        addresses.insert(address, (host, Condition::Serving));
    }

    /// The condition of a declared address changes.
    pub fn set(&self, address: SocketAddr, condition: Condition) {
        let mut addresses = self.addresses.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = addresses.get_mut(&address) {
            entry.1 = condition;
        }
    }

    /// Who lives or lived at `address`, and how it is there.
    pub fn of(&self, address: SocketAddr) -> Option<(HostId, Condition)> {
        let addresses = self.addresses.read().unwrap_or_else(PoisonError::into_inner);
        addresses.get(&address).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_address_stays_bad_when_its_host_is_back_at_a_new_one() {
        let [old, new] = [4_000, 4_001].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let truth = Truth::default();
        truth.declare(old, HostId(3));
        assert_eq!(truth.of(old), Some((HostId(3), Condition::Serving)));

        truth.set(old, Condition::Stopped(Way::Hang));
        truth.declare(new, HostId(3));
        assert_eq!(truth.of(old), Some((HostId(3), Condition::Stopped(Way::Hang))));
        assert_eq!(truth.of(new), Some((HostId(3), Condition::Serving)));
    }

    #[test]
    fn nothing_is_known_of_an_address_that_nobody_had() {
        let truth = Truth::default();
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        truth.set(address, Condition::Serving);
        assert_eq!(truth.of(address), None);
    }
}
