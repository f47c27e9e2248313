use super::*;
use crate::outcome::tests::outcome;

fn summary(kind: RunKind, p99_us: u64) -> Summary {
    let summary = outcome(kind, [1_000].into_iter()).summary();
    let marked = kind.is_pool().then_some(0);
    Summary { p99_us, failed: 0, status_410_404: 0, attempts_after_mark: marked, ..summary }
}

fn judged(scenario: Scenario, runs: &[(RunKind, u64)]) -> Vec<(Judgement, String)> {
    let summaries = runs.iter().map(|&(kind, p99_us)| (kind, summary(kind, p99_us))).collect();
    let verdicts = Rules::new(scenario, false).judge(&summaries);
    verdicts.into_iter().map(|verdict| (verdict.judgement, verdict.text)).collect()
}

#[test]
fn ten_times_the_quiet_p99_is_valid_and_less_is_not() {
    let judged = |plain| judged(Scenario::Upgrade, &[(RunKind::Quiet, 5_000), (RunKind::Plain, plain)]);
    assert_eq!(judged(50_000)[0].0, Judgement::Reached);
    let (judgement, text) = &judged(49_999)[0];
    assert_eq!(*judgement, Judgement::Invalid);
    assert!(text.contains("shows nothing"), "{text}");
}

#[test]
fn a_pool_may_take_one_and_a_half_times_the_quiet_p99_and_twice_that_when_partitions_change() {
    let latency = |scenario, p99| {
        let verdicts = judged(scenario, &[(RunKind::Quiet, 4_000), (RunKind::Static, p99)]);
        verdicts.into_iter().find(|(_, text)| text.contains("p99")).unwrap().0
    };
    assert_eq!(latency(Scenario::Upgrade, 6_000), Judgement::Reached);
    assert_eq!(latency(Scenario::Upgrade, 6_001), Judgement::Missed);
    assert_eq!(latency(Scenario::Split, 8_000), Judgement::Reached);
    assert_eq!(latency(Scenario::Split, 8_001), Judgement::Missed);
}

#[test]
fn one_failed_request_of_a_pool_misses_the_goal() {
    let pool = outcome(RunKind::Canary, 1..=10).summary();
    let verdicts = Rules::new(Scenario::Upgrade, false).judge(&BTreeMap::from([(RunKind::Canary, pool)]));
    assert_eq!(verdicts.len(), 1);
    assert_eq!(verdicts[0].judgement, Judgement::Missed);
    assert!(!all_reached(&verdicts));
}

#[test]
fn a_bare_410_of_a_pool_misses_the_goal_and_one_of_the_plain_client_makes_the_comparison_valid() {
    let bare = |kind| (kind, Summary { status_410_404: 1, ..summary(kind, 1_000) });
    let rules = Rules::new(Scenario::Split, false);
    let verdicts = rules.judge(&BTreeMap::from([bare(RunKind::Plain), bare(RunKind::Static)]));
    let judgements: Vec<_> = verdicts.iter().map(|verdict| verdict.judgement).collect();
    // Valid; no failure; a bare 410; one map; no marked replica asked.
    let [reached, missed] = [Judgement::Reached, Judgement::Missed];
    assert_eq!(judgements, [reached, reached, missed, reached, reached]);
    let none = BTreeMap::from([(RunKind::Plain, summary(RunKind::Plain, 1_000))]);
    assert_eq!(rules.judge(&none)[0].judgement, Judgement::Invalid);
}

#[test]
fn a_second_fetch_of_the_map_misses_the_goal() {
    let pool = Summary { maps_fetched: 2, ..summary(RunKind::Static, 1_000) };
    let verdicts = Rules::new(Scenario::Merge, false).judge(&BTreeMap::from([(RunKind::Static, pool)]));
    let missed: Vec<_> = verdicts.iter().filter(|verdict| verdict.judgement != Judgement::Reached).collect();
    assert_eq!(missed.len(), 1);
    assert!(missed[0].text.contains("fetched 2 times"), "{}", missed[0].text);
}

#[test]
fn without_the_quiet_run_nothing_is_compared() {
    assert_eq!(judged(Scenario::Upgrade, &[(RunKind::Plain, 50_000)]), []);
}

#[test]
fn a_short_run_is_not_judged_by_its_latencies() {
    let runs = [RunKind::Quiet, RunKind::Plain, RunKind::Static].map(|kind| (kind, summary(kind, 1_000)));
    let verdicts = Rules::new(Scenario::Upgrade, true).judge(&BTreeMap::from(runs));
    assert!(verdicts.iter().all(|verdict| !verdict.text.contains("p99")), "{verdicts:?}");
}
