//! What can be read of a strategy, and the laws that reading alone can show.

use serde_json::Value;

use super::{Bench, Run, Verdict, broken};
use crate::{Circuit, Evidence, Now, Outcome, Report, State, Strategy, Tally, Timestamp, testing::Law};

/// Everything that an instant shows. Nothing is due.
pub(super) struct Look {
    pub(super) epoch: u64,
    pub(super) state: State,
    pub(super) tally: Tally,
    evidence: Evidence,
    full: bool,
    detail: Value,
}

impl Look {
    pub(super) fn at(bench: &Bench) -> Self {
        let epoch = bench.breaker().epoch();
        bench.breaker().inspect(|strategy, now| Self {
            epoch,
            state: strategy.state(),
            tally: strategy.tally(now),
            evidence: strategy.evidence(now),
            full: strategy.full(),
            detail: strategy.detail(now),
        })
    }

    pub(super) fn circuit(&self) -> Circuit {
        self.state.circuit()
    }

    /// What is not as it was.
    pub(super) fn difference(&self, after: &Self) -> Option<String> {
        fn changed<T: PartialEq + std::fmt::Debug>(what: &str, before: &T, after: &T) -> Option<String> {
            (before != after).then(|| format!("the {what} was {before:?} and is {after:?}"))
        }
        changed("epoch", &self.epoch, &after.epoch)
            .or_else(|| changed("state", &self.state, &after.state))
            .or_else(|| changed("tally", &self.tally, &after.tally))
            .or_else(|| changed("evidence", &self.evidence, &after.evidence))
            .or_else(|| changed("full flag", &self.full, &after.full))
            .or_else(|| changed("detail", &self.detail, &after.detail))
    }
}

/// What is to be the same before and after a tick.
#[derive(Debug, PartialEq)]
struct Reading {
    circuit: Circuit,
    until: Option<Timestamp>,
    tally: Tally,
    evidence: Evidence,
}

impl Reading {
    fn of(strategy: &dyn Strategy, state: State, now: Timestamp) -> Self {
        let mut evidence = strategy.evidence(now);
        evidence.remaining = evidence.remaining.filter(|remaining| !remaining.is_zero());
        let until = state.until().filter(|until| *until > now);
        Self { circuit: state.circuit(), until, tally: strategy.tally(now), evidence }
    }
}

