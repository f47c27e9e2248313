//! The circuits that something is to be done about, and when.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Weak},
    time::Duration,
};

use breaker_core::{Breaker, Circuit, Clock, ProbePlan, ProbeTicket, Timestamp};
use tokio::task::{AbortHandle, JoinSet};

use super::{Probe, registration::Entry, round::round, spread::Spread};
use crate::TokioClock;

/// After a strategy has panicked under the worker's hands.
const PANIC_PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Circuits<T> {
    pub(super) clock: TokioClock,
    /// The rounds under way, and some that were cut and have not ended yet.
    pub(super) rounds: JoinSet<Ended>,
    probe: Arc<dyn Probe<T>>,
    spread: Spread,
    /// By the number of their registration. Closed circuits are not here.
    known: HashMap<u64, Attended<T>>,
    /// When something is to be done, and about whom.
    due: BTreeSet<(Timestamp, u64)>,
    /// Whose round is due, and waits for others to end. Some have no need of one any more.
    queue: VecDeque<u64>,
    rounds_begun: u64,
}

struct Attended<T> {
    entry: Weak<Entry<T>>,
    task: Task,
}

/// What is to be done about a circuit.
enum Task {
    /// To look again, when time may have changed it.
    Look { at: Timestamp },
    /// To probe it as long as it is in this epoch.
    Probe { plan: ProbePlan, epoch: u64, fresh: bool, stage: Stage },
}

enum Stage {
    Due { at: Timestamp },
    Queued,
    Running { round: u64, ticket: ProbeTicket, next: Timestamp, handle: AbortHandle },
}

/// The verdict of a round of probes.
pub(super) struct Ended {
    number: u64,
    round: u64,
    healthy: bool,
}

/// A strategy panicked.
struct Panicked;

