//! The circuits that something is to be done about, and when.

use std::{
    collections::{HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Weak},
    time::Duration,
};

use breaker_core::{Breaker, Circuit, Clock, ProbePlan, ProbeTicket, Timestamp};
use tokio::task::{AbortHandle, JoinSet};

use super::{
    Probe,
    agenda::{Agenda, Turn},
    attended::Attended,
    line::{Address, Line, address},
    round::round,
    spread::Spread,
};
use crate::TokioClock;

/// After a strategy has panicked under the worker's hands.
const PANIC_PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Circuits<T> {
    pub(super) clock: TokioClock,
    /// The rounds under way, and some that were cut and have not ended yet.
    pub(super) rounds: JoinSet<Ended>,
    /// By the address of their owners, which stays theirs as long as one of them is here. Closed circuits are not.
    pub(super) known: HashMap<Address, Case<T>>,
    line: Line<T>,
    probe: Arc<dyn Probe<T>>,
    spread: Spread,
    agenda: Agenda,
    /// Whose round is due, and waits for others to end. Some have no need of one any more.
    queue: VecDeque<Address>,
    rounds_begun: u64,
}

pub(super) struct Case<T> {
    owner: Weak<T>,
    task: Task,
}

/// What is to be done about a circuit.
enum Task {
    /// To look again, when time may have changed it.
    Look { turn: Turn },
    /// To probe it as long as it is in this epoch.
    Probe { plan: ProbePlan, epoch: u64, fresh: bool, stage: Stage },
}

enum Stage {
    Due { turn: Turn },
    Queued,
    Running { round: u64, ticket: ProbeTicket, next: Timestamp, handle: AbortHandle },
}

/// The verdict of a round of probes.
pub(super) struct Ended {
    address: Address,
    round: u64,
    healthy: bool,
}

/// A strategy panicked.
struct Panicked;

impl<T: Attended> Circuits<T> {
    pub(super) fn new(line: Line<T>, probe: Arc<dyn Probe<T>>, spread: Spread) -> Self {
        Self {
            clock: TokioClock::new(),
            rounds: JoinSet::new(),
            line,
            probe,
            spread,
            known: HashMap::new(),
            agenda: Agenda::default(),
            queue: VecDeque::new(),
            rounds_begun: 0,
        }
    }

    /// When something is to be done next.
    pub(super) fn next_due(&mut self) -> Option<Timestamp> {
        self.agenda.next(|address, turn| stands(&self.known, address, turn))
    }

    /// Finds out what is to be done about a circuit that may have changed.
    pub(super) fn look(&mut self, owner: &Arc<T>) {
        let (notes, breaker, at) = (owner.notes(), owner.breaker(), address(&**owner));
        notes.begin_look();
        if !notes.are_attended() {
            // It was dismissed after it changed, and heard of before.
            return self.forget(at);
        }
        let Ok((plan, epoch, due_in)) = caught(|| (breaker.probe_plan(), breaker.epoch(), due_in(breaker)))
        else {
            return self.look_later(owner);
        };
        let now = self.clock.now();
        match (plan, due_in) {
            (Some(_), _) if self.probes_in(at, epoch) => {}
            (Some(plan), _) => {
                self.forget(at);
                // Open, and open before, in another epoch: it started open or was reset. Else it has just been tripped.
                let fresh = notes.was_open(true);
                let delay = if fresh {
                    self.spread.join_fresh(plan.interval)
                } else {
                    self.spread.jittered(plan.interval)
                };
                let stage = Stage::Due { turn: self.agenda.put(now + delay, at) };
                self.attend(owner, Task::Probe { plan, epoch, fresh, stage });
            }
            (None, due_in) => {
                self.forget(at);
                notes.was_open(false);
                self.line.end_first_round(owner);
                if let Some(due_in) = due_in {
                    let turn = self.agenda.put(now + due_in, at);
                    self.attend(owner, Task::Look { turn });
                }
            }
        }
    }

    /// Does what is due, as far as there is room for it.
    pub(super) fn knock(&mut self) {
        let now = self.clock.now();
        while let Some(address) = self.agenda.take(now, |address, turn| stands(&self.known, address, turn)) {
            match self.known.get_mut(&address) {
                Some(Case { task: Task::Probe { stage, .. }, .. }) => {
                    *stage = Stage::Queued;
                    self.queue.push_back(address);
                }
                Some(Case { task: Task::Look { .. }, .. }) => self.look_again(address),
                None => {}
            }
        }
        while self.rounds.len() < self.spread.at_once {
            let Some(address) = self.queue.pop_front() else { return };
            self.begin_round(address, now);
        }
    }

