//! What must hold, looked at from one client.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use breaker_core::{Circuit, Event, EventKind, Observer};
use replica_pool::{Diagnostics, HealthStatus, ReplicaStatus};

use crate::{
    client::{Pooled, Whole},
    crowd::Crowd,
    settings::{ATTEMPT_TIMEOUT, SLACK, Settings},
    store::PartId,
    truth::{Node, Shared},
    wire::Trouble,
    world::client_name,
};

pub(crate) type Answer = Result<Node, replica_pool::CallError<Trouble>>;

/// What happened, in numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) calls: usize,
    pub(crate) failed: usize,
    /// Calls for which a good replica was reachable.
    pub(crate) judged: usize,
    /// Of these, those under whose eyes their partition changed.
    pub(crate) moving: usize,
    pub(crate) trips: usize,
    pub(crate) probes: usize,
    pub(crate) openings: usize,
    pub(crate) answers: usize,
    /// Asked for addresses.
    pub(crate) questions: usize,
    /// Asked for the map.
    pub(crate) maps: usize,
}

impl Sums {
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failed += other.failed;
        self.judged += other.judged;
        self.moving += other.moving;
        self.trips += other.trips;
        self.probes += other.probes;
        self.openings += other.openings;
        self.answers += other.answers;
        self.questions += other.questions;
        self.maps += other.maps;
    }
}

/// What a client knows of one replica.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Since when it has been in a set.
    present_since: Duration,
    /// Since when its circuit has been open, as far as was seen.
    pub(crate) open_since: Option<Duration>,
    /// Whether it was seen closed.
    pub(crate) closed: bool,
    /// When it was tripped.
    trips: Vec<Duration>,
    /// Calls since it should be back, or was tripped.
    calls_since_due: usize,
}

#[derive(Debug)]
pub(crate) struct Book {
    /// The sets of all partitions in use, with their versions.
    sets: BTreeMap<PartId, (u64, Vec<Node>)>,
    pub(crate) known: BTreeMap<Node, Known>,
    /// When those left who are in no set any more.
    pub(crate) left: BTreeMap<Node, Duration>,
    /// Who of them were probed, and when they had left.
    pub(crate) strangers: Vec<(Node, Duration)>,
    /// When each circuit opened last.
    pub(crate) opened: BTreeMap<Node, Duration>,
    /// Whose circuit was open by the last that was told of it.
    pub(crate) told_open: BTreeSet<Node>,
    /// Who are at it, and since when.
    pub(crate) crowds: HashMap<Crowd, Vec<(String, Duration)>>,
    /// When the map was asked for.
    pub(crate) maps: Vec<Duration>,
    /// When the gateway answered last.
    answered_at: Duration,
    pub(crate) sums: Sums,
}

/// A client's notes, and its judgement on them.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    number: usize,
    settings: Settings,
    pub(crate) truth: Shared,
    book: Arc<Mutex<Book>>,
}

/// What was known when a call began.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) at: Duration,
    version: u64,
    /// Replicas that admit calls.
    pub(crate) admitting: Vec<Node>,
}

pub(crate) fn now() -> Duration {
    turmoil::sim_elapsed().unwrap_or_default()
}

impl Ledger {
    pub(crate) fn new(number: usize, settings: Settings, truth: Shared) -> Self {
        let book = Book {
            sets: BTreeMap::new(),
            known: BTreeMap::new(),
            left: BTreeMap::new(),
            strangers: Vec::new(),
            opened: BTreeMap::new(),
            told_open: BTreeSet::new(),
            crowds: HashMap::new(),
            maps: Vec::new(),
            answered_at: Duration::ZERO,
            sums: Sums::default(),
        };
        Self { number, settings, truth, book: Arc::new(Mutex::new(book)) }
    }

