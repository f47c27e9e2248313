//! What the gateway knows.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use examples::{
    gateway::{Book, MAP, Reply},
    keys::{self, KeyMap},
};

use crate::cluster::HostId;

/// The routing map, and the address of each replica of each partition, as the gateway last heard.
#[derive(Debug)]
pub struct AddressBook(RwLock<Known>);

#[derive(Debug)]
struct Known {
    map: KeyMap,
    partitions: BTreeMap<u32, BTreeMap<HostId, SocketAddr>>,
}

impl AddressBook {
    /// A map, and no addresses yet.
    pub fn new(map: KeyMap) -> Self {
        Self(RwLock::new(Known { map, partitions: BTreeMap::new() }))
    }

    /// From now on the gateway says that `host` serves `partition` at `address`.
    pub fn publish(&self, partition: u32, host: HostId, address: SocketAddr) {
        self.write().partitions.entry(partition).or_default().insert(host, address);
    }

    /// From now on the gateway names no address for `partition`. Says whom it named until then.
    pub fn forget(&self, partition: u32) -> Vec<HostId> {
        self.write().partitions.remove(&partition).unwrap_or_default().into_keys().collect()
    }

    /// From now on this is the map.
    pub fn route(&self, map: KeyMap) {
        self.write().map = map;
    }

    /// The addresses that serve `partition`, as far as the gateway knows.
    pub fn addresses(&self, partition: u32) -> Vec<SocketAddr> {
        let known = self.read();
        known.partitions.get(&partition).map(|hosts| hosts.values().copied().collect()).unwrap_or_default()
    }

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is not understood is not known.
impl Book for AddressBook {
    fn reply_to(&self, question: &str) -> Reply {
        if question == MAP {
            return Reply::Line(keys::to_line(&self.read().map) + "\n");
        }
        let partition = question.strip_prefix("addresses ").and_then(|number| number.parse().ok());
        let addresses = partition.map(|partition| self.addresses(partition)).unwrap_or_default();
        Reply::addresses(&addresses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(book: &AddressBook, question: &str) -> String {
        let Reply::Line(line) = book.reply_to(question) else { panic!("no line") };
        line
    }

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn the_old_address_is_repeated_until_the_new_one_is_published() {
        let book = AddressBook::new(keys::even(1));
        book.publish(0, HostId(0), address(4_000));
        book.publish(0, HostId(1), address(4_001));
        assert_eq!(line(&book, "addresses 0"), "127.0.0.1:4000 127.0.0.1:4001\n");
        // The replica stops, and comes back elsewhere: nobody has told the gateway.
        assert_eq!(line(&book, "addresses 0"), "127.0.0.1:4000 127.0.0.1:4001\n");
        book.publish(0, HostId(0), address(4_002));
        assert_eq!(line(&book, "addresses 0"), "127.0.0.1:4002 127.0.0.1:4001\n");
    }

    #[test]
    fn a_partition_that_it_does_not_know_has_no_addresses() {
        let book = AddressBook::new(keys::even(1));
        assert_eq!(line(&book, "addresses 7"), "\n");
        assert_eq!(line(&book, "what?"), "\n");
    }

    #[test]
    fn a_partition_that_was_forgotten_has_an_empty_feed_and_the_map_is_another() {
        let book = AddressBook::new(keys::even(2));
        book.publish(0, HostId(3), address(4_000));
        assert_eq!(line(&book, "map"), format!("1 0@0 1@{}\n", 1_u64 << 63));
        assert_eq!(book.forget(0), [HostId(3)]);
        book.route(keys::from_starts(2, &[(2, 0)]).unwrap());
        assert_eq!(line(&book, "addresses 0"), "\n");
        assert_eq!(line(&book, "map"), "2 2@0\n");
    }
}
