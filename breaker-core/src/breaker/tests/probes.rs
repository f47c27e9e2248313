//! Probes.

use super::*;

#[test]
fn a_strategy_that_only_a_probe_reopens_is_not_built_without_one() {
    let config = TwoStrikes { probed: true };
    let error = Breaker::builder(config.clone()).build().unwrap_err();
    assert_eq!(error, BuildError::NeverProbed { strategy: "TWO_STRIKES" });
    assert!(error.to_string().contains("TWO_STRIKES"));
    assert!(Breaker::builder(config).probed().build().is_ok());
}

#[test]
fn a_healthy_probe_ends_the_open_state_and_a_late_verdict_does_nothing() {
    let bench = Bench::with(TwoStrikes { probed: true }, BreakerBuilder::probed);
    assert!(bench.breaker.begin_probe().is_none(), "closed circuits are not probed");
    bench.trip();
    let rejection = bench.breaker.acquire().unwrap_err();
    assert_eq!(rejection.to_string(), "the circuit is open until a probe finds the remote healthy");
    let (sick, healthy, late) = (
        bench.breaker.begin_probe().unwrap(),
        bench.breaker.begin_probe().unwrap(),
        bench.breaker.begin_probe().unwrap(),
    );
    assert_eq!(bench.breaker.finish_probe(sick, false), Settlement::Counted);
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
    assert_eq!(bench.breaker.finish_probe(healthy, true), Settlement::Counted);
    assert_eq!(bench.breaker.state().circuit(), Circuit::HalfOpen);
    bench.call(Outcome::Failure);
    assert_eq!(bench.breaker.finish_probe(late, true), Settlement::Stale);
    assert_eq!(bench.breaker.state().circuit(), Circuit::Open);
    bench.breaker.force_open();
    assert!(bench.breaker.begin_probe().is_none(), "a probe ends no manual mode");
}
