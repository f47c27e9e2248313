//! What a circuit breaker strategy is: a plain state machine, driven by one caller at a time.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Change, Circuit, Now, Report, State, Tally, Timestamp};

/// The rules of a circuit breaker as a single-threaded state machine.
///
/// A strategy has no atomics, locks, clock, events, epochs or permits: [`Breaker`](crate::Breaker) owns all
/// of these, once, for every strategy, and calls one method at a time. A strategy decides three things: the
/// [state](Self::state), whether a call may pass where the state alone does not say
/// ([`admit`](Self::admit)), and what a result means ([`settle`](Self::settle)).
///
/// What the breaker promises:
///
/// - before every `admit`, `settle` and `probed` comes [`tick`](Self::tick), with the same instant, as long as the
///   state's deadline has passed;
/// - `settle` comes once for each call that was admitted, unless a new epoch began since. Every change of
///   the state starts an epoch; calls that are still out then are never heard of again, so a strategy
///   forgets its half-open places whenever its state changes;
/// - `probed` comes only for a probe that began in the present epoch, while the circuit was open;
/// - while the strategy is closed, `admit` is not asked; while it is open and its deadline has not
///   passed, `admit` is not asked either.
pub trait Strategy: fmt::Debug + Send {
    /// The state that the last `&mut` call left. The breaker reads and publishes it after each of them.
    fn state(&self) -> State;

    /// The state that is due at `now`, without entering it. Only a strategy whose deadlines lead
    /// elsewhere than from open to half-open needs to say.
    fn state_at(&self, now: Timestamp) -> State {
        match self.state() {
            State::Open { until: Some(until) } if now >= until => State::HalfOpen { until: None },
            state => state,
        }
    }

