//! A strategy that is sound, and one for each thing that can be wrong with it.

use std::{
    fmt,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use serde::Serialize;

use crate::{
    Circuit, Evidence, Now, Outcome, Report, State, Strategy, Tally, Tick, Timestamp,
    config::{NonResilient, StrategyConfig, Violations},
    testing::Law,
    window::CountWindow,
};

const DELAY: Duration = Duration::from_secs(10);
const LEASE: Duration = Duration::from_secs(60);
const PLACES: u32 = 3;

/// Two failures of the last three calls open it for 10 s; half-open with three places and a lease of a minute; three
/// successes close it.
#[derive(Clone, Debug, Serialize)]
pub(in crate::testing) struct Flawed {
    pub(in crate::testing) flaw: Flaw,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(in crate::testing) enum Flaw {
    None,
    /// None either: a success that took any time counts as a failure.
    SlowIsFailure,
    /// None either: a half-open state lets out any number of calls.
    LetsAllOut,
    /// None either: what reads a lease that is over, before a tick ends it, sees that it is over.
    ReadsALeaseThatIsOver,
    /// None either: an open state ends by two healthy probes, and by nothing else.
    WantsProbes,
    /// Counts calls that are out in a byte with a sign bit to spare.
    Overflows,
    /// Evidence of a window that is larger than its own is too much for it.
    TrustsEvidence,
    /// `state_at` does not know that a delay ends.
    ReadsAsOpen,
    /// A tick closes the circuit when the delay has passed, and `state_at` says half-open.
    TickCloses,
    /// Reading the tally counts readings where nobody sees it, and after the thirtieth it takes no more failures.
    CountsReadings,
    /// Reading the tally counts readings.
    ShowsReadings,
    /// Reads whether it wants latencies from what it has seen.
    ChangesItsMind,
    /// One place more with each half-open state.
    GrowsGenerous,
    /// An expired lease frees the places, in the same epoch.
    LeaseInTheSameEpoch,
    /// Says that it is full, and admits.
    FullButAdmits,
    /// A cancelled call keeps its place.
    KeepsItsPlaces,
    /// A cancelled call frees all places.
    FreesAllPlaces,
    /// An ignored call counts as a success.
    IgnoredCloses,
    /// A cancelled call counts as a failure.
    CancelledCounts,
    /// A cancelled call frees its place, and stands in the window as a success.
    CancelledFillsTheWindow,
    /// Calls of the last half-open state hold places in the next one.
    RemembersOldCalls,
    /// A window of successes alone opens it.
    OpensAtSuccess,
    /// A dozen quick successes open it; a success that took any time counts as a failure.
    OpensAtQuickSuccess,
    /// Steady after two successes, with a failure still in the window.
    SteadyTooSoon,
    /// Steady after three successes in a row, and not after more.
    SteadyOnce,
    /// A tick does not end an open state.
    StaysOpen,
    /// When the delay has passed, it is open for as long again.
    ProlongsItself,
    /// Each failed probe makes the open state longer.
    ProbesProlong,
    /// A fresh one starts closed, whatever it adopts.
    AdoptsNothing,
    /// Adopts an open state with a full delay.
    AdoptsAFullDelay,
    /// Does not adopt how often it opened.
    AdoptsNoTrips,
    /// Does not adopt what its window held.
    AdoptsNoSamples,
    /// A tick does not end a lease.
    LeaseNeverEnds,
    /// There is no lease.
    NoLease,
    /// There is no lease, and a cancelled call keeps its place.
    NoLeaseAndKeepsItsPlaces,
    /// Only a probe could end an open state, and it wants none.
    WantsNoProbe,
    /// Successes never close it.
    NeverCloses,
}

impl Flaw {
    /// Each with the law that it breaks, and words of what shows it.
    pub(in crate::testing) const ALL: [(Self, Law, &'static str); 31] = [
        (Self::Overflows, Law::NoPanic, "panicked: too many calls"),
        (Self::TrustsEvidence, Law::NoPanic, "calls do not fit"),
        (Self::ReadsAsOpen, Law::StateAtAgreesWithTick, "before the tick Reading { circuit: Open"),
        (Self::TickCloses, Law::StateAtAgreesWithTick, "before the tick Reading { circuit: HalfOpen"),
        (Self::LeaseNeverEnds, Law::StateAtAgreesWithTick, "it is still half_open"),
        (Self::CountsReadings, Law::ReadingChangesNothing, "when nobody reads"),
        (Self::ShowsReadings, Law::ReadingChangesNothing, "shown: 2"),
        (Self::ChangesItsMind, Law::ReadingChangesNothing, "wants_latency was another before"),
        (Self::GrowsGenerous, Law::NeverMoreOutThanAllowed, "5 half-open calls are out, and 4 are allowed"),
        (Self::LeaseInTheSameEpoch, Law::NeverMoreOutThanAllowed, "4 half-open calls are out"),
        (Self::FullButAdmits, Law::NeverMoreOutThanAllowed, "while it says that it is full"),
        (Self::KeepsItsPlaces, Law::DroppedPermitFreesItsPlace, "2 places were free before, and 2 are after"),
        (Self::FreesAllPlaces, Law::DroppedPermitFreesItsPlace, "1 places were free before, and 3 are after"),
        (Self::IgnoredCloses, Law::IgnoredChangesNothing, "became closed"),
        (Self::CancelledCounts, Law::IgnoredChangesNothing, "became open"),
        (Self::CancelledFillsTheWindow, Law::IgnoredChangesNothing, "became half_open with Tally { calls: 1"),
        (Self::RemembersOldCalls, Law::OlderEpochsChangeNothing, ", and should have 3"),
        (Self::OpensAtSuccess, Law::SuccessesNeverOpen, "open after successes alone"),
        (Self::OpensAtQuickSuccess, Law::SuccessesNeverOpen, "open after successes alone"),
        (Self::SteadyTooSoon, Law::SteadyMeansUnchanged, "failures: 0"),
        (Self::SteadyOnce, Law::SteadyMeansUnchanged, "Closed with Tally { calls: 3"),
        (Self::StaysOpen, Law::OpenUntilItsDeadline, "and it is open at"),
        (Self::ProlongsItself, Law::OpenUntilItsDeadline, "its deadline was Some(Timestamp"),
        (Self::ProbesProlong, Law::OpenUntilItsDeadline, "and `probe_failure` made it"),
        (Self::AdoptsNothing, Law::EvidenceSurvives, "became Evidence { circuit: Closed"),
        (
            Self::AdoptsAFullDelay,
            Law::EvidenceSurvives,
            "became Evidence { circuit: Open, remaining: Some(10s)",
        ),
        (Self::AdoptsNoTrips, Law::EvidenceSurvives, "trips: 0, samples: [] }"),
        (Self::AdoptsNoSamples, Law::EvidenceSurvives, "trips: 0, samples: [] }"),
        (Self::NoLease, Law::NeverStuck, "half-open without a deadline while all its calls are lost"),
        (Self::WantsNoProbe, Law::NeverStuck, "open without a deadline, and it wants no probe"),
        (Self::NeverCloses, Law::NeverStuck, "half-open after 10000 successes"),
    ];
}

impl StrategyConfig for Flawed {
    const NAME: &'static str = "FLAWED";
    type Keys = NonResilient;

    fn from_keys(_: NonResilient) -> Result<Self, Violations> {
        Ok(Self { flaw: Flaw::None })
    }

    fn build(&self, _: Timestamp) -> Box<dyn Strategy> {
        Box::new(Machine {
            flaw: self.flaw,
            state: State::Closed,
            window: CountWindow::new(PLACES.try_into().expect("not zero")),
            out: 0,
            successes: 0,
            places: if self.flaw == Flaw::LetsAllOut { u32::MAX } else { PLACES },
            run: 0,
            trips: 0,
            probes: 0,
            calls: 0,
            readings: Hidden::default(),
            shown: AtomicU32::new(0),
        })
    }
}

#[derive(Debug)]
struct Machine {
    flaw: Flaw,
    state: State,
    window: CountWindow,
    out: u32,
    successes: u32,
    places: u32,
    /// Successes in a row.
    run: u32,
    /// How often it opened in a row.
    trips: u32,
    /// Healthy probes in a row.
    probes: u32,
    calls: i8,
    readings: Hidden,
    shown: AtomicU32,
}

#[derive(Default)]
struct Hidden(AtomicU32);

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden")
    }
}

impl Machine {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        (self.successes, self.run, self.probes) = (0, 0, 0);
        if state == State::Closed {
            self.trips = 0;
        }
        if !self.has(Flaw::RemembersOldCalls) {
            self.out = 0;
        }
        self.window.clear();
    }

    fn open(&mut self, at: Timestamp) {
        self.places += u32::from(self.has(Flaw::GrowsGenerous));
        self.trips = self.trips.saturating_add(1);
        let endless = self.has(Flaw::WantsNoProbe) || self.has(Flaw::WantsProbes);
        let until = (!endless).then(|| at + DELAY);
        self.enter(State::Open { until });
    }

    fn half_open(&mut self, last_news: Timestamp) {
        let lease = self.full() && !self.has(Flaw::NoLease) && !self.has(Flaw::NoLeaseAndKeepsItsPlaces);
        self.state = State::HalfOpen { until: lease.then(|| last_news + LEASE) };
    }

    fn count(&mut self, failed: bool, now: Timestamp) {
        let failed = failed && self.readings.0.load(Ordering::Relaxed) <= 30;
        self.run = if failed { 0 } else { self.run + 1 };
        self.window.record(failed, false);
        let successes_open =
            (self.has(Flaw::OpensAtSuccess) || self.has(Flaw::OpensAtQuickSuccess)) && self.run == 12;
        if self.window.tally().failures >= 2 || successes_open {
            self.open(now);
        }
    }
}