    pub(crate) fn name(&self) -> String {
        client_name(self.number)
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn sums(&self) -> Sums {
        let book = self.book();
        Sums { maps: book.maps.len(), ..book.sums.clone() }
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }

    pub(crate) fn write(&self, line: impl fmt::Display) {
        self.truth.write(format_args!("{} {line}", self.name()));
    }

    pub(crate) fn breaks(&self, law: &str, how: impl fmt::Display) {
        self.truth.breaks(law, format_args!("{}: {how}", self.name()));
    }

    pub(crate) fn answered(&self) {
        let mut book = self.book();
        book.sums.answers += 1;
        book.answered_at = now();
    }

    /// Notes who is in the sets.
    fn see(&self, pool: &impl Pooled) {
        let now = now();
        let sets: Vec<_> = pool.parts().into_iter().map(|(part, pool)| (part, pool.replicas())).collect();
        let seen: BTreeMap<_, (u64, Vec<_>)> = sets
            .iter()
            .map(|(part, set)| {
                (*part, (set.version(), set.replicas().iter().map(|replica| *replica.address()).collect()))
            })
            .collect();
        let mut book = self.book();
        if seen != book.sets {
            let (before, sets) = (std::mem::take(&mut book.known), std::mem::take(&mut book.sets));
            // Whoever was in a set before and after its next change has been there all the time.
            let stayed = |node: &Node| {
                sets.iter().any(|(part, (version, nodes))| {
                    let after = seen.get(part).filter(|(after, _)| *after <= version + 1);
                    nodes.contains(node) && after.is_some_and(|(_, nodes)| nodes.contains(node))
                })
            };
            for node in seen.values().flat_map(|(_, nodes)| nodes) {
                let known = before.get(node).filter(|_| stayed(node)).cloned();
                let new = || Known { present_since: now, ..Known::default() };
                book.known.insert(*node, known.unwrap_or_else(new));
                book.left.remove(node);
            }
            let left: Vec<_> = before.into_keys().filter(|node| !book.known.contains_key(node)).collect();
            book.left.extend(left.into_iter().map(|node| (node, now)));
            book.sets = seen;
        }
        for replica in sets.iter().flat_map(|(_, set)| set.replicas()) {
            let circuit = replica.breaker().state().circuit();
            if let Some(known) = book.known.get_mut(replica.address()) {
                known.closed = circuit == Circuit::Closed;
                let is_open = circuit == Circuit::Open;
                known.open_since = if is_open { known.open_since.or(Some(now)) } else { None };
            }
        }
    }

    /// Since when `node` has been well, and in a set.
    fn well_since(&self, node: Node, known: &Known) -> Option<Duration> {
        Some(self.truth.lock().good_since(self.number, node)?.max(known.present_since))
    }

    pub(crate) fn begin(&self, pool: &impl Pooled) -> Begun {
        self.see(pool);
        let book = self.book();
        let version = book.sets.get(&PartId::WHOLE).map_or(0, |(version, _)| *version);
        let admitting =
            book.known.iter().filter(|(_, known)| known.open_since.is_none()).map(|(node, _)| *node);
        Begun { at: now(), version, admitting: admitting.collect() }
    }

    /// A call has ended.
    pub(crate) fn end(&self, begun: &Begun, pool: &Whole, answer: &Answer, seen: &Diagnostics) {
        let version = pool.replicas().version();
        self.note_end(begun, pool, answer, seen);
        let mut known = begun.admitting.iter().copied();
        let good = known.find(|node| version <= begun.version + 1 && self.was_reachable(*node, begun.at));
        self.judge(begun, good, answer, seen);
    }

    /// Writes down how a call has ended.
    pub(crate) fn note_end(&self, begun: &Begun, pool: &impl Pooled, answer: &Answer, seen: &Diagnostics) {
        self.see(pool);
        let told = answer.as_ref().map_or_else(ToString::to_string, ToString::to_string);
        self.write(format_args!("call of {:?}: {told}", begun.at));
        if answer.is_err() {
            let tried = seen.attempts.iter().map(|attempt| {
                format!(
                    "{} {} {} {:?} {:?}",
                    attempt.replica, attempt.circuit, attempt.health, attempt.result, attempt.elapsed
                )
            });
            self.write(format_args!("  tried {}", tried.collect::<Vec<_>>().join("; ")));
        }
        let took = now() - begun.at;
        // The first retry after something was gone is always made, and a question may take as long as an attempt then.
        let most = self.settings.deadline + 2 * ATTEMPT_TIMEOUT;
        if took > most + SLACK {
            self.breaks("no call outlives its deadline", format_args!("it took {took:?}"));
        }
        let mut book = self.book();
        book.sums.calls += 1;
        book.sums.failed += usize::from(answer.is_err());
        drop(book);
        let list = &seen.replica_status_list;
        for status in list.attempting.iter().chain(&list.ignoring) {
            self.look_at(status, begun.at);
        }
    }

    /// `good` could have answered.
    pub(crate) fn judge(&self, begun: &Begun, good: Option<Node>, answer: &Answer, seen: &Diagnostics) {
        self.book().sums.judged += usize::from(good.is_some());
        if let (Some(node), Err(error)) = (good, answer) {
            let how = format_args!("{node} was, from {:?} on: {error} {error:?} {seen:?}", begun.at);
            self.breaks("no request fails while a good replica is reachable", how);
        }
    }

    /// Whether a call that began at `at` and ends now can't have failed for want of this one: it has been well all the
    /// time, whatever was under way before had ended, and its circuit has admitted calls.
    fn was_reachable(&self, node: Node, at: Duration) -> bool {
        let Some(known) = self.book().known.get(&node).cloned() else { return false };
        let well = self.well_since(node, &known).is_some_and(|since| since + self.settings.settled() <= at);
        well && known.open_since.is_none() && self.book().opened.get(&node).is_none_or(|opened| *opened < at)
    }

    /// What a call that began at `at` was told of a replica.
    fn look_at(&self, status: &ReplicaStatus, at: Duration) {
        let mut book = self.book();
        let Some((node, known)) = book.known.iter_mut().find(|(node, _)| node.to_string() == status.replica)
        else {
            return;
        };
        let due = self.well_since(*node, known).map(|since| since + self.settings.longest_mark());
        if due.is_none_or(|due| due > at) {
            known.calls_since_due = 0;
            return;
        }
        known.calls_since_due += 1;
        let (node, known, replicas) = (*node, known.clone(), book.known.len());
        // An answer sends marks of any age into validation.
        let validated = status.health == HealthStatus::UnhealthyPending
            && now() <= book.answered_at + self.settings.longest_validation();
        drop(book);
        if status.health.rank() != 0 && !validated {
            let how = format_args!("{node} is {} since {due:?}", status.health);
            self.breaks("a healed replica is no longer marked after its bound", how);
        }
        let late = known.calls_since_due > self.settings.calls_to_close(replicas);
        if late && self.settings.shuffled && status.circuit != Circuit::Closed {
            let how = format_args!("{node} is {} after {} calls", status.circuit, known.calls_since_due);
            self.breaks("a healed replica is back in the ordinary order within its bound", how);
        }
    }

    /// What holds at any time.
    pub(crate) fn check(&self, pool: &impl Pooled) {
        self.see(pool);
        self.check_strangers();
        let known = self.book().known.clone();
        for (node, known) in known {
            let Some(well) = self.well_since(node, &known) else { continue };
            if let Some(open) = known.open_since
                && now() - open.max(well) > self.settings.longest_open()
            {
                let how = format_args!("{node} is open since {open:?}, and well since {well:?}");
                self.breaks("a healed replica's circuit is tried within its bound", how);
            }
            let trips = known.trips.iter().filter(|at| **at > well + self.settings.settled()).count();
            if trips > self.settings.trips_while_well() {
                let how = format_args!("{node} is well since {well:?}: {:?}", known.trips);
                self.breaks("a replica that is well is not tripped", how);
            }
        }
    }

    /// What holds when everything has been well for long, and no call is under way.
    pub(crate) fn check_the_end(&self, pool: &impl Pooled) {
        self.check(pool);
        let (law, settings, parts) = ("nothing is stuck at the end", &self.settings, pool.parts());
        // In a list, nobody asks those behind the first that is well, and nobody learns that they have left.
        let learns = settings.shuffled || settings.asks_by_itself();
        // The timer of the interval is a task, and may just have asked.
        let own = if settings.asks_by_itself() { parts.len() + self.questions_under_way() } else { 0 };
        for (part, pool) in parts {
            let set = pool.replicas();
            let mut members = self.truth.lock().store.now.serving.get(&part).cloned().unwrap_or_default();
            let mut found: Vec<_> = set.replicas().iter().map(|replica| *replica.address()).collect();
            members.sort();
            found.sort();
            if learns && members != found {
                self.breaks(law, format_args!("the set of {part} is {found:?}, the truth {members:?}"));
            }
            let tasks = pool.snapshot().background_tasks;
            if tasks != own {
                self.breaks(law, format_args!("{tasks} tasks are left"));
            }
            for replica in set.replicas().iter().filter(|replica| members.contains(replica.address())) {
                let (breaker, health) = (replica.breaker(), replica.health());
                let circuit = breaker.state().circuit();
                let is_closed =
                    circuit == Circuit::Closed || (!settings.shuffled && circuit == Circuit::HalfOpen);
                if !is_closed {
                    self.breaks(law, format_args!("{} is {circuit}, {health}", replica.address()));
                }
                let free = std::iter::from_fn(|| breaker.acquire().ok()).take(10).count();
                if free == 0 {
                    self.breaks(law, format_args!("{} has no place", replica.address()));
                }
            }
        }
        for (crowd, nodes) in &self.book().crowds {
            let by_itself = *crowd == Crowd::Questions && settings.asks_by_itself();
            if !nodes.is_empty() && !by_itself {
                self.breaks(law, format_args!("{crowd:?} of {nodes:?} are under way"));
            }
        }
    }
}

impl Observer for Ledger {
    fn on_event(&self, event: &Event) {
        let name = event.name.as_deref().unwrap_or_default();
        self.write(format_args!("{name} {event}"));
        let mut book = self.book();
        let (to, reset) = match event.kind {
            EventKind::Transition { to, .. } => (to, false),
            EventKind::Reset { to, .. } => (to, true),
            _ => return,
        };
        let Some(node) = name.strip_prefix('r').and_then(|node| node.parse().ok()).map(Node) else { return };
        if to != Circuit::Open {
            book.told_open.remove(&node);
            return;
        }
        let tripped = !reset;
        book.sums.trips += usize::from(tripped);
        book.opened.insert(node, now());
        book.told_open.insert(node);
        if let Some(known) = book.known.get_mut(&node) {
            known.open_since = Some(now());
            known.calls_since_due = 0;
            if tripped {
                known.trips.push(now());
            }
        }
    }
}