impl<T: Send + Sync + 'static> Circuits<T> {
    pub(super) fn new(probe: Arc<dyn Probe<T>>, spread: Spread) -> Self {
        Self {
            clock: TokioClock::new(),
            rounds: JoinSet::new(),
            probe,
            spread,
            known: HashMap::new(),
            due: BTreeSet::new(),
            queue: VecDeque::new(),
            rounds_begun: 0,
        }
    }

    /// When something is to be done next.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Finds out what is to be done about a circuit that may have changed.
    pub(super) fn look(&mut self, entry: &Arc<Entry<T>>) {
        entry.begin_look();
        let breaker = &*entry.breaker;
        let Ok((plan, epoch, due_in)) = caught(|| (breaker.probe_plan(), breaker.epoch(), due_in(breaker)))
        else {
            return self.look_later(entry);
        };
        let now = self.clock.now();
        match (plan, due_in) {
            (Some(_), _) if self.probes_in(entry.number, epoch) => {}
            (Some(plan), _) => {
                self.forget(entry.number);
                // Open, and open before, in another epoch: it started open or was reset. Else it has just been tripped.
                let fresh = entry.was_open(true);
                let delay = if fresh {
                    self.spread.join_fresh(plan.interval)
                } else {
                    self.spread.jittered(plan.interval)
                };
                let stage = Stage::Due { at: now + delay };
                self.attend(entry, Task::Probe { plan, epoch, fresh, stage });
            }
            (None, due_in) => {
                self.forget(entry.number);
                entry.was_open(false);
                entry.end_first_round();
                if let Some(due_in) = due_in {
                    self.attend(entry, Task::Look { at: now + due_in });
                }
            }
        }
    }

    /// Does what is due, as far as there is room for it.
    pub(super) fn knock(&mut self) {
        let now = self.clock.now();
        while let Some((at, number)) = self.due.pop_first() {
            if at > now {
                self.due.insert((at, number));
                break;
            }
            match self.known.get_mut(&number) {
                Some(Attended { task: Task::Probe { stage, .. }, .. }) => {
                    *stage = Stage::Queued;
                    self.queue.push_back(number);
                }
                Some(Attended { task: Task::Look { .. }, .. }) => self.look_again(number),
                None => {}
            }
        }
        while self.rounds.len() < self.spread.at_once {
            let Some(number) = self.queue.pop_front() else { return };
            self.begin_round(number, now);
        }
    }

    /// A round of the circuit, unless it has no need of one any more.
    fn begin_round(&mut self, number: u64, now: Timestamp) {
        let Some(Attended { entry, task: Task::Probe { plan, fresh, stage: stage @ Stage::Queued, .. } }) =
            self.known.get_mut(&number)
        else {
            return;
        };
        if std::mem::take(fresh) {
            self.spread.leave_fresh();
        }
        let Some(entry) = entry.upgrade() else { return self.forget(number) };
        match caught(|| entry.breaker.begin_probe()) {
            Ok(Some(ticket)) => {
                self.rounds_begun += 1;
                let (plan, round_number) = (*plan, self.rounds_begun);
                let probing = round(Arc::clone(&self.probe), entry, plan);
                let handle = self
                    .rounds
                    .spawn(async move { Ended { number, round: round_number, healthy: probing.await } });
                let next = now + self.spread.jittered(plan.interval);
                *stage = Stage::Running { round: round_number, ticket, next, handle };
            }
            Ok(None) => self.look_again(number),
            Err(Panicked) => self.look_later(&entry),
        }
    }

    /// A round has a verdict.
    pub(super) fn end_round(&mut self, Ended { number, round, healthy }: Ended) {
        let Some(Attended { entry, task: Task::Probe { epoch, stage, .. } }) = self.known.get_mut(&number)
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
        let (epoch, Some(entry)) = (*epoch, entry.upgrade()) else { return self.forget(number) };
        // A healthy verdict makes it half-open: if it is open when seen next, that was a trip.
        entry.was_open(!healthy);
        let settled = caught(|| {
            entry.breaker.finish_probe(ticket, healthy);
            entry.breaker.epoch()
        });
        match settled {
            Err(Panicked) => self.look_later(&entry),
            Ok(now_in) => {
                entry.end_round();
                if now_in == epoch {
                    *stage = Stage::Due { at: next };
                    self.due.insert((next, number));
                } else {
                    self.look(&entry);
                }
            }
        }
    }

    /// Nothing more is to be done about the circuit, for all that is known.
    pub(super) fn forget(&mut self, number: u64) {
        let Some(Attended { task, .. }) = self.known.remove(&number) else { return };
        if self.known.len() < self.known.capacity() / 8 {
            // After an outage of many: their room is not kept for the next one.
            self.known.shrink_to_fit();
            self.queue.shrink_to_fit();
        }
        match task {
            Task::Look { at } => {
                self.due.remove(&(at, number));
            }
            Task::Probe { fresh, stage, .. } => {
                if fresh {
                    self.spread.leave_fresh();
                }
                match stage {
                    Stage::Due { at } => {
                        self.due.remove(&(at, number));
                    }
                    Stage::Running { handle, .. } => handle.abort(),
                    Stage::Queued => {}
                }
            }
        }
    }

    fn attend(&mut self, entry: &Arc<Entry<T>>, task: Task) {
        if let Task::Look { at } | Task::Probe { stage: Stage::Due { at }, .. } = &task {
            self.due.insert((*at, entry.number));
        }
        self.known.insert(entry.number, Attended { entry: Arc::downgrade(entry), task });
    }

    fn look_again(&mut self, number: u64) {
        match self.known.get(&number).and_then(|attended| attended.entry.upgrade()) {
            Some(entry) => {
                self.forget(number);
                self.look(&entry);
            }
            None => self.forget(number),
        }
    }

    fn look_later(&mut self, entry: &Arc<Entry<T>>) {
        tracing::error!("a strategy panicked while it was probed; its circuit is looked at again soon");
        self.forget(entry.number);
        entry.was_open(false);
        entry.end_first_round();
        let at = self.clock.now() + PANIC_PAUSE;
        self.attend(entry, Task::Look { at });
    }

    fn probes_in(&self, number: u64, epoch: u64) -> bool {
        match self.known.get(&number) {
            Some(Attended { task: Task::Probe { epoch: present, .. }, .. }) => *present == epoch,
            _ => false,
        }
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
