//! A breaker whose clock only the test moves.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use super::Act;
use crate::{
    Breaker, Circuit, Clock as _, Event, EventKind, Evidence, ManualClock, OwnedPermit, Settlement, Tally,
    Timestamp, config::Blueprint,
};

/// A real [`Breaker`] on a clock that stands still until an [`Act`] moves it, and the calls that are out.
pub struct Bench {
    breaker: Arc<Breaker>,
    clock: Arc<ManualClock>,
    calls: BTreeMap<u64, OwnedPermit>,
    transitions: Arc<Mutex<Vec<String>>>,
}

/// What one act showed, and how the circuit stands after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "models build what they expect")]
pub struct Seen {
    /// The state.
    pub circuit: Circuit,
    /// The counts of the present window.
    pub tally: Tally,
    /// Whether a call was admitted; `None` where none asked.
    pub permitted: Option<bool>,
    /// Whether a result was of an older epoch; `None` where there was none.
    pub stale: Option<bool>,
}

impl Bench {
    /// A circuit in its start state, at the origin of time.
    pub fn new(blueprint: &Blueprint) -> Self {
        Self::with(blueprint, None)
    }

    /// A circuit that has taken over `evidence`.
    ///
    /// # Panics
    ///
    /// Never: somebody probes here.
    pub(super) fn with(blueprint: &Blueprint, evidence: Option<&Evidence>) -> Self {
        let (clock, transitions) = (Arc::new(ManualClock::default()), Arc::<Mutex<Vec<String>>>::default());
        let heard = Arc::clone(&transitions);
        let observer = move |event: &Event| {
            if let Some(transition) = transition(event) {
                heard.lock().unwrap_or_else(PoisonError::into_inner).push(transition);
            }
        };
        let builder = Breaker::builder(blueprint.clone()).clock(Arc::clone(&clock) as _);
        let builder = builder.observer(Arc::new(observer)).probed();
        let builder = match evidence {
            Some(evidence) => builder.adopt(evidence.clone()),
            None => builder,
        };
        let breaker = builder.build().unwrap_or_else(|error| panic!("{error}"));
        Self { breaker: Arc::new(breaker), clock, calls: BTreeMap::new(), transitions }
    }

    /// Does one act. A call that is not out, or is out already, is passed over.
    pub fn step(&mut self, act: Act) -> Seen {
        let (mut permitted, mut stale) = (None, None);
        match act {
            Act::Acquire(call) if self.calls.contains_key(&call) => {}
            Act::Acquire(call) => permitted = Some(self.acquire(call)),
            Act::Settle { .. } => stale = self.settle(act).map(|settled| settled == Settlement::Stale),
            Act::Advance(span) => drop(self.clock.advance(span)),
            Act::Probe(healthy) => {
                if let Some(probe) = self.breaker.begin_probe() {
                    self.breaker.finish_probe(probe, healthy);
                }
            }
            Act::Reset => self.breaker.reset(),
            Act::ForceOpen => self.breaker.force_open(),
        }
        Seen {
            circuit: self.breaker.state().circuit(),
            tally: self.breaker.snapshot().tally,
            permitted,
            stale,
        }
    }

    /// The breaker.
    pub fn breaker(&self) -> &Arc<Breaker> {
        &self.breaker
    }

    /// What its clock shows.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The calls that are out, those of older epochs too.
    pub fn calls(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.calls.keys().copied()
    }

    /// Every change of state so far, as `"closed>open"`.
    pub fn transitions(&self) -> Vec<String> {
        self.transitions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn acquire(&mut self, call: u64) -> bool {
        let acquired = self.breaker.acquire_owned().ok();
        let permitted = acquired.is_some();
        self.calls.extend(acquired.map(|permit| (call, permit)));
        permitted
    }

    /// How many calls more would be admitted, of so many at most.
    pub(super) fn free_places(&self, most: u32) -> u32 {
        let admitted: Vec<_> = (0..most).map_while(|_| self.breaker.acquire_owned().ok()).collect();
        u32::try_from(admitted.len()).unwrap_or(most)
    }

    /// The epoch in which a call that is out was admitted.
    pub(super) fn epoch_of(&self, call: u64) -> Option<u64> {
        self.calls.get(&call).and_then(OwnedPermit::epoch)
    }

    pub(super) fn settle(&mut self, act: Act) -> Option<Settlement> {
        let Act::Settle { call, outcome, latency } = act else { return None };
        let permit = self.calls.remove(&call)?;
        Some(match latency {
            Some(latency) => permit.settle_timed(outcome, latency),
            None => permit.settle(outcome),
        })
    }
}

fn transition(event: &Event) -> Option<String> {
    match event.kind {
        EventKind::Transition { from, to, .. } => Some(format!("{from}>{to}")),
        EventKind::Reset { from, to } if from != to => Some(format!("{from}>{to}")),
        _ => None,
    }
}

impl fmt::Debug for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls: Vec<u64> = self.calls().collect();
        f.debug_struct("Bench").field("breaker", &self.breaker).field("calls", &calls).finish_non_exhaustive()
    }
}
