//! A world: hosts, the network between them, and what happens to both.

use std::{fmt, time::Duration};

use fastrand::Rng;
use turmoil::Sim;

use crate::{
    client::{self, Part},
    laws::{Ledger, Sums},
    plan::{Act, Fault, Target, plan},
    settings::Settings,
    truth::{Manner, Node, Shared},
    wire,
};

pub(crate) const NODES: u8 = 5;
pub(crate) const MEMBERS: u8 = 4;
const CLIENTS: usize = 2;
const TICK: Duration = Duration::from_millis(100);
/// Nothing goes wrong any more for that long before the end.
const CALM: Duration = Duration::from_secs(600);

pub(crate) struct World {
    seed: u64,
    settings: Settings,
    /// How long things go wrong, and how long they don't after that.
    trouble: Duration,
    calm: Duration,
}

/// What became of it.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) broken: Option<String>,
    pub(crate) trace: Vec<String>,
    simulated: Duration,
    pub(crate) calls: usize,
    failed: usize,
    /// Calls for which a good replica was reachable.
    pub(crate) judged: usize,
    pub(crate) trips: usize,
    probes: usize,
    openings: usize,
    pub(crate) answers: usize,
}

impl Report {
    pub(crate) fn add(&mut self, other: &Self) {
        self.simulated += other.simulated;
        self.calls += other.calls;
        self.failed += other.failed;
        self.judged += other.judged;
        self.trips += other.trips;
        self.probes += other.probes;
        self.openings += other.openings;
        self.answers += other.answers;
    }

    fn count(&mut self, sums: &Sums) {
        self.calls += sums.calls;
        self.failed += sums.failed;
        self.judged += sums.judged;
        self.trips += sums.trips;
        self.probes += sums.probes;
        self.openings += sums.openings;
        self.answers += sums.answers;
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hours = self.simulated.as_secs_f64() / 3_600.0;
        let Self { calls, failed, judged, trips, probes, openings, answers, .. } = self;
        write!(
            f,
            "{hours:.1} hours: {calls} calls, {judged} of them with a good replica in reach, {failed} failed; {trips} \
             trips, {probes} probes, {openings} validations, {answers} answers of the gateway"
        )
    }
}

impl World {
    pub(crate) fn new(seed: u64, settings: Settings) -> Self {
        Self { seed, settings, trouble: Duration::from_secs(1_800), calm: CALM }
    }

    /// Of another length than half an hour, and without the calm after it.
    pub(crate) fn lasting(self, trouble: Duration) -> Self {
        Self { trouble, calm: Duration::ZERO, ..self }
    }

    pub(crate) fn run(self) -> Report {
        // The pool's own dice are thrown by the thread's.
        fastrand::seed(self.seed);
        let mut rng = Rng::with_seed(self.seed.wrapping_mul(31) + 7);
        let acts = plan(&mut rng, NODES, CLIENTS, self.trouble);
        let truth = Shared::new(NODES, MEMBERS, CLIENTS);
        let end = self.trouble + self.calm;
        let mut sim = stage(self.seed, &truth);
        let ledgers: Vec<_> =
            (0..CLIENTS).map(|number| Ledger::new(number, self.settings.clone(), truth.clone())).collect();
        for ledger in &ledgers {
            let part = Part { ledger: ledger.clone(), end, rng: rng.fork() };
            sim.client(ledger.name(), client::play(part));
        }
        let mut acts = acts.into_iter().peekable();
        let broken = loop {
            while let Some((_, act)) = acts.next_if(|(at, _)| *at <= sim.elapsed()) {
                apply(&mut sim, &truth, &mut rng, act);
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
        ledgers.iter().for_each(|ledger| report.count(&ledger.sums()));
        report.trace = std::mem::take(&mut truth.lock().trace);
        report
    }
}

/// The network, the replicas and the gateway.
pub(crate) fn stage(seed: u64, truth: &Shared) -> Sim<'static> {
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .tick_duration(TICK)
        .simulation_duration(Duration::from_secs(86_400))
        .min_message_latency(Duration::from_millis(5))
        .max_message_latency(Duration::from_millis(60))
        .tcp_capacity(4_096)
        .ephemeral_ports(10_000..=65_535)
        .build();
    let hosts = (0..NODES).map(|node| Some(Node(node))).chain([None]);
    for node in hosts {
        let (name, truth) = (host_name(node), truth.clone());
        sim.host(name, move || wire::serve(truth.clone(), node));
    }
    sim
}

fn clients(client: Option<usize>) -> Vec<usize> {
    client.map_or_else(|| (0..CLIENTS).collect(), |client| vec![client])
}

fn apply(sim: &mut Sim<'_>, truth: &Shared, rng: &mut Rng, act: Act) {
    let now = sim.elapsed();
    truth.lock().trace.push(format!("{now:?} {act:?}"));
    match act {
        Act::Begin { target, fault, client } => {
            if let Target::Node(node) = target {
                truth.lock().set_good(clients(client), node, None);
            }
            turn(sim, truth, target, fault, client, true);
        }
        Act::End { target, fault, client } => {
            turn(sim, truth, target, fault, client, false);
            if let Target::Node(node) = target {
                truth.lock().set_good(clients(client), node, Some(now));
            }
        }
        Act::Move => {
            let mut truth = truth.lock();
            let Some(spare) = (0..NODES).map(Node).find(|node| !truth.members.contains(node)) else { return };
            let place = rng.usize(..truth.members.len());
            let leaver = std::mem::replace(&mut truth.members[place], spare);
            truth.set_good(0..CLIENTS, leaver, None);
            // What goes wrong with it goes on: it is good once that is over, or from now on.
            let well = truth.is_spared(spare);
            truth.set_good(0..CLIENTS, spare, well.then_some(now));
        }
        Act::Learn => {
            let mut truth = truth.lock();
            truth.named = truth.members.clone();
        }
    }
}

/// A fault begins or ends.
fn turn(sim: &mut Sim<'_>, truth: &Shared, target: Target, fault: Fault, client: Option<usize>, on: bool) {
    let host = match target {
        Target::Node(node) => host_name(Some(node)),
        Target::Gateway => host_name(None),
    };
    truth.lock().set_faulty(target, on);
    for client in clients(client).into_iter().map(client_name) {
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
        (Fault::Crash, true) => return sim.crash(host.as_str()),
        (Fault::Crash, false) => return sim.bounce(host.as_str()),
        _ => Manner::Well,
    };
    let mut truth = truth.lock();
    match target {
        Target::Node(node) => truth.manners[usize::from(node.0)] = manner,
        Target::Gateway => truth.gateway = manner,
    }
}

/// The host of a replica, or of the gateway.
pub(crate) fn host_name(node: Option<Node>) -> String {
    node.map_or_else(|| "gateway".to_owned(), |node| node.to_string())
}

pub(crate) fn client_name(number: usize) -> String {
    format!("c{number}")
}
