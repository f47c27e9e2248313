//! What is really so.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use crate::plan::Target;

/// A replica's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Node(pub(crate) u8);

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
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

#[derive(Debug)]
pub(crate) struct Truth {
    pub(crate) manners: Vec<Manner>,
    /// Who serve.
    pub(crate) members: Vec<Node>,
    /// Who the gateway believes they are.
    pub(crate) named: Vec<Node>,
    pub(crate) gateway: Manner,
    /// Since when each client can reach each node, and is answered well and soon.
    good_since: Vec<Vec<Option<Duration>>>,
    /// Nodes with which something is wrong.
    faulty: Vec<Node>,
    pub(crate) trace: Vec<String>,
    /// The first law that was broken, and how.
    pub(crate) broken: Option<String>,
}

/// The truth, as all hosts of a world share it.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<Mutex<Truth>>);

impl Shared {
    pub(crate) fn new(nodes: u8, members: u8, clients: usize) -> Self {
        let serving: Vec<_> = (0..members).map(Node).collect();
        let good = |node: u8| (node < members).then_some(Duration::ZERO);
        Self(Arc::new(Mutex::new(Truth {
            manners: vec![Manner::Well; nodes.into()],
            named: serving.clone(),
            members: serving,
            gateway: Manner::Well,
            good_since: vec![(0..nodes).map(good).collect(); clients],
            faulty: Vec::new(),
            trace: Vec::new(),
            broken: None,
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

    pub(crate) fn good_since(&self, client: usize, node: Node) -> Option<Duration> {
        self.lock().good_since[client][usize::from(node.0)]
    }
}

impl Truth {
    pub(crate) fn set_faulty(&mut self, target: Target, faulty: bool) {
        if let Target::Node(node) = target {
            self.faulty.retain(|other| *other != node);
            self.faulty.extend(faulty.then_some(node));
        }
    }

    /// Whether nothing is wrong with `node`.
    pub(crate) fn is_spared(&self, node: Node) -> bool {
        !self.faulty.contains(&node)
    }

    /// `node` is well for `clients` from now on, or is not.
    pub(crate) fn set_good(
        &mut self,
        clients: impl IntoIterator<Item = usize>,
        node: Node,
        since: Option<Duration>,
    ) {
        let since = since.filter(|_| self.members.contains(&node));
        for client in clients {
            self.good_since[client][usize::from(node.0)] = since;
        }
    }
}