    /// A round of the circuit, unless it has no need of one any more.
    fn begin_round(&mut self, address: Address, now: Timestamp) {
        let Some(Case { owner, task: Task::Probe { plan, fresh, stage: stage @ Stage::Queued, .. } }) =
            self.known.get_mut(&address)
        else {
            return;
        };
        if std::mem::take(fresh) {
            self.spread.leave_fresh();
        }
        let Some(owner) = owner.upgrade() else { return self.forget(address) };
        match caught(|| owner.breaker().begin_probe()) {
            Ok(Some(ticket)) => {
                self.rounds_begun += 1;
                let (plan, nth) = (*plan, self.rounds_begun);
                let probing = round(Arc::clone(&self.probe), owner, plan);
                let handle =
                    self.rounds.spawn(async move { Ended { address, round: nth, healthy: probing.await } });
                let next = now + self.spread.jittered(plan.interval);
                *stage = Stage::Running { round: nth, ticket, next, handle };
            }
            Ok(None) => self.look_again(address),
            Err(Panicked) => self.look_later(&owner),
        }
    }

    /// A round has a verdict.
    pub(super) fn end_round(&mut self, Ended { address, round, healthy }: Ended) {
        let Some(Case { owner, task: Task::Probe { epoch, stage, .. } }) = self.known.get_mut(&address)
        else {
            return;
        };
        let (ticket, next) = match std::mem::replace(stage, Stage::Queued) {
            Stage::Running { round: running, ticket, next, .. } if running == round => (ticket, next),
            // It was cut too late to be stopped.
            other => {
                *stage = other;
                return;
            }
        };
        let (epoch, Some(owner)) = (*epoch, owner.upgrade()) else { return self.forget(address) };
        // A healthy verdict makes it half-open: if it is open when seen next, that was a trip.
        owner.notes().was_open(!healthy);
        let settled = caught(|| {
            owner.breaker().finish_probe(ticket, healthy);
            owner.breaker().epoch()
        });
        match settled {
            Err(Panicked) => self.look_later(&owner),
            Ok(now_in) => {
                owner.round_ended();
                self.line.end_first_round(&owner);
                if now_in == epoch {
                    *stage = Stage::Due { turn: self.agenda.put(next, address) };
                } else {
                    self.look(&owner);
                }
            }
        }
    }

    /// Nothing more is to be done about the circuit, for all that is known.
    pub(super) fn forget(&mut self, address: Address) {
        let Some(Case { task, .. }) = self.known.remove(&address) else { return };
        if self.known.len() < self.known.capacity() / 8 {
            // After an outage of many: their room is not kept for the next one.
            self.known.shrink_to_fit();
            self.queue.shrink_to_fit();
            self.agenda.tidy(|address, turn| stands(&self.known, address, turn));
        }
        let Task::Probe { fresh, stage, .. } = task else { return };
        if fresh {
            self.spread.leave_fresh();
        }
        if let Stage::Running { handle, .. } = stage {
            handle.abort();
        }
    }

    fn attend(&mut self, owner: &Arc<T>, task: Task) {
        self.known.insert(address(&**owner), Case { owner: Arc::downgrade(owner), task });
        if self.agenda.is_littered(self.known.len()) {
            self.agenda.tidy(|address, turn| stands(&self.known, address, turn));
        }
    }

    fn look_again(&mut self, address: Address) {
        match self.known.get(&address).and_then(|case| case.owner.upgrade()) {
            Some(owner) => {
                self.forget(address);
                self.look(&owner);
            }
            None => self.forget(address),
        }
    }

    fn look_later(&mut self, owner: &Arc<T>) {
        tracing::error!("a strategy panicked while it was probed; its circuit is looked at again soon");
        self.forget(address(&**owner));
        owner.notes().was_open(false);
        self.line.end_first_round(owner);
        let turn = self.agenda.put(self.clock.now() + PANIC_PAUSE, address(&**owner));
        self.attend(owner, Task::Look { turn });
    }

    fn probes_in(&self, address: Address, epoch: u64) -> bool {
        match self.known.get(&address) {
            Some(Case { task: Task::Probe { epoch: present, .. }, .. }) => *present == epoch,
            _ => false,
        }
    }
}

/// Whether an entry of the agenda is still what is to be done next about a circuit.
fn stands<T>(known: &HashMap<Address, Case<T>>, address: Address, turn: Turn) -> bool {
    match known.get(&address).map(|case| &case.task) {
        Some(Task::Look { turn: next } | Task::Probe { stage: Stage::Due { turn: next }, .. }) => {
            *next == turn
        }
        _ => false,
    }
}

fn caught<R>(operation: impl FnOnce() -> R) -> Result<R, Panicked> {
    catch_unwind(AssertUnwindSafe(operation)).map_err(|_| Panicked)
}

/// How long until time alone changes a circuit that is not open.
fn due_in(breaker: &Breaker) -> Option<Duration> {
    let status = breaker.status();
    let until = status.until.filter(|_| status.circuit != Circuit::Open)?;
    Some(until.since(breaker.clock().now()))
}