impl Strategy for Machine {
    fn state(&self) -> State {
        self.state
    }

    fn state_at(&self, now: Timestamp) -> State {
        match self.state {
            State::Open { .. } if self.has(Flaw::ReadsAsOpen) => self.state,
            State::HalfOpen { .. } if self.has(Flaw::ReadsALeaseThatIsOver) => self.state,
            State::Open { until: Some(until) } if self.has(Flaw::ProlongsItself) && now >= until => {
                State::Open { until: Some(now + DELAY) }
            }
            state if state.until().is_some_and(|until| now >= until) => State::HalfOpen { until: None },
            state => state,
        }
    }

    fn tick(&mut self, now: &Now<'_>) -> Tick {
        let half_open = self.state.circuit() == Circuit::HalfOpen;
        let stays = self.has(if half_open { Flaw::LeaseNeverEnds } else { Flaw::StaysOpen });
        if stays || self.state.until().is_none_or(|until| now.get() < until) {
            return Tick::SameEpoch;
        }
        if self.has(Flaw::ProlongsItself) && !half_open {
            self.state = self.state_at(now.get());
            return Tick::SameEpoch;
        }
        if self.has(Flaw::TickCloses) && !half_open {
            self.enter(State::Closed);
            return Tick::SameEpoch;
        }
        self.enter(State::HalfOpen { until: None });
        if half_open && !self.has(Flaw::LeaseInTheSameEpoch) { Tick::NewEpoch } else { Tick::SameEpoch }
    }

