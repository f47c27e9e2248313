//! One sequence, and the laws that are checked at each of its acts.

mod look;
mod rescue;

use std::time::Duration;

use self::look::Look;
use super::{Act, Bench, Law, plan::Move};
use crate::{Circuit, Evidence, Outcome, Settlement, State, Timestamp, config::Blueprint};

/// How often in one sequence a law is checked that takes a replay of the whole.
const REPLAYS: u32 = 6;

/// A law that does not hold, and what shows it.
#[derive(Clone, Debug)]
pub(super) struct Broken {
    pub(super) law: Law,
    pub(super) what: String,
}

pub(super) type Verdict = Result<(), Broken>;

pub(super) fn broken(law: Law, what: impl Into<String>) -> Verdict {
    Err(Broken { law, what: what.into() })
}

/// What all sequences of a suite share.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) blueprint: Blueprint,
    /// How many calls a half-open state lets out at once; `None`: any number, or nobody knows.
    pub(super) places: Option<u32>,
    pub(super) wants_latency: bool,
}

pub(super) struct Run<'s> {
    subject: &'s Subject,
    adopted: Option<&'s Evidence>,
    pub(super) bench: Bench,
    pub(super) acts: Vec<Act>,
    answers: Vec<(Option<bool>, Circuit)>,
    next_call: u64,
    epoch: u64,
    /// Calls of the present epoch that are out.
    out: u32,
    /// In this closed state there were successes alone.
    clean: bool,
    /// The deadline of this open state.
    deadline: Option<Option<Timestamp>>,
    replays: u32,
}

impl<'s> Run<'s> {
    pub(super) fn new(subject: &'s Subject, adopted: Option<&'s Evidence>) -> Self {
        let bench = Bench::with(&subject.blueprint, adopted);
        let mut run = Self {
            subject,
            adopted,
            epoch: bench.breaker().epoch(),
            bench,
            acts: Vec::new(),
            answers: Vec::new(),
            next_call: 1,
            out: 0,
            clean: adopted.is_none(),
            deadline: None,
            replays: REPLAYS,
        };
        run.note_deadline();
        run
    }

    /// Makes all moves, brings the circuit back to closed, and checks that nobody would have noticed the checks.
    pub(super) fn play(&mut self, plan: &[Move]) -> Verdict {
        for chosen in plan {
            self.make(*chosen)?;
        }
        self.rescue()?;
        let mut unwatched = Bench::with(&self.subject.blueprint, self.adopted);
        let answers: Vec<_> = self.acts.iter().map(|act| answer(&mut unwatched, *act)).collect();
        if let Some(at) = (0..answers.len()).find(|at| answers[*at] != self.answers[*at]) {
            let what = format!(
                "step {} shows {:?} when nobody reads, else {:?}",
                at + 1,
                answers[at],
                self.answers[at]
            );
            return broken(Law::ReadingChangesNothing, what);
        }
        Ok(())
    }

    fn make(&mut self, chosen: Move) -> Verdict {
        match chosen {
            Move::Calls { count, outcome, millis } => {
                for _ in 0..count {
                    let call = self.next_call;
                    self.begin()?;
                    self.end(call, outcome, millis)?;
                }
                Ok(())
            }
            Move::Begin => self.begin(),
            Move::End { nth, outcome, millis } => {
                let out = self.bench.calls().len().max(1);
                let chosen = self.bench.calls().nth(nth as usize % out);
                chosen.map_or(Ok(()), |call| self.end(call, outcome, millis))
            }
            Move::Wait { millis } => self.act(Act::Advance(Duration::from_millis(millis))),
            Move::WaitForDeadline { less_millis } => self.wait_for_deadline(less_millis),
            Move::Probe(healthy) => self.act(Act::Probe(healthy)),
            Move::Reset => self.act(Act::Reset),
        }
    }

    fn begin(&mut self) -> Verdict {
        let call = self.next_call;
        self.next_call += 1;
        self.act(Act::Acquire(call))
    }

    fn end(&mut self, call: u64, outcome: Outcome, millis: u64) -> Verdict {
        if self.bench.epoch_of(call).is_none() {
            return Ok(());
        }
        let latency = self.subject.wants_latency.then(|| Duration::from_millis(millis));
        self.act(Act::Settle { call, outcome, latency })
    }

    /// Whole milliseconds, which is what traces know.
    fn wait_for_deadline(&mut self, less_millis: u64) -> Verdict {
        let Some(until) = self.state().until() else { return Ok(()) };
        let millis = until.since(self.bench.now()).as_nanos().div_ceil(1_000_000);
        let millis = u64::try_from(millis).unwrap_or(u64::MAX).saturating_sub(less_millis);
        self.act(Act::Advance(Duration::from_millis(millis)))
    }

    fn state(&self) -> State {
        self.bench.breaker().inspect(|strategy, _| strategy.state())
    }

