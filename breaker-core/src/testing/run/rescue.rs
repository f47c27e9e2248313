//! The way back: from wherever a sequence ends, with every call lost, to closed.

use super::{Run, Verdict, broken};
use crate::{
    Outcome, State,
    testing::{Act, Law},
};

/// So many changes of state are enough for any way back.
const ROUNDS: u32 = 64;
/// So many healthy probes, or successes, are enough for any strategy.
const PATIENCE: u32 = 10_000;

impl Run<'_> {
    pub(super) fn rescue(&mut self) -> Verdict {
        let mut lost = false;
        for _ in 0..ROUNDS {
            self.commit_due()?;
            match self.state() {
                State::Closed => return Ok(()),
                State::Open { until: Some(_) } => self.wait_for_deadline(0)?,
                State::Open { until: None } => self.probe_until_it_ends()?,
                State::HalfOpen { .. } if !lost => {
                    lost = true;
                    self.lose_all_places()?;
                }
                State::HalfOpen { .. } => self.succeed_until_it_ends()?,
            }
        }
        broken(Law::NeverStuck, format!("not closed after {ROUNDS} changes of state without a failure"))
    }

    fn probe_until_it_ends(&mut self) -> Verdict {
        if self.bench.breaker().probe_plan().is_none() {
            return broken(Law::NeverStuck, "open without a deadline, and it wants no probe");
        }
        let epoch = self.epoch;
        for _ in 0..PATIENCE {
            self.act(Act::Probe(true))?;
            if self.epoch != epoch {
                return Ok(());
            }
        }
        broken(Law::NeverStuck, format!("open after {PATIENCE} healthy probes"))
    }

    /// Takes every place, and never says what became of the calls.
    fn lose_all_places(&mut self) -> Verdict {
        let epoch = self.epoch;
        for _ in 0..self.subject.places.unwrap_or(100) {
            self.begin()?;
        }
        self.commit_due()?;
        if self.epoch != epoch {
            return Ok(());
        }
        let call = self.next_call;
        self.begin()?;
        if self.bench.epoch_of(call).is_some() {
            return Ok(());
        }
        if self.state().until().is_none() {
            return broken(Law::NeverStuck, "half-open without a deadline while all its calls are lost");
        }
        self.wait_for_deadline(0)?;
        self.commit_due()?;
        if self.epoch == epoch {
            self.begin()?;
            return broken(
                Law::NeverStuck,
                "half-open in the same epoch after its deadline, with all its calls lost",
            );
        }
        Ok(())
    }

    fn succeed_until_it_ends(&mut self) -> Verdict {
        let epoch = self.epoch;
        for _ in 0..PATIENCE {
            let call = self.next_call;
            self.begin()?;
            if self.bench.epoch_of(call).is_none() {
                // Calls of this epoch that a sequence left out hold the last places.
                return match self.state().until() {
                    Some(_) => self.wait_for_deadline(0),
                    None => broken(Law::NeverStuck, "half-open, without a place and without a deadline"),
                };
            }
            self.end(call, Outcome::Success, 0)?;
            if self.epoch != epoch {
                return Ok(());
            }
        }
        broken(Law::NeverStuck, format!("half-open after {PATIENCE} successes"))
    }
}
