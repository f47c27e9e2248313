//! What the gateway knows.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{PoisonError, RwLock},
};

use crate::cluster::HostId;

/// The address of each replica of each partition, as the gateway last heard.
#[derive(Debug, Default)]
pub struct AddressBook {
    partitions: RwLock<BTreeMap<u32, BTreeMap<HostId, SocketAddr>>>,
}

impl AddressBook {
    /// From now on the gateway says that `host` serves `partition` at `address`.
    pub fn publish(&self, partition: u32, host: HostId, address: SocketAddr) {
        let mut partitions = self.partitions.write().unwrap_or_else(PoisonError::into_inner);
        partitions.entry(partition).or_default().insert(host, address);
    }

    /// The addresses that serve `partition`, as far as the gateway knows.
    pub fn addresses(&self, partition: u32) -> Vec<SocketAddr> {
        let partitions = self.partitions.read().unwrap_or_else(PoisonError::into_inner);
        partitions.get(&partition).map(|hosts| hosts.values().copied().collect()).unwrap_or_default()
    }

    /// The line that answers the line `question`, with its end. What is not understood is not known.
    pub fn reply_to(&self, question: &str) -> String {
        let partition = question.strip_prefix("addresses ").and_then(|number| number.parse().ok());
        let addresses = partition.map(|partition| self.addresses(partition)).unwrap_or_default();
        let words: Vec<_> = addresses.iter().map(SocketAddr::to_string).collect();
        words.join(" ") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn the_old_address_is_repeated_until_the_new_one_is_published() {
        let book = AddressBook::default();
        book.publish(0, HostId(0), address(4_000));
        book.publish(0, HostId(1), address(4_001));
        assert_eq!(book.reply_to("addresses 0"), "127.0.0.1:4000 127.0.0.1:4001\n");
        // The replica stops, and comes back elsewhere: nobody has told the gateway.
        assert_eq!(book.reply_to("addresses 0"), "127.0.0.1:4000 127.0.0.1:4001\n");
        book.publish(0, HostId(0), address(4_002));
        assert_eq!(book.reply_to("addresses 0"), "127.0.0.1:4002 127.0.0.1:4001\n");
    }

    #[test]
    fn a_partition_that_it_does_not_know_has_no_addresses() {
        let book = AddressBook::default();
        assert_eq!(book.reply_to("addresses 7"), "\n");
        assert_eq!(book.reply_to("what?"), "\n");
    }
}
