//! What is due by time, when that is more than one thing, or nothing comes of it.

use super::*;

fn at(secs: u64) -> Option<Timestamp> {
    Some(Timestamp::from_secs(secs))
}

/// Goes down a flight of states, one for each tick; the last one is for good.
#[derive(Clone, Debug, Serialize)]
struct Stairs {
    down: Vec<State>,
    #[serde(skip)]
    ticks: Arc<Mutex<u32>>,
}

impl StrategyConfig for Stairs {
    const NAME: &'static str = "STAIRS";
    type Keys = NoKeys;

    fn from_keys(_: NoKeys) -> Result<Self, Violations> {
        Ok(Self { down: vec![State::Closed], ticks: Arc::default() })
    }

    fn build(&self, _: Timestamp) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

impl Strategy for Stairs {
    fn state(&self) -> State {
        self.down[0]
    }

    fn tick(&mut self, _: &Now<'_>) -> Tick {
        *self.ticks.lock().unwrap() += 1;
        if self.down.len() > 1 {
            self.down.remove(0);
        }
        Tick::SameEpoch
    }

    fn admit(&mut self, _: &Now<'_>) -> bool {
        true
    }

    fn settle(&mut self, _: &Report, _: &Now<'_>) {}

    fn full(&self) -> bool {
        true
    }

    fn probe_plan(&self) -> Option<ProbePlan> {
        let second = Duration::from_secs(1);
        Some(ProbePlan { interval: second, attempts: 1, timeout: second })
    }
}

fn breaker(down: Vec<State>, secs: u64) -> Breaker {
    let clock = Arc::new(ManualClock::default());
    clock.advance(Duration::from_secs(secs));
    let builder = Breaker::builder(Stairs { down, ticks: Arc::default() }).clock(clock as _);
    builder.build().unwrap()
}

/// Whether a call passes 30 s later, and how many ticks that took.
fn after_30_s(down: Vec<State>) -> (bool, u32) {
    let (clock, ticks) = (Arc::new(ManualClock::default()), Arc::default());
    let builder = Breaker::builder(Stairs { down, ticks: Arc::clone(&ticks) }).clock(Arc::clone(&clock) as _);
    let breaker = builder.build().unwrap();
    clock.advance(Duration::from_secs(30));
    let passes = breaker.acquire().is_ok();
    let ticks = *ticks.lock().unwrap();
    (passes, ticks)
}

#[test]
fn all_that_is_due_is_done_at_once() {
    let down = vec![State::Open { until: at(10) }, State::Open { until: at(20) }, State::Closed];
    assert_eq!(after_30_s(down), (true, 2));
    let down =
        vec![State::Open { until: at(10) }, State::HalfOpen { until: at(20) }, State::Open { until: at(40) }];
    assert_eq!(after_30_s(down), (false, 2));
}

#[test]
fn a_strategy_that_stays_as_it_is_although_it_is_due_is_not_asked_again() {
    assert_eq!(after_30_s(vec![State::Open { until: at(10) }]), (false, 1));
}

#[test]
fn whoever_asks_for_a_probe_does_first_what_is_due() {
    let down = vec![State::HalfOpen { until: at(10) }, State::Open { until: None }];
    for (secs, wants) in [(9, false), (10, true), (11, true)] {
        let breaker = breaker(down.clone(), secs);
        assert_eq!(breaker.begin_probe().is_some(), wants, "at {secs} s");
        let plan = breaker.probe_plan().map(|plan| plan.attempts);
        assert_eq!(plan, wants.then_some(1), "at {secs} s");
    }
}

#[test]
fn under_manual_control_neither_places_nor_deadlines_of_the_strategy_show() {
    let breaker = breaker(vec![State::HalfOpen { until: at(10) }], 1);
    let shown = |breaker: &Breaker| {
        let status = breaker.status();
        (status.circuit, status.full, status.until)
    };
    assert_eq!(shown(&breaker), (Circuit::HalfOpen, true, at(10)));
    breaker.force_open();
    assert_eq!((shown(&breaker), breaker.mode()), ((Circuit::Open, false, None), Mode::ForcedOpen));
    breaker.disable();
    assert_eq!((shown(&breaker), breaker.mode()), ((Circuit::Closed, false, None), Mode::Disabled));
}

#[test]
fn a_deadline_that_has_passed_is_not_shown() {
    let shown = |secs| breaker(vec![State::HalfOpen { until: at(10) }], secs).status();
    assert_eq!((shown(9).full, shown(9).until), (true, at(10)));
    for secs in [10, 11] {
        assert_eq!((shown(secs).full, shown(secs).until), (false, None), "at {secs} s");
    }
}
