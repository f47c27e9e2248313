//! A world: hosts, the network between them, and what happens to both.

use std::{fmt, time::Duration};

use fastrand::Rng;
use turmoil::Sim;

use crate::{
    client::{self, Divided, Part, Whole},
    laws::{Ledger, Sums},
    plan::{self, Act, Fault},
    settings::Settings,
    store::{Change, Store},
    truth::{Host, Manner, Node, Shared, Touch, Truth},
    wire,
};

const TICK: Duration = Duration::from_millis(100);
/// What the clients of a world call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Four replicas, and a fifth that takes the place of one of them.
    Whole,
    /// Two partitions at first, of three replicas each.
    Divided,
}

impl Shape {
    pub(crate) fn hosts(self) -> Vec<Host> {
        let (nodes, services): (u8, &[_]) = match self {
            Self::Whole => (5, &[Host::Gateway]),
            Self::Divided => (7, &[Host::Gateway, Host::Map]),
        };
        (0..nodes).map(|node| Host::Node(Node(node))).chain(services.iter().copied()).collect()
    }

    pub(crate) fn store(self) -> Store {
        match self {
            Self::Whole => Store::new(5, 1, 4),
            Self::Divided => Store::new(7, 2, 3),
        }
    }

    const fn clients(self) -> usize {
        match self {
            Self::Whole => 2,
            Self::Divided => 1,
        }
    }
}

pub(crate) struct World {
    seed: u64,
    shape: Shape,
    settings: Settings,
    /// How long things go wrong, and how long nothing does any more after that.
    trouble: Duration,
    calm: Duration,
}

/// What became of it.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) broken: Option<String>,
    pub(crate) trace: Vec<String>,
    simulated: Duration,
    changes: usize,
    pub(crate) sums: Sums,
}

impl Report {
    pub(crate) fn add(&mut self, other: &Self) {
        self.simulated += other.simulated;
        self.changes += other.changes;
        self.sums.add(&other.sums);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hours = self.simulated.as_secs_f64() / 3_600.0;
        let Sums { calls, failed, judged, moving, trips, probes, openings, answers, questions, maps } =
            self.sums;
        write!(
            f,
            "{hours:.1} hours: {calls} calls, {judged} of them with a good replica in reach, {moving} of these while their \
             partition changed, {failed} failed; {} changes; {trips} trips, {probes} probes, {openings} validations, \
             {questions} questions for addresses, {answers} of them answered, {maps} for the map",
            self.changes
        )
    }
}

impl World {
    pub(crate) fn new(seed: u64, shape: Shape) -> Self {
        let (settings, trouble, calm) = match shape {
            Shape::Whole => (Settings::of(seed), 1_800, 600),
            Shape::Divided => (Settings::divided(seed), 780, 420),
        };
        let (trouble, calm) = (Duration::from_secs(trouble), Duration::from_secs(calm));
        Self { seed, shape, settings, trouble, calm }
    }

    /// With trouble for another time, and without the calm after it.
    pub(crate) fn lasting(self, trouble: Duration) -> Self {
        Self { trouble, calm: Duration::ZERO, ..self }
    }

    pub(crate) fn run(self) -> Report {
        // The pool's own dice are thrown by the thread's.
        fastrand::seed(self.seed);
        let mut rng = Rng::with_seed(self.seed.wrapping_mul(31) + 7);
        let (hosts, clients) = (self.shape.hosts(), self.shape.clients());
        let acts = match self.shape {
            Shape::Whole => plan::whole(&mut rng, &hosts, clients, self.trouble),
            Shape::Divided => plan::divided(&mut rng, &hosts, clients, self.trouble),
        };
        let truth = Shared::new(self.shape.store(), &hosts, clients);
        let end = self.trouble + self.calm;
        let mut sim = stage(self.seed, &truth, &hosts);
        let ledgers: Vec<_> =
            (0..clients).map(|number| Ledger::new(number, self.settings.clone(), truth.clone())).collect();
        for ledger in &ledgers {
            let part = Part { ledger: ledger.clone(), end, rng: rng.fork() };
            match self.shape {
                Shape::Whole => sim.client(ledger.name(), client::play::<Whole>(part)),
                Shape::Divided => sim.client(ledger.name(), client::play::<Divided>(part)),
            }
        }
        let mut acts = acts.into_iter().peekable();
        let broken = loop {
            while let Some((_, act)) = acts.next_if(|(at, _)| *at <= sim.elapsed()) {
                apply(&mut sim, &truth, clients, &mut rng, act);
            }
            let step = sim.step();
            if let Some(broken) = truth.lock().broken.take() {
                break Some(broken);
            }
            match step {
                Ok(true) => break None,
                Ok(false) => {}
                Err(error) => break Some(error.to_string()),
            }
        };
        let broken = broken.map(|broken| format!("{broken}\nsettings: {}", self.settings.text));
        let mut report = Report { broken, simulated: sim.elapsed(), ..Report::default() };
        ledgers.iter().for_each(|ledger| report.sums.add(&ledger.sums()));
        let mut truth = truth.lock();
        report.changes = truth.changes();
        report.trace = std::mem::take(&mut truth.trace);
        report
    }
}

