//! What must hold, looked at from one client.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use breaker_core::{Circuit, Event, EventKind, Observer};
use replica_pool::{Diagnostics, HealthStatus, ReplicaPool, ReplicaStatus};

use crate::{
    crowd::Crowd,
    settings::{DEADLINE, SLACK, Settings},
    truth::{Node, Shared},
    wire::Trouble,
    world::client_name,
};

pub(crate) type Pool = ReplicaPool<Node>;
pub(crate) type Answer = Result<Node, replica_pool::CallError<Trouble>>;

/// What happened, in numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) calls: usize,
    pub(crate) failed: usize,
    pub(crate) judged: usize,
    pub(crate) trips: usize,
    pub(crate) probes: usize,
    pub(crate) openings: usize,
    pub(crate) answers: usize,
}

/// What a client knows of one replica.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Since when it has been in the set.
    present_since: Duration,
    /// Since when its circuit has been open, as far as was seen.
    open_since: Option<Duration>,
    /// When it opened last.
    opened_at: Option<Duration>,
    /// When it was tripped.
    trips: Vec<Duration>,
    /// Calls since it should be back, or was tripped.
    calls_since_due: usize,
}

#[derive(Debug)]
pub(crate) struct Book {
    version: u64,
    known: BTreeMap<Node, Known>,
    /// Who are at it, and since when.
    pub(crate) crowds: HashMap<Crowd, Vec<(Node, Duration)>>,
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
    at: Duration,
    version: u64,
    /// Replicas that admit calls.
    admitting: Vec<Node>,
}

pub(crate) fn now() -> Duration {
    turmoil::sim_elapsed().unwrap_or_default()
}

impl Ledger {
    pub(crate) fn new(number: usize, settings: Settings, truth: Shared) -> Self {
        let book = Book {
            version: 0,
            known: BTreeMap::new(),
            crowds: HashMap::new(),
            answered_at: Duration::ZERO,
            sums: Sums::default(),
        };
        Self { number, settings, truth, book: Arc::new(Mutex::new(book)) }
    }

    pub(crate) fn name(&self) -> String {
        client_name(self.number)
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn sums(&self) -> Sums {
        self.book().sums.clone()
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

    /// Notes who is in the set.
    fn see(&self, pool: &Pool) -> u64 {
        let (set, now) = (pool.replicas(), now());
        let mut book = self.book();
        // Whoever was there before and after the next change has been there all the time.
        let followed = set.version() <= book.version + 1;
        if set.version() != book.version {
            let before = std::mem::take(&mut book.known);
            for node in set.replicas().iter().map(|replica| *replica.address()) {
                let stayed = before.get(&node).filter(|_| followed).cloned();
                let new = || Known { present_since: now, ..Known::default() };
                book.known.insert(node, stayed.unwrap_or_else(new));
            }
            book.version = set.version();
        }
        for replica in set.replicas() {
            let is_open = replica.breaker().state().circuit() == Circuit::Open;
            if let Some(known) = book.known.get_mut(replica.address()) {
                known.open_since = if is_open { known.open_since.or(Some(now)) } else { None };
            }
        }
        set.version()
    }

    /// Since when `node` has been well, and in the set.
    fn well_since(&self, node: Node, known: &Known) -> Option<Duration> {
        Some(self.truth.good_since(self.number, node)?.max(known.present_since))
    }

    pub(crate) fn begin(&self, pool: &Pool) -> Begun {
        let version = self.see(pool);
        let book = self.book();
        let admitting =
            book.known.iter().filter(|(_, known)| known.open_since.is_none()).map(|(node, _)| *node);
        Begun { at: now(), version, admitting: admitting.collect() }
    }

    /// A call has ended.
    pub(crate) fn end(&self, begun: &Begun, pool: &Pool, answer: &Answer, seen: &Diagnostics) {
        let version = self.see(pool);
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
        if took > DEADLINE + SLACK {
            self.breaks("no call outlives its deadline", format_args!("it took {took:?}"));
        }
        let reachable = begun
            .admitting
            .iter()
            .copied()
            .find(|node| version <= begun.version + 1 && self.was_reachable(*node, begun.at));
        {
            let mut book = self.book();
            book.sums.calls += 1;
            book.sums.failed += usize::from(answer.is_err());
            book.sums.judged += usize::from(reachable.is_some());
        }
        if let (Some(node), Err(error)) = (reachable, answer) {
            let how = format_args!("{node} was, from {:?} on: {error} {error:?} {seen:?}", begun.at);
            self.breaks("no request fails while a good replica is reachable", how);
        }
        let list = &seen.replica_status_list;
        for status in list.attempting.iter().chain(&list.ignoring) {
            self.look_at(status, begun.at);
        }
    }

    /// Whether a call that began at `at` and ends now can't have failed for want of this one: it has been well all the
    /// time, whatever was under way before had ended, and its circuit has admitted calls.
    fn was_reachable(&self, node: Node, at: Duration) -> bool {
        let Some(known) = self.book().known.get(&node).cloned() else { return false };
        let well = self.well_since(node, &known).is_some_and(|since| since + self.settings.settled() <= at);
        well && known.open_since.is_none() && known.opened_at.is_none_or(|opened| opened < at)
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
    pub(crate) fn check(&self, pool: &Pool) {
        self.see(pool);
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
    pub(crate) fn check_the_end(&self, pool: &Pool) {
        self.check(pool);
        let law = "nothing is stuck at the end";
        let (snapshot, settings) = (pool.snapshot(), &self.settings);
        let set = pool.replicas();
        let mut members = self.truth.lock().members.clone();
        let mut found: Vec<_> = set.replicas().iter().map(|replica| *replica.address()).collect();
        members.sort();
        found.sort();
        // In a list, nobody asks those behind the first that is well, and nobody learns that they have left.
        let learns = settings.shuffled || settings.asks_by_itself();
        if learns && members != found {
            self.breaks(law, format_args!("the set is {found:?}, the truth {members:?}"));
        }
        // The timer of the interval is a task.
        let own = usize::from(settings.asks_by_itself());
        if snapshot.background_tasks != own {
            self.breaks(law, format_args!("{} tasks are left", snapshot.background_tasks));
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
        for (crowd, nodes) in &self.book().crowds {
            if !nodes.is_empty() {
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
        let tripped = match event.kind {
            EventKind::Transition { to: Circuit::Open, .. } => true,
            EventKind::Reset { to: Circuit::Open, .. } => false,
            _ => return,
        };
        book.sums.trips += usize::from(tripped);
        if let Some((_, known)) = book.known.iter_mut().find(|(node, _)| node.to_string() == name) {
            known.opened_at = Some(now());
            known.open_since = Some(now());
            known.calls_since_due = 0;
            if tripped {
                known.trips.push(now());
            }
        }
    }
}
