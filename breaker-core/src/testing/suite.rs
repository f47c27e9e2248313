//! The suite: many sequences, and the shortest one that breaks a law.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use super::{
    Act, Bench, Law, Trace, plan,
    plan::Move,
    random::Random,
    run::{Broken, Run, Subject},
    shrink::shrink,
};
use crate::{Evidence, Outcome, State, config::Blueprint};

/// Checks a strategy against every [`Law`], in sequences of random acts.
///
/// ```
/// use breaker_core::{config::NonResilient, testing::Suite};
///
/// let report = Suite::new(NonResilient {}).sequences(20).run()?;
/// assert_eq!(report.sequences, 20);
/// # Ok::<(), breaker_core::testing::Violation>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Suite {
    blueprint: Blueprint,
    sequences: u64,
    moves: usize,
    seed: u64,
    places: Option<u32>,
}

/// What a suite did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Sequences that were tried.
    pub sequences: u64,
    /// Acts in all of them.
    pub acts: u64,
    /// How many calls a half-open state lets out at once; `None`: the circuit was never half-open, or it lets out any
    /// number.
    pub half_open_places: Option<u32>,
}

/// A law that does not hold, with the shortest sequence that was found to show it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Violation {
    /// The law.
    pub law: Law,
    /// What shows it, after the last step of the trace.
    pub what: String,
    /// The steps, as `replay` takes them.
    pub trace: Trace,
    /// What the circuit had adopted before, if the sequence needs it.
    pub adopted: Option<Evidence>,
    /// The seed of the suite.
    pub seed: u64,
    /// The number of the sequence, from 0.
    pub sequence: u64,
}

impl Suite {
    /// A suite of 300 sequences for the circuits of `blueprint`.
    pub fn new(blueprint: impl Into<Blueprint>) -> Self {
        Self { blueprint: blueprint.into(), sequences: 300, moves: 30, seed: 1, places: None }
    }

    /// How many sequences to try.
    pub const fn sequences(mut self, sequences: u64) -> Self {
        self.sequences = sequences;
        self
    }

    /// How many choices make a sequence. Default 30; each comes to one act, or to as many as 240.
    pub const fn moves(mut self, moves: usize) -> Self {
        self.moves = moves;
        self
    }

    /// What all choices follow from. Default 1.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many half-open calls may be out at once. Default: as many as the first half-open state admits, which is
    /// wrong for a strategy that grows more generous.
    pub const fn places(mut self, places: u32) -> Self {
        self.places = Some(places);
        self
    }

    /// Tries all sequences.
    ///
    /// # Errors
    ///
    /// With the first law that does not hold.
    #[expect(clippy::result_large_err, reason = "a violation ends the run")]
    pub fn run(&self) -> Result<Report, Violation> {
        let (subject, mut acts) = self.subject()?;
        for sequence in 0..self.sequences {
            let mut random = Random::of(self.seed, sequence);
            let adopted = random.chance(12).then(|| plan::evidence(&mut random));
            let plan = plan::plan(&mut random, self.moves);
            acts += match attempt(&subject, adopted.as_ref(), &plan) {
                Ok(acts) => acts,
                Err(failed) => {
                    return Err(self.violation(&subject, adopted.as_ref(), sequence, &plan, failed));
                }
            };
        }
        Ok(Report { sequences: self.sequences, acts, half_open_places: subject.places })
    }

    /// Goes straight to a half-open state, and counts its places.
    #[expect(clippy::result_large_err, reason = "a violation ends the run")]
    fn subject(&self) -> Result<(Subject, u64), Violation> {
        let mut acts = Vec::new();
        let found = catch_unwind(AssertUnwindSafe(|| {
            let wants_latency = self.blueprint.build(crate::Timestamp::ZERO).wants_latency();
            (wants_latency, self.places.or_else(|| first_places(&self.blueprint, &mut acts)))
        }));
        match found {
            Ok((wants_latency, places)) => {
                let blueprint = self.blueprint.clone();
                Ok((Subject { blueprint, places, wants_latency }, acts.len() as u64))
            }
            Err(panic) => Err(Violation {
                law: Law::NoPanic,
                what: said(&*panic),
                trace: trace(&self.blueprint, Law::NoPanic, &acts),
                adopted: None,
                seed: self.seed,
                sequence: 0,
            }),
        }
    }