    fn admit(&mut self, now: &Now<'_>) -> bool {
        let free = self.out < self.places || self.has(Flaw::FullButAdmits);
        if free {
            self.out += 1;
            self.half_open(now.get());
        }
        free
    }

    fn settle(&mut self, report: &Report, now: &Now<'_>) {
        if self.has(Flaw::Overflows) {
            self.calls = self.calls.checked_add(1).expect("too many calls");
        }
        let closed = self.state == State::Closed;
        let outcome = match report.outcome {
            Outcome::Ignored if self.has(Flaw::IgnoredCloses) && !closed => {
                return self.enter(State::Closed);
            }
            Outcome::Cancelled if self.has(Flaw::CancelledCounts) && !closed => Outcome::Failure,
            Outcome::Success if report.latency.is_some_and(|latency| !latency.is_zero()) => Outcome::Failure,
            outcome => outcome,
        };
        match outcome {
            Outcome::Success | Outcome::Failure if closed => {
                self.count(outcome == Outcome::Failure, now.get())
            }
            Outcome::Failure => self.open(now.get()),
            _ if closed => {}
            Outcome::Success => {
                self.out = self.out.saturating_sub(1);
                self.successes += 1;
                self.half_open(now.get());
                if self.successes >= PLACES && !self.has(Flaw::NeverCloses) {
                    self.enter(State::Closed);
                }
            }
            Outcome::Ignored | Outcome::Cancelled => {
                if self.has(Flaw::CancelledFillsTheWindow) {
                    self.window.record(false, false);
                }
                self.out = match self.flaw {
                    Flaw::KeepsItsPlaces | Flaw::NoLeaseAndKeepsItsPlaces => self.out,
                    Flaw::FreesAllPlaces => 0,
                    _ => self.out.saturating_sub(1),
                };
                self.half_open(now.get());
            }
        }
    }