/// The network with its hosts.
pub(crate) fn stage(seed: u64, truth: &Shared, hosts: &[Host]) -> Sim<'static> {
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .tick_duration(TICK)
        .simulation_duration(Duration::from_secs(86_400))
        .min_message_latency(Duration::from_millis(5))
        .max_message_latency(Duration::from_millis(60))
        .tcp_capacity(4_096)
        .ephemeral_ports(10_000..=65_535)
        .build();
    for host in hosts.iter().copied() {
        let truth = truth.clone();
        sim.host(host.to_string(), move || wire::serve(truth.clone(), host));
    }
    sim
}

fn apply(sim: &mut Sim<'_>, truth: &Shared, clients: usize, rng: &mut Rng, act: Act) {
    let now = sim.elapsed();
    let whom = |client: Option<usize>| client.map_or(0..clients, |client| client..client + 1);
    {
        let mut truth = truth.lock();
        truth.trace.push(format!("{now:?} {act:?}"));
        truth.quiet_since = now;
    }
    match act {
        Act::Begin { target, fault, client } => {
            truth.lock().set_well(whom(client), target, None);
            turn(sim, truth, target, fault, whom(client), true);
        }
        Act::End { target, fault, client } => {
            turn(sim, truth, target, fault, whom(client), false);
            truth.lock().set_well(whom(client), target, Some(now));
        }
        _ => alter(&mut truth.lock(), rng, act, now),
    }
}

/// The store changes, or what is said of it.
fn alter(truth: &mut Truth, rng: &mut Rng, act: Act, now: Duration) {
    let version = truth.store.map.version;
    match act {
        Act::Announce(change) => {
            // Not every change can be made everywhere.
            let found = [change, Change::Split, Change::Migrate]
                .into_iter()
                .find_map(|change| Some((change, truth.store.announce(change, rng)?)));
            if let Some((change, keys)) = found {
                truth.touches.push(Touch { keys, from: now, made: None, of_map: change.is_of_map() });
            }
        }
        Act::Change { told } => {
            truth.store.change(rng);
            if let Some(touch) = truth.touches.last_mut() {
                touch.made.get_or_insert(now);
            }
            if told {
                truth.store.tell_map();
                truth.store.tell_addresses();
            }
        }
        Act::TellAddresses => truth.store.tell_addresses(),
        Act::TellMap => truth.store.tell_map(),
        Act::TellOld(back) => truth.store.tell_old(back),
        Act::Begin { .. } | Act::End { .. } => {}
    }
    if truth.store.map.version > version {
        truth.told_maps.push(now);
    }
    truth.note_change(now);
    let (is, said) = (&truth.store.now, &truth.store.addresses.serving);
    let line = format!(
        "{now:?} {:?} {:?} {:?}, said: {} {said:?}",
        is.version, is.starts, is.serving, truth.store.map.version
    );
    truth.trace.push(line);
}

/// A fault begins or ends.
fn turn(
    sim: &mut Sim<'_>,
    truth: &Shared,
    target: Host,
    fault: Fault,
    clients: std::ops::Range<usize>,
    on: bool,
) {
    let host = target.to_string();
    for client in clients.map(client_name) {
        let (client, host) = (client.as_str(), host.as_str());
        match (fault, on) {
            (Fault::Partition, true) => sim.partition(client, host),
            (Fault::Partition, false) => sim.repair(client, host),
            (Fault::Hold, true) => sim.hold(client, host),
            (Fault::Hold, false) => sim.release(client, host),
            (Fault::Lag(time), true) => sim.set_link_latency(client, host, time),
            (Fault::Lag(_), false) => sim.set_link_latency(client, host, Duration::from_millis(20)),
            _ => {}
        }
    }
    let manner = match (fault, on) {
        (Fault::Mute, true) => Manner::Mute,
        (Fault::Fails, true) => Manner::Fails,
        (Fault::Slow(time), true) => Manner::Slow(time),
        (Fault::Crash, true) => return sim.crash(host),
        (Fault::Crash, false) => return sim.bounce(host),
        _ => Manner::Well,
    };
    truth.lock().set_manner(target, manner);
}

pub(crate) fn client_name(number: usize) -> String {
    format!("c{number}")
}