    /// Does one act, with every check before and after it.
    fn act(&mut self, act: Act) -> Verdict {
        self.commit_due()?;
        let before = Look::at(&self.bench);
        let of_this_epoch = match act {
            Act::Settle { call, .. } => self.bench.epoch_of(call) == Some(self.epoch),
            _ => false,
        };
        self.acts.push(act);
        let (answer, settled) = match act {
            Act::Settle { .. } => (None, self.bench.settle(act)),
            _ => (self.bench.step(act).permitted, None),
        };
        self.answers.push((answer, self.bench.breaker().state().circuit()));
        if matches!(act, Act::Advance(_)) {
            return Ok(());
        }
        let after = Look::at(&self.bench);
        if let Some(settlement) = settled {
            if of_this_epoch {
                self.out = self.out.saturating_sub(1);
            }
            self.check_settled(act, settlement, &before, &after)?;
        }
        self.check_open(act, &before, &after)?;
        if answer == Some(true) && after.circuit() == Circuit::HalfOpen {
            self.check_places()?;
        }
        self.enter(&after)
    }

    fn check_places(&mut self) -> Verdict {
        self.out += 1;
        match self.subject.places {
            Some(places) if self.out > places => {
                let what = format!("{} half-open calls are out, and {places} are allowed", self.out);
                broken(Law::NeverMoreOutThanAllowed, what)
            }
            _ => Ok(()),
        }
    }

    fn check_settled(&mut self, act: Act, settlement: Settlement, before: &Look, after: &Look) -> Verdict {
        let Act::Settle { outcome, latency, .. } = act else { return Ok(()) };
        if settlement == Settlement::Stale {
            return match before.difference(after) {
                Some(what) => broken(Law::OlderEpochsChangeNothing, what),
                None => Ok(()),
            };
        }
        match outcome {
            Outcome::Ignored | Outcome::Cancelled => {
                if before.epoch != after.epoch || before.tally != after.tally {
                    let what = format!(
                        "{} with {:?} became {} with {:?}",
                        before.circuit(),
                        before.tally,
                        after.circuit(),
                        after.tally
                    );
                    return broken(Law::IgnoredChangesNothing, what);
                }
                self.check_place_freed(before.circuit())
            }
            Outcome::Success if self.clean && before.circuit() == Circuit::Closed => {
                if latency.is_some_and(|latency| latency > Duration::ZERO) {
                    self.clean = false;
                } else if after.circuit() != Circuit::Closed {
                    return broken(
                        Law::SuccessesNeverOpen,
                        format!("{} after successes alone", after.circuit()),
                    );
                }
                Ok(())
            }
            Outcome::Success | Outcome::Failure => {
                self.clean = false;
                Ok(())
            }
        }
    }

    fn check_place_freed(&mut self, circuit: Circuit) -> Verdict {
        let (Circuit::HalfOpen, Some(most)) = (circuit, self.subject.places) else { return Ok(()) };
        if !self.may_replay() {
            return Ok(());
        }
        let before = self.free_places(self.acts.len() - 1, most);
        let after = self.free_places(self.acts.len(), most);
        if after == before + 1 {
            return Ok(());
        }
        let what = format!("{before} places were free before, and {after} are after it");
        broken(Law::DroppedPermitFreesItsPlace, what)
    }

    /// An open state keeps its deadline, and ends then, or by a healthy probe, or by a reset.
    fn check_open(&self, act: Act, before: &Look, after: &Look) -> Verdict {
        let State::Open { until } = before.state else { return Ok(()) };
        if before.epoch != after.epoch {
            return match act {
                Act::Probe(true) | Act::Reset | Act::ForceOpen => Ok(()),
                _ => broken(Law::OpenUntilItsDeadline, format!("`{}` ended it", act.op())),
            };
        }
        if after.state == before.state {
            return Ok(());
        }
        let what =
            format!("its deadline was {until:?}, and `{}` made it {:?}", act.op(), after.state.until());
        broken(Law::OpenUntilItsDeadline, what)
    }

    /// Takes note of a new epoch, which begins with all places free: no call begins a half-open state.
    fn enter(&mut self, after: &Look) -> Verdict {
        if after.epoch == self.epoch {
            return Ok(());
        }
        self.epoch = after.epoch;
        self.out = 0;
        self.clean = true;
        self.note_deadline();
        let (Circuit::HalfOpen, Some(places)) = (after.circuit(), self.subject.places) else { return Ok(()) };
        if !self.may_replay() {
            return Ok(());
        }
        let free = self.free_places(self.acts.len(), places);
        if free >= places {
            return Ok(());
        }
        let what = format!("a new half-open state has {free} places, and should have {places}");
        broken(Law::OlderEpochsChangeNothing, what)
    }

    fn note_deadline(&mut self) {
        let state = self.state();
        self.deadline = (state.circuit() == Circuit::Open).then(|| state.until());
    }

    fn may_replay(&mut self) -> bool {
        let may = self.replays > 0;
        self.replays -= u32::from(may);
        may
    }

    /// How many calls would be admitted after the first `acts` acts; counts up to two more than `most`.
    fn free_places(&self, acts: usize, most: u32) -> u32 {
        let mut bench = Bench::with(&self.subject.blueprint, self.adopted);
        for act in self.acts.iter().take(acts) {
            bench.step(*act);
        }
        bench.free_places(most + 2)
    }
}

fn answer(bench: &mut Bench, act: Act) -> (Option<bool>, Circuit) {
    let seen = bench.step(act);
    (seen.permitted, seen.circuit)
}