    fn probed(&mut self, healthy: bool, now: &Now<'_>) {
        self.probes = if healthy { self.probes + 1 } else { 0 };
        if self.has(Flaw::WantsProbes) && self.probes == 2 {
            self.enter(State::HalfOpen { until: None });
        }
        if !healthy && self.has(Flaw::ProbesProlong) {
            self.state = State::Open { until: Some(now.get() + DELAY * 2) };
        }
    }

    fn probe_plan(&self) -> Option<crate::ProbePlan> {
        let second = Duration::from_secs(1);
        (self.has(Flaw::ProbesProlong) || self.has(Flaw::WantsProbes)).then_some(crate::ProbePlan {
            interval: second,
            attempts: 1,
            timeout: second,
        })
    }

    fn full(&self) -> bool {
        self.out >= self.places
    }

    fn steady(&self) -> bool {
        match self.flaw {
            Flaw::OpensAtSuccess | Flaw::OpensAtQuickSuccess => false,
            Flaw::SteadyTooSoon => self.run >= 2,
            Flaw::SteadyOnce => self.window.is_steady() && self.run == 3,
            _ => self.window.is_steady(),
        }
    }

    fn wants_latency(&self) -> bool {
        match self.flaw {
            Flaw::SlowIsFailure | Flaw::OpensAtQuickSuccess => true,
            Flaw::ChangesItsMind => self.window.tally().calls == 3,
            _ => false,
        }
    }

    fn tally(&self, _: Timestamp) -> Tally {
        self.readings.0.fetch_add(u32::from(self.has(Flaw::CountsReadings)), Ordering::Relaxed);
        self.shown.fetch_add(u32::from(self.has(Flaw::ShowsReadings)), Ordering::Relaxed);
        self.window.tally()
    }

    fn evidence(&self, now: Timestamp) -> Evidence {
        let state = self.state_at(now);
        let remaining = state.until().map(|until| until.since(now));
        Evidence { circuit: state.circuit(), remaining, trips: self.trips, samples: self.window.samples() }
    }

    fn adopt(&mut self, evidence: &Evidence, now: Timestamp) {
        if self.has(Flaw::TrustsEvidence) {
            let calls: u32 = evidence.samples.iter().map(|sample| sample.tally.calls.min(1_000)).sum();
            assert!(calls <= PLACES, "{calls} calls do not fit");
        }
        match evidence.circuit {
            _ if self.has(Flaw::AdoptsNothing) => {}
            Circuit::Closed if self.has(Flaw::AdoptsNoSamples) => {}
            Circuit::Closed => self.window.adopt(&evidence.samples),
            Circuit::HalfOpen => self.state = State::HalfOpen { until: None },
            Circuit::Open => {
                self.open(now);
                let remaining = evidence.remaining.unwrap_or(DELAY).min(DELAY);
                if !self.has(Flaw::AdoptsAFullDelay) && self.state.until().is_some() {
                    self.state = State::Open { until: Some(now + remaining) };
                }
            }
        }
        if evidence.circuit != Circuit::Closed && !self.has(Flaw::AdoptsNoTrips) {
            self.trips = evidence.trips;
        }
    }
}
