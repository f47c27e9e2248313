//! What is really so.

use std::{
    collections::BTreeMap,
    fmt,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use crate::store::{KEYS, Store};

/// A replica's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Node(pub(crate) u8);

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// Who can be asked over the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Host {
    Node(Node),
    /// Names addresses.
    Gateway,
    /// Tells the routing map.
    Map,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(node) => node.fmt(f),
            Self::Gateway => f.write_str("gateway"),
            Self::Map => f.write_str("map"),
        }
    }
}

/// How a host that can be reached answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    Well,
    Slow(Duration),
    /// Accepts, and never answers.
    Mute,
    /// Answers that it can't.
    Fails,
}

/// A change of who serves some keys.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    pub(crate) keys: Range<u8>,
    /// From its announcement on.
    pub(crate) from: Duration,
    /// When it was made; `None` as long as it has not been.
    pub(crate) made: Option<Duration>,
    /// Whether the map is another.
    pub(crate) of_map: bool,
}

#[derive(Debug)]
pub(crate) struct Truth {
    pub(crate) store: Store,
    pub(crate) touches: Vec<Touch>,
    /// When the map that is told became newer.
    pub(crate) told_maps: Vec<Duration>,
    /// Since when the gateway and the map say of each key what is so.
    told_since: Vec<Option<Duration>>,
    /// Since when nothing has happened.
    pub(crate) quiet_since: Duration,
    pub(crate) trace: Vec<String>,
    /// The first law that was broken, and how.
    pub(crate) broken: Option<String>,
    manners: BTreeMap<Host, Manner>,
    /// Since when each client can reach each host, and is answered well and soon. Hosts that are missing there, it can't.
    well_since: Vec<BTreeMap<Host, Duration>>,
    /// Since when each node has served anything.
    member_since: BTreeMap<Node, Duration>,
}

/// The truth, as all hosts of a world share it.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<Mutex<Truth>>);

impl Shared {
    pub(crate) fn new(store: Store, hosts: &[Host], clients: usize) -> Self {
        let well: BTreeMap<_, _> = hosts.iter().map(|host| (*host, Duration::ZERO)).collect();
        Self(Arc::new(Mutex::new(Truth {
            member_since: store.now.members().into_iter().map(|node| (node, Duration::ZERO)).collect(),
            store,
            touches: Vec::new(),
            told_maps: vec![Duration::ZERO],
            told_since: vec![Some(Duration::ZERO); KEYS.into()],
            quiet_since: Duration::ZERO,
            trace: Vec::new(),
            broken: None,
            manners: hosts.iter().map(|host| (*host, Manner::Well)).collect(),
            well_since: vec![well; clients],
        })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Truth> {
        self.0.lock().unwrap()
    }

    pub(crate) fn write(&self, line: impl fmt::Display) {
        let now = turmoil::sim_elapsed().unwrap_or_default();
        self.lock().trace.push(format!("{now:?} {line}"));
    }

    pub(crate) fn breaks(&self, law: &str, how: impl fmt::Display) {
        let now = turmoil::sim_elapsed().unwrap_or_default();
        self.lock().broken.get_or_insert_with(|| format!("\"{law}\" does not hold at {now:?}: {how}"));
    }
}

impl Truth {
    pub(crate) fn manner(&self, host: Host) -> Manner {
        self.manners[&host]
    }

    pub(crate) fn set_manner(&mut self, host: Host, manner: Manner) {
        self.manners.insert(host, manner);
    }

    /// `host` is well for `clients` from now on, or is not.
    pub(crate) fn set_well(
        &mut self,
        clients: impl IntoIterator<Item = usize>,
        host: Host,
        since: Option<Duration>,
    ) {
        for client in clients {
            match since {
                Some(since) => self.well_since[client].insert(host, since),
                None => self.well_since[client].remove(&host),
            };
        }
    }

    /// Since when `client` has been able to reach `host`.
    pub(crate) fn well_since(&self, client: usize, host: Host) -> Option<Duration> {
        self.well_since[client].get(&host).copied()
    }

    /// Since when `node` has served something, and `client` has been able to reach it.
    pub(crate) fn good_since(&self, client: usize, node: Node) -> Option<Duration> {
        Some(self.well_since(client, Host::Node(node))?.max(*self.member_since.get(&node)?))
    }

    /// How often the store has changed.
    pub(crate) fn changes(&self) -> usize {
        self.touches.iter().filter(|touch| touch.made.is_some()).count()
    }

    /// The store, or what is said of it, has changed.
    pub(crate) fn note_change(&mut self, now: Duration) {
        let members = self.store.now.members();
        self.member_since.retain(|node, _| members.contains(node));
        for node in members {
            self.member_since.entry(node).or_insert(now);
        }
        for key in 0..KEYS {
            let since = &mut self.told_since[usize::from(key)];
            *since = self.store.is_told(key).then(|| since.unwrap_or(now));
        }
    }

    /// Since when the gateway and the map have said of `key` what is so.
    pub(crate) fn told_since(&self, key: u8) -> Option<Duration> {
        self.told_since[usize::from(key)]
    }
}