impl Run<'_> {
    /// Commits what is due, and checks that this is what reading had told, and whatever else reading can show.
    pub(super) fn commit_due(&mut self) -> Verdict {
        let breaker = self.bench.breaker();
        let before = breaker.inspect(|strategy, now| {
            check_reading(strategy, now, self.subject.wants_latency)?;
            Ok((strategy.state(), Reading::of(strategy, strategy.state_at(now), now)))
        })?;
        let (state, told) = before;
        breaker.commit_due();
        let (committed, now) = breaker.inspect(|strategy, now| (strategy.state(), now));
        let due = state.until().is_some_and(|until| now >= until);
        if let State::Open { until } = state
            && due
            && committed == state
        {
            return broken(
                Law::OpenUntilItsDeadline,
                format!("its deadline was {until:?}, and it is open at {now}"),
            );
        }
        let found = breaker.inspect(|strategy, now| Reading::of(strategy, committed, now));
        if told != found {
            return broken(
                Law::StateAtAgreesWithTick,
                format!("before the tick {told:?}, after it {found:?}"),
            );
        }
        if let Some(until) = committed.until().filter(|until| now >= *until) {
            let what =
                format!("at {now} it is still {}, due at {until}, after 16 ticks", committed.circuit());
            return broken(Law::StateAtAgreesWithTick, what);
        }
        let after = Look::at(&self.bench);
        self.enter(&after)?;
        self.check_deadline(&after)?;
        self.check_flags(&after)?;
        self.check_evidence(&after)
    }

    fn check_deadline(&self, look: &Look) -> Verdict {
        let State::Open { until } = look.state else { return Ok(()) };
        if let Some(first) = self.deadline.filter(|first| *first != until) {
            let what = format!("its deadline was {first:?}, and is {until:?}");
            return broken(Law::OpenUntilItsDeadline, what);
        }
        Ok(())
    }

    /// Tries what the flags promise, on the strategy itself: if they are true, nothing changes.
    fn check_flags(&self, look: &Look) -> Verdict {
        self.bench.breaker().inspect(|strategy, now| {
            let instant = Now::from(now);
            match look.state {
                State::HalfOpen { .. } if strategy.full() && strategy.admit(&instant) => {
                    broken(Law::NeverMoreOutThanAllowed, "a call is admitted while it says that it is full")
                }
                State::Closed if strategy.steady() => {
                    let success = Report::new(Outcome::Success);
                    let success =
                        success.with_latency(strategy.wants_latency().then_some(std::time::Duration::ZERO));
                    strategy.settle(&success, &instant);
                    let state = strategy.state();
                    let (tally, evidence) = (strategy.tally(now), strategy.evidence(now));
                    if state == look.state
                        && tally == look.tally
                        && evidence == look.evidence
                        && strategy.steady()
                    {
                        return Ok(());
                    }
                    let what =
                        format!("{:?} with {:?} became {state:?} with {tally:?}", look.state, look.tally);
                    broken(Law::SteadyMeansUnchanged, what)
                }
                _ => Ok(()),
            }
        })
    }

    fn check_evidence(&self, look: &Look) -> Verdict {
        let (evidence, now) = (&look.evidence, self.bench.now());
        let mut fresh = self.subject.blueprint.build(now);
        fresh.adopt(evidence, now);
        let adopted = fresh.evidence(now);
        // Half-open starts over, with a deadline of its own.
        let half_open = evidence.circuit == Circuit::HalfOpen;
        let kept = adopted.circuit == evidence.circuit
            && (half_open || adopted.remaining == evidence.remaining)
            && adopted.trips == evidence.trips
            && adopted.samples == evidence.samples;
        if kept { Ok(()) } else { broken(Law::EvidenceSurvives, format!("{evidence:?} became {adopted:?}")) }
    }
}

/// Reads all there is to read.
fn check_reading(strategy: &dyn Strategy, now: Timestamp, wants_latency: bool) -> Verdict {
    let before = format!("{strategy:?}");
    for at in [now, now + std::time::Duration::from_secs(3_600)] {
        let _ = (strategy.state_at(at), strategy.tally(at), strategy.evidence(at), strategy.detail(at));
    }
    let _ = (strategy.state(), strategy.full(), strategy.steady(), strategy.change(), strategy.probe_plan());
    if strategy.wants_latency() != wants_latency {
        return broken(Law::ReadingChangesNothing, "wants_latency was another before");
    }
    let after = format!("{strategy:?}");
    if before == after {
        Ok(())
    } else {
        broken(Law::ReadingChangesNothing, format!("{before} became {after}"))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn look() -> Look {
        Look {
            epoch: 1,
            state: State::Closed,
            tally: Tally::default(),
            evidence: Evidence::default(),
            full: false,
            detail: Value::Null,
        }
    }

    #[test]
    fn the_first_thing_that_is_not_as_it_was_is_told() {
        assert_eq!(look().difference(&look()), None);
        type Change = fn(&mut Look);
        let other: [(Change, &str); 6] = [
            (|look| look.detail = Value::from(7), "the detail was Null and is Number(7)"),
            (|look| look.full = true, "the full flag was false and is true"),
            (|look| look.evidence.trips = 1, "the evidence was "),
            (|look| look.tally.calls = 1, "the tally was "),
            (|look| look.state = State::Open { until: None }, "the state was Closed and is Open"),
            (|look| look.epoch = 2, "the epoch was 1 and is 2"),
        ];
        let mut after = look();
        for (change, what) in other {
            change(&mut after);
            let told = look().difference(&after).unwrap_or_default();
            assert!(told.starts_with(what), "{told}");
        }
    }
}