    /// Does what time alone brings about, as the end of an open delay. Does nothing when nothing is due.
    ///
    /// What is due happens as of its deadline, not of `now`. When several things are due, `tick` may do
    /// one of them: it is called again as long as the state's deadline has passed.
    fn tick(&mut self, now: &Now<'_>) -> Tick;

    /// Whether a call may pass, asked while half-open. Takes the call's place if so.
    fn admit(&mut self, now: &Now<'_>) -> bool;

    /// An admitted call of the present epoch ended. [`Ignored`](crate::Outcome::Ignored) and
    /// [`Cancelled`](crate::Outcome::Cancelled) give back a half-open place and change nothing else.
    fn settle(&mut self, report: &Report, now: &Now<'_>);

    /// A probe that began in the present epoch, while the circuit was open, has its verdict.
    fn probed(&mut self, healthy: bool, now: &Now<'_>) {
        let _ = (healthy, now);
    }

    /// How the circuit wants to be probed while it is open; `None`: not at all.
    fn probe_plan(&self) -> Option<ProbePlan> {
        None
    }

    /// Half-open with no place free: the breaker rejects calls without asking until a place comes back or
    /// the deadline passes.
    fn full(&self) -> bool {
        false
    }

    /// "One more success would change nothing": such a success is not even reported. Read only while
    /// closed.
    fn steady(&self) -> bool {
        false
    }

    /// [Settles](Self::settle) a call that was admitted while closed, and says whether the circuit still is, and if so whether it
    /// is [steady](Self::steady).
    ///
    /// It asks the three in this order. A breaker has most results counted by this one call instead of three; there is
    /// nothing else to be gained from it.
    fn settle_closed(&mut self, report: &Report, now: &Now<'_>) -> Option<bool> {
        self.settle(report, now);
        matches!(self.state(), State::Closed).then(|| self.steady())
    }

    /// Whether reports must carry the call's duration. Constant over the strategy's life. Costs two clock
    /// readings a call.
    fn wants_latency(&self) -> bool {
        false
    }

    /// Why the state changed last, for events.
    fn change(&self) -> Change {
        Change::default()
    }

    /// The counts of the present window, for snapshots and traces.
    fn tally(&self, now: Timestamp) -> Tally {
        let _ = now;
        Tally::default()
    }

    /// What outlives this strategy when it is reconfigured, released from manual control, or restarted.
    fn evidence(&self, now: Timestamp) -> Evidence {
        let state = self.state_at(now);
        let remaining = state.until().map(|until| until.since(now));
        Evidence { circuit: state.circuit(), remaining, ..Evidence::default() }
    }

    /// Takes over another strategy's evidence. Called on a fresh strategy, before anything else; calls
    /// that were out then are never heard of again.
    ///
    /// A strategy that does not is back in its start state whenever manual control begins or ends.
    fn adopt(&mut self, evidence: &Evidence, now: Timestamp) {
        let _ = (evidence, now);
    }

    /// Whatever else a person would want to see in a snapshot.
    fn detail(&self, now: Timestamp) -> Value {
        let _ = now;
        Value::Null
    }
}

/// What [`Strategy::tick`] did to the calls that are out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new epoch begins or it does not")]
pub enum Tick {
    /// They still count (unless the state changed).
    #[default]
    SameEpoch,
    /// The strategy started its state over: calls that are out will not be settled, as when a lease of
    /// half-open places expires.
    NewEpoch,
}

/// How an open circuit wants to be probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "built by every strategy that wants probes")]
pub struct ProbePlan {
    /// From the start of one round to the start of the next.
    pub interval: Duration,
    /// Probes in a round, one after another; the first healthy one ends it. At least 1.
    pub attempts: u32,
    /// The time that each probe may take.
    pub timeout: Duration,
}

/// What is known about a remote, apart from the strategy that learnt it.
///
/// It holds no instants, only spans, so that it means the same in another process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::exhaustive_structs, reason = "built by every strategy")]
pub struct Evidence {
    /// The state of the circuit.
    pub circuit: Circuit,
    /// Until time alone ends that state; `None`: never.
    pub remaining: Option<Duration>,
    /// How often in a row the circuit opened without closing; the step of a growing delay.
    pub trips: u32,
    /// The window, oldest first.
    pub samples: Vec<Sample>,
}

/// Some settled calls of about the same age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "built by every strategy")]
pub struct Sample {
    /// How long ago they were settled, in seconds; 0 in windows that do not know time.
    pub age_secs: u64,
    /// What they were.
    pub tally: Tally,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a strategy must say, and no more.
    #[derive(Debug)]
    struct Terse(State);

    impl Strategy for Terse {
        fn state(&self) -> State {
            self.0
        }

        fn tick(&mut self, _: &Now<'_>) -> Tick {
            Tick::SameEpoch
        }

        fn admit(&mut self, _: &Now<'_>) -> bool {
            true
        }

        fn settle(&mut self, _: &Report, _: &Now<'_>) {}
    }

    #[test]
    fn unless_it_says_otherwise_an_open_circuit_is_half_open_from_its_deadline_on() {
        let deadline = Timestamp::from_secs(10);
        let open = State::Open { until: Some(deadline) };
        assert_eq!(Terse(open).state_at(Timestamp::from_nanos(9_999_999_999)), open);
        assert_eq!(Terse(open).state_at(deadline), State::HalfOpen { until: None });
        for other in [State::Closed, State::Open { until: None }, State::HalfOpen { until: Some(deadline) }] {
            assert_eq!(Terse(other).state_at(Timestamp::MAX), other);
        }
    }

    #[test]
    fn unless_it_says_otherwise_it_wants_no_probes_and_no_durations_and_hears_of_every_success() {
        let terse = Terse(State::HalfOpen { until: None });
        assert_eq!(terse.probe_plan(), None);
        assert_eq!((terse.full(), terse.steady(), terse.wants_latency()), (false, false, false));
    }

    #[test]
    fn unless_it_says_otherwise_its_evidence_is_its_state_and_what_remains_of_it() {
        let open = Terse(State::Open { until: Some(Timestamp::from_secs(10)) });
        let evidence = open.evidence(Timestamp::from_secs(4));
        assert_eq!(
            evidence,
            Evidence {
                circuit: Circuit::Open,
                remaining: Some(Duration::from_secs(6)),
                trips: 0,
                samples: Vec::new(),
            }
        );
    }
}
