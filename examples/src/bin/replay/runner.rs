//! Puts the steps of one trace through a real breaker.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use breaker_core::{
    Breaker, BuildError, Circuit, Clock as _, Event, EventKind, ManualClock, Outcome, OwnedPermit, Rejection,
    Settlement, Tally, Timestamp, config::Blueprint,
};

use crate::trace::{Op, Step};

/// A breaker whose clock only the trace moves, and the calls that are out.
pub struct Runner {
    clock: Arc<ManualClock>,
    breaker: Arc<Breaker>,
    /// The calls that have begun and not ended, `None` when they were rejected.
    calls: HashMap<u64, Option<OwnedPermit>>,
    events: Arc<Mutex<Vec<Event>>>,
    transitions: Vec<String>,
}

/// What a step did, and how the breaker stands after it.
#[derive(Debug)]
pub struct Seen {
    pub answer: Answer,
    pub at: Timestamp,
    pub state: Circuit,
    pub tally: Tally,
    /// Results of older epochs, so far.
    pub stale: u64,
    /// What this step made happen.
    pub events: Vec<Event>,
}

/// What the breaker said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing was asked.
    Nothing,
    Admitted,
    Rejected(Rejection),
    Settled(Settlement),
    /// The call whose result this is was rejected, so that it was never made.
    NeverMade,
    /// The circuit wants no probe.
    NoProbe,
    Probed(Settlement),
}

impl Runner {
    pub fn new(strategy: &Blueprint) -> Result<Self, BuildError> {
        let (clock, events) = (Arc::new(ManualClock::default()), Arc::new(Mutex::new(Vec::new())));
        let heard = Arc::clone(&events);
        let breaker = Breaker::builder(strategy.clone())
            .clock(Arc::clone(&clock) as _)
            .observer(Arc::new(move |event: &Event| {
                heard.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
            }))
            .probed()
            .build()?;
        Ok(Self { clock, breaker: Arc::new(breaker), calls: HashMap::new(), events, transitions: Vec::new() })
    }

    /// Does one step. An error says why it makes no sense where it stands.
    pub fn step(&mut self, step: &Step) -> Result<Seen, String> {
        let answer = match step.op {
            Op::Acquire => self.acquire(step.call)?,
            Op::Success => self.end(step, Outcome::Success)?,
            Op::Failure => self.end(step, Outcome::Failure)?,
            Op::Cancel => self.end(step, Outcome::Cancelled)?,
            Op::ProbeSuccess => self.probe(true),
            Op::ProbeFailure => self.probe(false),
            Op::Advance => {
                self.clock.advance(step.span);
                Answer::Nothing
            }
            Op::Reset => {
                self.breaker.reset();
                Answer::Nothing
            }
            Op::ForceOpen => {
                self.breaker.force_open();
                Answer::Nothing
            }
            Op::State | Op::Count | Op::Stale | Op::Events | Op::WallClockJump => Answer::Nothing,
        };
        Ok(self.look(answer))
    }

    /// Every change of state so far.
    pub fn transitions(&self) -> &[String] {
        &self.transitions
    }

    fn acquire(&mut self, call: u64) -> Result<Answer, String> {
        if let Some(Some(_)) = self.calls.get(&call) {
            return Err(format!("call {call} is still out; give each call that is out a number of its own"));
        }
        let acquired = self.breaker.acquire_owned();
        let answer =
            acquired.as_ref().map_or_else(|rejection| Answer::Rejected(*rejection), |_| Answer::Admitted);
        self.calls.insert(call, acquired.ok());
        Ok(answer)
    }

    fn end(&mut self, step: &Step, outcome: Outcome) -> Result<Answer, String> {
        let call = step.call;
        let Some(permit) = self.calls.remove(&call) else {
            return Err(format!("call {call} is not out: it was never acquired, or has ended already"));
        };
        Ok(match (permit, step.latency) {
            (None, _) => Answer::NeverMade,
            (Some(permit), None) => Answer::Settled(permit.settle(outcome)),
            (Some(permit), Some(latency)) => Answer::Settled(permit.settle_timed(outcome, latency)),
        })
    }

    fn probe(&self, healthy: bool) -> Answer {
        match self.breaker.begin_probe() {
            None => Answer::NoProbe,
            Some(probe) => Answer::Probed(self.breaker.finish_probe(probe, healthy)),
        }
    }

    fn look(&mut self, answer: Answer) -> Seen {
        let events = std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner));
        self.transitions.extend(events.iter().filter_map(transition));
        let snapshot = self.breaker.snapshot();
        Seen {
            answer,
            at: self.clock.now(),
            state: self.breaker.state().circuit(),
            tally: snapshot.tally,
            stale: snapshot.stale,
            events,
        }
    }
}

/// As traces write it. A reset that leads elsewhere is a change of state too.
fn transition(event: &Event) -> Option<String> {
    match event.kind {
        EventKind::Transition { from, to, .. } => Some(format!("{from}>{to}")),
        EventKind::Reset { from, to, .. } if from != to => Some(format!("{from}>{to}")),
        _ => None,
    }
}
