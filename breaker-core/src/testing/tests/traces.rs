//! Traces: how they are written, and what is said where one shows something else.

use std::{panic::catch_unwind, time::Duration};

use super::flawed::{Flaw, Flawed};
use crate::{
    Outcome,
    config::Blueprint,
    testing::{Act, Bench, Trace, replay},
};

fn blueprint() -> Blueprint {
    Blueprint::new(Flawed { flaw: Flaw::None })
}

fn settle(call: u64, outcome: Outcome, millis: Option<u64>) -> Act {
    Act::Settle { call, outcome, latency: millis.map(Duration::from_millis) }
}

#[test]
fn every_act_is_a_step_of_its_own() {
    let mut trace = Trace::new("all", &blueprint());
    assert!(trace.is_empty());
    for act in [
        Act::Acquire(7),
        settle(7, Outcome::Success, None),
        settle(8, Outcome::Failure, Some(1_500)),
        settle(9, Outcome::Cancelled, Some(1_500)),
        settle(9, Outcome::Ignored, None),
        Act::Advance(Duration::from_millis(2_500)),
        Act::Probe(true),
        Act::Probe(false),
        Act::Reset,
        Act::ForceOpen,
    ] {
        trace.push(act);
    }
    assert_eq!((trace.len(), trace.is_empty()), (10, false));
    let steps = [
        r#"{"op":"acquire","call":7}"#,
        r#"{"op":"success","call":7}"#,
        r#"{"op":"failure","call":8,"latency_ms":1500}"#,
        r#"{"op":"cancel","call":9}"#,
        r#"{"op":"cancel","call":9}"#,
        r#"{"op":"advance","ms":2500}"#,
        r#"{"op":"probe_success"}"#,
        r#"{"op":"probe_failure"}"#,
        r#"{"op":"reset"}"#,
        r#"{"op":"force_open"}"#,
    ];
    assert_eq!(
        trace.to_string(),
        format!(
            r#"{{"name":"all","config":{{"strategy":"FLAWED","flaw":"None"}},"steps":[{}]}}"#,
            steps.join(",")
        )
    );
}

/// Two failures open the circuit, ten seconds later it is half-open; a reset closes it, and a second one
/// changes nothing.
const OPENS: [&str; 9] = [
    r#"{"op":"acquire","call":1,"state":"closed","permitted":true,"calls":0}"#,
    r#"{"op":"failure","call":1,"state":"closed","calls":1,"failures":1,"transitions":[]}"#,
    r#"{"op":"acquire","call":2}"#,
    r#"{"op":"acquire","call":3}"#,
    r#"{"op":"failure","call":2,"state":"open","stale":false}"#,
    r#"{"op":"success","call":3,"state":"open","stale":true,"count":1}"#,
    r#"{"op":"advance","ms":10000,"state":"half_open","transitions":["closed>open"]}"#,
    r#"{"op":"reset","transitions":["closed>open","open>half_open","half_open>closed"]}"#,
    r#"{"op":"reset","state":"closed","transitions":["closed>open","open>half_open","half_open>closed"]}"#,
];

fn line(name: &str, steps: &[&str]) -> String {
    format!(r#"{{"name":"{name}","config":{{}},"steps":[{}]}}"#, steps.join(","))
}

/// What a replay panics with.
fn said(traces: &str) -> String {
    let panic = catch_unwind(|| replay::<Flawed>(traces)).expect_err("nothing differs");
    *panic.downcast::<String>().expect("a text")
}

#[test]
fn traces_that_show_what_they_expect_are_counted() {
    let traces = [line("one", &OPENS), line("two", &OPENS[..2]), line("three", &[])].join("\n");
    assert_eq!(replay::<Flawed>(&traces), 3);
}

#[test]
fn each_thing_that_a_step_expects_is_looked_at() {
    for wrong in [
        r#""state":"open""#,
        r#""permitted":false"#,
        r#""calls":7"#,
        r#""failures":7"#,
        r#""stale":true"#,
        r#""count":7"#,
        r#""transitions":["closed>open"]"#,
    ] {
        let step = format!(r#"{{"op":"acquire","call":2,{wrong}}}"#);
        let said = said(&line("wrong", &[OPENS[0], OPENS[1], &step]));
        assert!(said.starts_with("1 mismatches:\nwrong, step 3 (acquire): expected "), "{wrong}: {said}");
    }
}

#[test]
fn a_stale_result_that_is_not_expected_differs() {
    let stale = r#"{"op":"success","call":3}"#;
    let said = said(&line("wrong", &[OPENS[0], OPENS[1], OPENS[2], OPENS[3], OPENS[4], stale]));
    assert!(said.starts_with("1 mismatches:\nwrong, step 6 (success): "), "{said}");
}

#[test]
fn all_steps_that_differ_are_told() {
    let wrong = r#"{"op":"state","state":"half_open"}"#;
    let said = said(&[line("one", &[wrong, wrong]), line("two", &[OPENS[0], wrong])].join("\n"));
    let told: Vec<&str> = said.lines().map(|line| line.split_once(':').map_or(line, |(at, _)| at)).collect();
    assert_eq!(told, ["3 mismatches", "one, step 1 (state)", "one, step 2 (state)", "two, step 2 (state)"]);
}

#[test]
fn a_bench_shows_the_calls_that_are_out_and_asks_for_none_of_them_again() {
    let mut bench = Bench::new(&blueprint());
    assert_eq!(bench.step(Act::Acquire(3)).permitted, Some(true));
    assert_eq!(bench.step(Act::Acquire(7)).permitted, Some(true));
    assert_eq!(bench.step(Act::Acquire(3)).permitted, None);
    assert_eq!(bench.calls().collect::<Vec<_>>(), [3, 7]);
    assert!(format!("{bench:?}").ends_with("calls: [3, 7], .. }"), "{bench:?}");
    bench.step(Act::Advance(Duration::from_secs(5)));
    assert_eq!(bench.now(), crate::Timestamp::from_secs(5));
}
