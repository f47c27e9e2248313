//! The runner and the reader, called directly.

use std::time::Duration;

use breaker_core::{Circuit, Settlement};

use crate::{
    check::mismatches,
    reading,
    runner::{Answer, Runner},
    trace::{Expected, Op, Scenario, Step},
};

/// Mismatches of every scenario of a file, with the place of each; and the numbers of scenarios and steps.
fn replay(file: &str, adapt: impl Fn(&mut Step)) -> (usize, usize, Vec<String>) {
    let path = format!("{}/../{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let (mut count, mut steps, mut found) = (0, 0, Vec::new());
    for scenario in reading::scenarios(file, &text) {
        let mut scenario = scenario.unwrap();
        let mut runner = Runner::new(&scenario.strategy).unwrap();
        for (index, step) in scenario.steps.iter_mut().enumerate() {
            adapt(step);
            let seen = runner.step(step).unwrap();
            let all = mismatches(&step.expected, &seen, runner.transitions());
            found.extend(all.iter().map(|mismatch| format!("{} {}: {mismatch}", scenario.name, index + 1)));
            steps += 1;
        }
        count += 1;
    }
    (count, steps, found)
}

/// A result that is not said to be of an older epoch is of the present one.
fn stale_only_where_it_says(step: &mut Step) {
    if step.op.ends_call() {
        step.expected.stale.get_or_insert(false);
    }
}

#[test]
fn every_measured_trace_answers_as_it_was_measured() {
    for (file, steps) in [
        ("breaker-static/tests/golden/static-threshold.jsonl", 5_627),
        ("breaker-canary/tests/golden/canary-rate-threshold.jsonl", 7_284),
        ("breaker-canary/tests/golden/canary-time-and-slow.jsonl", 6_135),
    ] {
        assert_eq!(replay(file, stale_only_where_it_says), (40, steps, Vec::new()), "{file}");
    }
}

#[test]
fn every_reported_fault_of_other_breakers_has_its_right_answer() {
    let cases = [
        replay("breaker-static/tests/golden/cases.jsonl", stale_only_where_it_says),
        replay("breaker-canary/tests/golden/cases.jsonl", stale_only_where_it_says),
    ];
    let faults: Vec<_> = cases.iter().flat_map(|(.., found)| found).collect();
    assert_eq!(faults, [""; 0]);
    assert_eq!((cases[0].0, cases[1].0, cases[0].1 + cases[1].1), (6, 19, 842));
}

#[test]
fn every_expectation_is_looked_at() {
    let spoil = |step: &mut Step| {
        let flipped = |circuit| if circuit == Circuit::Open { Circuit::Closed } else { Circuit::Open };
        step.expected.state = step.expected.state.map(flipped);
        step.expected.permitted = step.expected.permitted.map(|permitted| !permitted);
        step.expected.calls = step.expected.calls.map(|calls| calls + 1);
        step.expected.failures = step.expected.failures.map(|failures| failures + 1);
        step.expected.stale = step.expected.stale.map(|stale| !stale);
        step.expected.count = step.expected.count.map(|count| count + 1);
        step.expected.transitions = step.expected.transitions.take().map(|_| vec!["closed>closed".into()]);
    };
    let (_, steps, mut found) = replay("breaker-canary/tests/golden/cases.jsonl", spoil);
    found.extend(replay("breaker-static/tests/golden/cases.jsonl", spoil).2);
    for what in ["state", "permitted", "calls", "failures", "stale", "count", "transitions"] {
        assert!(found.iter().any(|line| line.contains(&format!("expected {what} "))), "{what}");
    }
    assert!(found.len() > steps, "each step expects a state, and many expect more");
}

fn scenario(json: &str) -> Result<Scenario, String> {
    reading::scenarios("t.jsonl", json).next().unwrap()
}

fn steps(steps: &str) -> Result<Scenario, String> {
    scenario(&format!(r#"{{"name":"n","steps":[{steps}]}}"#))
}

/// What each step of a scenario is answered, and the transitions.
fn answers(json: &str) -> (Vec<Answer>, Vec<String>) {
    let scenario = scenario(json).unwrap();
    let mut runner = Runner::new(&scenario.strategy).unwrap();
    let answers = scenario.steps.iter().map(|step| runner.step(step).unwrap().answer).collect();
    (answers, runner.transitions().to_vec())
}

#[test]
fn a_step_is_read_with_all_its_fields() {
    let step =
        steps(r#"{"op":"failure","call":3,"latency_ms":40,"state":"half_open","stale":true}"#).unwrap();
    let expected = Expected { state: Some(Circuit::HalfOpen), stale: Some(true), ..Expected::default() };
    let latency = Some(Duration::from_millis(40));
    assert_eq!(step.steps, [Step { op: Op::Failure, call: 3, span: Duration::ZERO, latency, expected }]);
    assert!(step.expects_anything());
    assert!(!steps(r#"{"op":"state"}"#).unwrap().expects_anything());
}

#[test]
fn the_block_of_a_scenario_is_read_like_that_of_a_file() {
    let strategy = |json| scenario(json).map(|scenario| scenario.strategy.name());
    assert_eq!(strategy(r#"{"name":"n","steps":[]}"#).unwrap(), "STATIC_THRESHOLD");
    assert_eq!(strategy(r#"{"name":"n","config":null,"steps":[]}"#).unwrap(), "STATIC_THRESHOLD");
    let canary = r#"{"name":"n","config":{"type":"CANARY_RATE_THRESHOLD"},"steps":[]}"#;
    assert_eq!(strategy(canary).unwrap(), "CANARY_RATE_THRESHOLD");
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_what_is_allowed() {
    for (line, told) in [
        (
            r#"{"name":"n","stps":[]}"#,
            "unknown field `stps`, expected one of `name`, `source`, `config`, `steps`",
        ),
        (r#"{"name":"n","#, r#"allowed: on each line one object, {"name""#),
        (
            r#"{"name":"n","config":{"failureTreshold":1},"steps":[]}"#,
            r#"t.jsonl:1:23: config.failureTreshold: unknown key; did you mean "failureThreshold"?"#,
        ),
        (
            r#"{"name":"ä","config": [],"steps":[]}"#,
            "t.jsonl:1:14: config: [] is an array; allowed: an object",
        ),
        (
            r#"{"name":"n","steps":[{"op":"state"},{"op":"aquire"}]}"#,
            "step 2: unknown variant `aquire`, expected",
        ),
        (
            r#"{"name":"n","steps":[{"op":"state","stat":1}]}"#,
            "t.jsonl:1:41: step 1: unknown field `stat`, expected",
        ),
        (
            r#"{"name":"n","steps":[{"op":"advance"}]}"#,
            "t.jsonl:1:22: step 1: op `advance` needs `ms`: milliseconds",
        ),
        (r#"{"name":"n","steps":[{"op":"acquire"}]}"#, "op `acquire` needs `call`: the number of the call"),
        (r#"{"name":"n","steps":[{"op":"advance","ms":-1}]}"#, "`ms` is -1; allowed: at least 0"),
        (
            r#"{"name":"n","steps":[{"op":"stale","permitted":true}]}"#,
            "`permitted` does not go with op `stale`; allowed: count, state, calls, failures, transitions",
        ),
    ] {
        let fault = scenario(line).unwrap_err();
        assert!(fault.starts_with("t.jsonl:1:") && fault.contains(told), "{fault}");
    }
}

#[test]
fn faults_of_later_lines_bear_their_number() {
    let text = "\u{feff}{\"name\":\"n\",\"steps\":[]}\r\n\r\n{\"name\":\"n\",\"config\":{\"a\":1,\"strategy\":3},\"steps\":[]}";
    let read: Vec<_> = reading::scenarios("t.jsonl", text).collect();
    assert_eq!(read.len(), 2, "a blank line is none");
    assert_eq!(read[0].as_ref().unwrap().place, "t.jsonl:1");
    let faults = read[1].as_ref().unwrap_err();
    assert!(faults.contains("t.jsonl:3:29: config.strategy: 3 is a number"), "{faults}");
}

#[test]
fn calls_that_were_rejected_are_passed_over_and_their_number_is_free() {
    let (answers, _) = answers(
        r#"{"name":"n","config":{"strategy":"CANARY_RATE_THRESHOLD"},"steps":[{"op":"acquire","call":0},
           {"op":"acquire","call":0},{"op":"success","call":0},{"op":"probe_failure"},{"op":"probe_success"},
           {"op":"probe_success"},{"op":"acquire","call":0},{"op":"cancel","call":0}]}"#
            .replace('\n', " ")
            .as_str(),
    );
    assert!(matches!(answers[..2], [Answer::Rejected(_), Answer::Rejected(_)]), "{answers:?}");
    let counted = Settlement::Counted;
    assert_eq!(
        answers[2..],
        [
            Answer::NeverMade,
            Answer::Probed(counted),
            Answer::Probed(counted),
            Answer::NoProbe,
            Answer::Admitted,
            Answer::Settled(counted)
        ]
    );
}

#[test]
fn a_reset_that_leads_elsewhere_is_a_transition() {
    let (_, transitions) = answers(
        r#"{"name":"n","config":{"failureThreshold":1},"steps":[{"op":"acquire","call":0},{"op":"failure","call":0},{"op":"reset"},{"op":"reset"}]}"#,
    );
    assert_eq!(transitions, ["closed>open", "open>closed"]);
}

#[test]
fn forced_open_reads_as_open_and_lets_nobody_pass() {
    let scenario = steps(r#"{"op":"force_open"},{"op":"acquire","call":0}"#).unwrap();
    let mut runner = Runner::new(&scenario.strategy).unwrap();
    assert_eq!(runner.step(&scenario.steps[0]).unwrap().state, Circuit::Open);
    assert!(matches!(runner.step(&scenario.steps[1]).unwrap().answer, Answer::Rejected(_)));
}

#[test]
fn a_step_that_makes_no_sense_says_why() {
    let scenario =
        steps(r#"{"op":"success","call":7},{"op":"acquire","call":1},{"op":"acquire","call":1}"#).unwrap();
    let mut runner = Runner::new(&scenario.strategy).unwrap();
    let said = runner.step(&scenario.steps[0]).unwrap_err();
    assert!(said.starts_with("call 7 is not out"), "{said}");
    runner.step(&scenario.steps[1]).unwrap();
    let said = runner.step(&scenario.steps[2]).unwrap_err();
    assert!(said.starts_with("call 1 is still out"), "{said}");
}
