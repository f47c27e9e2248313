use std::time::Duration;

use replica_pool::config::{Order, PoolConfig};

use super::{errors, read};

#[test]
fn the_pool_stands_beside_the_breaker() {
    for text in [
        r#"{"circuitBreaker": {}, "replicaPool": {"order": "listed"}}"#,
        r#"{"solverRemote": {"replicaPool": {"order": "listed"}, "circuitBreaker": {}}}"#,
        r#"{"solver": {"remote": {"replicaPool": {"order": "listed"}}}}"#,
    ] {
        assert_eq!(read(text).pool.order(), Order::Listed, "{text}");
    }
    assert_eq!(
        errors(r#"{"solverRemote": {"circuitBreaker": {}}, "replicaPool": {}}"#),
        [
            "1:42: replicaPool: stands apart from solverRemote.circuitBreaker; allowed: solverRemote.replicaPool"
        ]
    );
    assert_eq!(read(r#"{"replicaPool": null}"#).pool, PoolConfig::default());
}

#[test]
fn durations_are_read_in_every_form() {
    let pool = |written: &str| read(&format!(r#"{{"replicaPool": {{"attemptTimeout": {written}}}}}"#)).pool;
    for (written, millis) in
        [(r#""PT0.25S""#, 250), (r#""pt2m""#, 120_000), ("1.5", 1_500), (r#""1m 30s""#, 90_000)]
    {
        assert_eq!(pool(written).attempt_timeout(), Duration::from_millis(millis), "{written}");
    }
}

#[test]
fn every_key_has_its_bounds() {
    for bad in [
        r#""order": "random""#,
        r#""order": 1"#,
        r#""trialRatio": 1.1"#,
        r#""trialRatio": -0.1"#,
        r#""trialRatio": "NaN""#,
        r#""whenAllOpen": "failfast""#,
        r#""startupWait": -1"#,
        r#""unhealthyTimeout": 0"#,
        r#""targetReplicas": 0"#,
        r#""targetReplicas": 1.5"#,
        r#""refreshInterval": "PT0S""#,
        r#""resetCircuitsOnRefresh": "yes""#,
        r#""validation": true"#,
        r#""validation": {"enabled": 1}"#,
        r#""validation": {"enable": true}"#,
        r#""attemptTimeout": "PT0S""#,
        r#""attemptTimeout": "P1M""#,
        r#""maxAttempts": 0"#,
        r#""deadline": "-PT1S""#,
        r#""abandonedCallIsFailureAfter": "soon""#,
        r#""attemptTimout": 1"#,
        r#""comment": 1"#,
    ] {
        let key = bad.split('"').nth(1).unwrap();
        let said = errors(&format!(r#"{{"replicaPool": {{{bad}}}}}"#));
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains(&format!(": replicaPool.{key}")), "{said:?}");
    }
    for good in [
        r#""trialRatio": 0"#,
        r#""trialRatio": 1"#,
        r#""startupWait": 0"#,
        r#""deadline": 0"#,
        r#""abandonedCallIsFailureAfter": 0"#,
        r#""targetReplicas": 1.0"#,
        r#""maxAttempts": 1"#,
        r#""validation": {}"#,
        r#""validation": null"#,
    ] {
        read(&format!(r#"{{"replicaPool": {{{good}}}}}"#));
    }
}

#[test]
fn unknown_keys_of_the_pool_are_faults_since_no_old_file_has_them() {
    assert_eq!(
        errors(r#"{"replicaPool": {"attemptTimout": 1}}"#),
        [r#"1:18: replicaPool.attemptTimout: unknown key; did you mean "attemptTimeout"?"#]
    );
    assert!(
        errors(r#"{"replicaPool": {"strategy": "X"}}"#)[0]
            .contains("unknown key; allowed: order, trialRatio,")
    );
}

#[test]
fn the_faults_of_both_blocks_are_told_together_in_the_order_of_the_file() {
    let text = r#"{
  "replicaPool": { "order": "listd", "deadline": -1 },
  "circuitBreaker": { "failureThreshold": 0, "testDelay": "soon" }
}"#;
    let said = errors(text);
    let places: Vec<_> =
        said.iter().map(|line| line.splitn(4, ": ").take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        places,
        [
            "2:20 replicaPool.order",
            "2:38 replicaPool.deadline",
            "3:23 circuitBreaker.failureThreshold",
            "3:46 circuitBreaker.testDelay",
        ]
    );
    assert!(said[0].ends_with(r#"allowed: "shuffled" or "listed"; did you mean "listed"?"#), "{}", said[0]);
}