    fn violation(
        &self,
        subject: &Subject,
        adopted: Option<&Evidence>,
        sequence: u64,
        plan: &[Move],
        failed: Failed,
    ) -> Violation {
        let law = failed.broken.law;
        let mut shortest = (adopted.cloned(), failed);
        let mut still_fails =
            |adopted: Option<&Evidence>, plan: &[Move]| match attempt(subject, adopted, plan) {
                Err(failed) if failed.broken.law == law => {
                    shortest = (adopted.cloned(), failed);
                    true
                }
                _ => false,
            };
        let needed = adopted.filter(|_| !still_fails(None, plan));
        shrink(plan, |plan| still_fails(needed, plan));
        let (adopted, Failed { broken, acts }) = shortest;
        let trace = trace(&self.blueprint, law, &acts);
        Violation { law, what: broken.what, trace, adopted, seed: self.seed, sequence }
    }
}

/// A sequence that broke a law, up to there.
struct Failed {
    broken: Broken,
    acts: Vec<Act>,
}

/// Plays one sequence, and says how many acts it had.
fn attempt(subject: &Subject, adopted: Option<&Evidence>, plan: &[Move]) -> Result<u64, Failed> {
    let mut run = match catch_unwind(AssertUnwindSafe(|| Run::new(subject, adopted))) {
        Ok(run) => run,
        Err(panic) => {
            return Err(Failed {
                broken: Broken { law: Law::NoPanic, what: said(&*panic) },
                acts: Vec::new(),
            });
        }
    };
    let verdict = catch_unwind(AssertUnwindSafe(|| run.play(plan)));
    let acts = std::mem::take(&mut run.acts);
    // Permits that are given back may make a broken strategy panic again.
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(run)));
    let panicked = |panic: &(dyn std::any::Any + Send)| Broken { law: Law::NoPanic, what: said(panic) };
    match (verdict, dropped) {
        (Ok(Ok(())), Ok(())) => Ok(acts.len() as u64),
        (Ok(Err(broken)), _) => Err(Failed { broken, acts }),
        (Err(panic), _) | (_, Err(panic)) => Err(Failed { broken: panicked(&*panic), acts }),
    }
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text =
        panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("(no text)"))
}

fn trace(blueprint: &Blueprint, law: Law, acts: &[Act]) -> Trace {
    let mut trace = Trace::new(format!("broken: {law}"), blueprint);
    acts.iter().for_each(|act| trace.push(*act));
    trace
}

/// More failures than any window needs that is worth trying.
const FAILURES: u64 = 5_000;
/// A half-open state that lets out more than this lets out any number.
const MOST_PLACES: u32 = 1_000;

fn first_places(blueprint: &Blueprint, acts: &mut Vec<Act>) -> Option<u32> {
    let mut bench = Bench::new(blueprint);
    let latency = Some(Duration::from_secs(86_400));
    for call in 0..FAILURES {
        bench.breaker().commit_due();
        let next = match bench.breaker().inspect(|strategy, _| strategy.state()) {
            State::HalfOpen { .. } => {
                let free = bench.free_places(MOST_PLACES + 1);
                return (1..=MOST_PLACES).contains(&free).then_some(free);
            }
            State::Open { until: Some(until) } => Act::Advance(until.since(bench.now())),
            State::Open { until: None } => Act::Probe(true),
            State::Closed => {
                acts.push(Act::Acquire(call));
                bench.step(Act::Acquire(call));
                Act::Settle { call, outcome: Outcome::Failure, latency }
            }
        };
        acts.push(next);
        bench.step(next);
    }
    None
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { law, what, trace, adopted, seed, sequence } = self;
        writeln!(f, "\"{law}\" does not hold after {} steps: {what}", trace.len())?;
        if let Some(evidence) = adopted {
            writeln!(f, "on a circuit that had adopted {evidence:?}")?;
        }
        writeln!(f, "(seed {seed}, sequence {sequence}) As `replay` takes it:")?;
        write!(f, "{trace}")
    }
}

impl std::error::Error for Violation {}
