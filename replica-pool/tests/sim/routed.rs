//! What must hold of a call to a store that is divided into partitions.

use std::{collections::BTreeSet, error::Error};

use replica_pool::{CallError, Diagnostics};

use crate::{
    client::Divided,
    laws::{Answer, Begun, Ledger},
    settings::SLACK,
    truth::{Host, Node},
    wire::Trouble,
};

/// What was known when a call began.
#[derive(Debug)]
pub(crate) struct Routed {
    begun: Begun,
    key: u8,
    map: Option<u64>,
    /// Whom the pool would ask, the circuits aside.
    set: Vec<Node>,
    /// Everybody whom the pool knew.
    known: BTreeSet<Node>,
    /// Whose circuits were closed.
    closed: BTreeSet<Node>,
}

impl Ledger {
    pub(crate) fn begin_routed(&self, pool: &Divided, key: u8) -> Routed {
        // A partition that is new to the pool is made known by this.
        let set = pool.pool(&key).map(|pool| pool.replicas());
        let set = set.iter().flat_map(|set| set.replicas()).map(|replica| *replica.address()).collect();
        let begun = self.begin(pool);
        let book = self.book();
        let known = book.known.keys().copied().collect();
        let closed = book.known.iter().filter(|(_, known)| known.closed).map(|(node, _)| *node).collect();
        Routed { begun, key, map: pool.routing_map().map(|map| map.version()), set, known, closed }
    }

    /// A call has ended.
    pub(crate) fn end_routed(&self, routed: &Routed, pool: &Divided, answer: &Answer, seen: &Diagnostics) {
        self.note_end(&routed.begun, pool, answer, seen);
        let map = pool.routing_map().map(|map| map.version());
        if map < routed.map {
            self.breaks("the map never gets older", format_args!("{map:?} after {:?}", routed.map));
        }
        if let Err(error) = answer
            && is_bare(error)
        {
            self.breaks("nobody is told a bare 410", format_args!("{error:?}"));
        }
        let good = self.found(routed);
        self.book().sums.moving += usize::from(good.is_some_and(|(_, moving)| moving));
        self.judge(&routed.begun, good.map(|(node, _)| node), answer, seen);
    }

    /// Who could have answered a call that ends now, and whether its partition changed meanwhile.
    fn found(&self, routed: &Routed) -> Option<(Node, bool)> {
        let (at, settings) = (routed.begun.at, self.settings());
        let truth = self.truth.lock();
        let well =
            |host, settle| truth.well_since(self.number(), host).is_some_and(|since| since + settle <= at);
        let answered =
            [Host::Gateway, Host::Map].into_iter().all(|host| well(host, settings.questions_settled()));
        // What was asked before may be answered with what was said then.
        let told = truth.told_since(routed.key).is_some_and(|since| since + SLACK <= at);
        if !answered || !told {
            return None;
        }
        let moving: Vec<_> = truth
            .touches
            .iter()
            .filter(|touch| touch.keys.contains(&routed.key))
            .filter(|touch| touch.made.is_none_or(|made| made + SLACK > at))
            .map(|touch| touch.made.is_some())
            .collect();
        let moving = match moving.as_slice() {
            [] => false,
            [true] => true,
            _ => return None,
        };
        let is_well = |node: &Node| well(Host::Node(*node), settings.settled());
        // Whoever goes on to fresh addresses or another map has heard from everybody that it must.
        if moving && !routed.set.iter().all(is_well) {
            return None;
        }
        let serving = &truth.store.now.serving[&truth.store.now.part(routed.key)];
        let good: Vec<_> = serving.iter().copied().filter(is_well).collect();
        drop(truth);
        // Somebody must be asked to learn of a change: half-open places may be taken for long.
        let is_asked = |node: &Node| routed.closed.contains(node) && self.admitted(routed, *node);
        let leads_on = routed.set.is_empty() || routed.set.iter().any(is_asked);
        let node = good.into_iter().find(|node| self.admitted(routed, *node))?;
        leads_on.then_some((node, moving))
    }

    /// Whether the circuit of `node` has admitted calls all the time.
    fn admitted(&self, routed: &Routed, node: Node) -> bool {
        let book = self.book();
        let at_first = if routed.known.contains(&node) {
            routed.begun.admitting.contains(&node)
        } else {
            // A circuit that is new starts closed, or open.
            !self.settings().canary && !book.told_open.contains(&node)
        };
        let at_last = book.known.get(&node).is_none_or(|known| known.open_since.is_none());
        at_first && at_last && book.opened.get(&node).is_none_or(|opened| *opened < routed.begun.at)
    }

    /// What holds of the map when everything has been well for long.
    pub(crate) fn check_the_map(&self, pool: &Divided) {
        let truth = self.truth.lock();
        let now = &truth.store.now;
        let Some(map) = pool.routing_map() else { return };
        let starts = map.ranges().map(|(range, part)| (range.from.unwrap_or(0), *part));
        let (starts, expected, used) = (starts.collect::<Vec<_>>(), now.starts.clone(), pool.used().len());
        drop(truth);
        if starts != expected || used != expected.len() {
            let how = format_args!("{used} used of {starts:?}, the truth {expected:?}");
            self.breaks("nothing is stuck at the end", how);
        }
    }
}

/// Whether a replica's 410 is passed on as it is.
fn is_bare(error: &CallError<Trouble>) -> bool {
    if let CallError::Unavailable(unavailable) = error {
        return unavailable.status_code() != 503 || !(21_002..=21_005).contains(&unavailable.sub_status());
    }
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        if matches!(error.downcast_ref(), Some(Trouble::Gone(_))) {
            return true;
        }
        cause = error.source();
    }
    false
}
