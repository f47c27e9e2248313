//! What a call tells of itself.

use replica_pool::{Diagnostics, RefreshReason};
use serde_json::json;
use tokio::time::timeout;

use crate::kit::{Answer, Bench, Remote, judge, millis, secs, settle};

const SETTINGS: &str = r#"{ "circuitBreaker": { "failureThreshold": 1, "testDelay": "PT20S" },
    "replicaPool": { "order": "listed", "resetCircuitsOnRefresh": false, "validation": { "enabled": true } } }"#;

#[tokio::test(start_paused = true)]
async fn a_call_that_went_through_it_all() {
    let bench = Bench::new(&["A", "B", "C", "D"], SETTINGS).await;
    bench.call().await.unwrap();
    bench.fail("C");
    bench.replica("D").breaker().force_open();
    bench.world.set("A", Remote::ResetsAfter(millis(30)));
    bench.world.set("B", Remote::Fails);
    bench.world.set("E", Remote::Slow(millis(20)));
    bench.gateway.names(&["A", "B", "C", "D", "E"]);
    bench.gateway.takes(millis(200));
    let mut seen = Diagnostics::default();
    let request = bench.pool.request().idempotent(true).judge(judge).diagnostics(&mut seen);
    assert_eq!(request.call(bench.body()).await.unwrap(), "E");
    // A timer may be a millisecond late.
    let mut told = serde_json::to_value(&seen).unwrap();
    let mut round = |at: &str, millis: u64| {
        let span = told.pointer_mut(at).unwrap();
        let nanos = span["nanos"].as_u64().unwrap();
        assert!(
            span["secs"] == 0 && nanos / 1_000_000 <= millis + 1 && nanos / 1_000_000 >= millis,
            "{span}"
        );
        *span = json!({ "secs": 0, "nanos": millis * 1_000_000 });
    };
    round("/attempts/0/elapsed", 30);
    round("/attempts/4/elapsed", 20);
    round("/refreshes/1/waited", 200);
    let nothing = json!({ "secs": 0, "nanos": 0 });
    assert_eq!(
        told,
        json!({
            "attempts": [
                {
                    "replica": "A", "circuit": "closed", "health": "connected",
                    "result": { "judged": { "outcome": "failure", "next": "tryNext", "signal": "unreachable", "sent": true } },
                    "elapsed": { "secs": 0, "nanos": 30_000_000 },
                },
                {
                    "replica": "B", "circuit": "closed", "health": "unknown",
                    "result": { "judged": { "outcome": "failure", "next": "tryNext", "signal": "none", "sent": true } },
                    "elapsed": nothing,
                },
                { "replica": "C", "circuit": "open", "health": "unknown", "result": "rejected", "elapsed": nothing },
                { "replica": "D", "circuit": "open", "health": "unknown", "result": "rejected", "elapsed": nothing },
                {
                    "replica": "E", "circuit": "closed", "health": "unknown",
                    "result": { "judged": { "outcome": "success", "next": "return", "signal": "none", "sent": true } },
                    "elapsed": { "secs": 0, "nanos": 20_000_000 },
                },
            ],
            "replicaStatusList": {
                "attempting": [
                    { "replica": "E", "circuit": "closed", "mode": "automatic", "health": "unknown" },
                ],
                "ignoring": [
                    { "replica": "A", "circuit": "open", "mode": "automatic", "health": "unhealthyPending" },
                    { "replica": "B", "circuit": "open", "mode": "automatic", "health": "unknown" },
                    { "replica": "C", "circuit": "open", "mode": "automatic", "health": "unknown" },
                    { "replica": "D", "circuit": "open", "mode": "forced_open", "health": "unknown" },
                ],
            },
            "validationEnabled": true,
            "mapVersion": null,
            "refreshes": [
                { "of": "addresses", "reason": "markedFailed", "started": true, "waited": null },
                {
                    "of": "addresses", "reason": "exhausted", "started": false,
                    "waited": { "secs": 0, "nanos": 200_000_000 },
                },
            ],
        })
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nothing_happened_to() {
    let bench = Bench::new(&["A"], "{}").await;
    let mut seen = Diagnostics::default();
    bench.pool.request().judge(judge).diagnostics(&mut seen).call(bench.body()).await.unwrap();
    assert_eq!((seen.attempts.len(), seen.refreshes.len(), seen.validation_enabled), (1, 0, false));
    assert_eq!(seen.replica_status_list.attempting.len(), 1);
    assert!(seen.replica_status_list.ignoring.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_time_out_and_a_cut_are_told_apart() {
    let bench = Bench::new(&["A", "B"], r#"{ "replicaPool": { "order": "listed" } }"#).await;
    bench.world.set("A", Remote::Hangs);
    bench.world.set("B", Remote::Hangs);
    let mut seen = Diagnostics::default();
    let request = bench.pool.request().idempotent(true).deadline(secs(8)).judge(judge).diagnostics(&mut seen);
    request.call(bench.body()).await.unwrap_err();
    let told: Vec<_> =
        seen.attempts.iter().map(|attempt| serde_json::to_value(attempt.result).unwrap()).collect();
    assert_eq!(told, ["timedOut", "cutShort"]);
    assert_eq!(seen.attempts.iter().map(|attempt| attempt.elapsed.as_secs()).sum::<u64>(), 8);
}

#[tokio::test(start_paused = true)]
async fn what_was_seen_is_there_even_when_the_call_is_dropped() {
    let bench = Bench::new(&["A", "B"], r#"{ "replicaPool": { "order": "listed" } }"#).await;
    bench.world.set("A", Remote::Refuses);
    bench.world.set("B", Remote::Hangs);
    let mut seen = Diagnostics::default();
    let request = bench.pool.request().judge(judge).diagnostics(&mut seen);
    timeout(secs(1), request.call(bench.body())).await.unwrap_err();
    assert_eq!(seen.attempts.len(), 1);
    assert_eq!(seen.attempts[0].replica, "A");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_the_first_addresses_or_sees_an_old_mark_says_so() {
    let bench = Bench::new(&["A", "B"], r#"{ "replicaPool": { "order": "listed" } }"#).await;
    bench.gateway.answer(Answer::Fails);
    bench.mark("A");
    settle().await;
    tokio::time::advance(secs(60)).await;
    let mut seen = Diagnostics::default();
    bench.pool.request().judge(judge).diagnostics(&mut seen).call(bench.body()).await.unwrap();
    let told: Vec<_> = seen.refreshes.iter().map(|refresh| (refresh.reason, refresh.started)).collect();
    assert!(told.contains(&(RefreshReason::UnhealthyTooLong, true)), "{told:?}");

    let gateway = crate::kit::Registry::naming(&["A"]);
    let bench = Bench::build(gateway, "{}", |builder| builder);
    let mut seen = Diagnostics::default();
    bench.pool.request().judge(judge).diagnostics(&mut seen).call(bench.body()).await.unwrap();
    assert_eq!(seen.refreshes.len(), 1);
    assert_eq!((seen.refreshes[0].reason, seen.refreshes[0].started), (RefreshReason::NoAddresses, false));
}

/// Who fails at a replica that is known to be bad joins the question about it, in whichever set it was found.
#[tokio::test(start_paused = true)]
async fn a_call_that_marks_a_marked_replica_joins_the_question() {
    let bench = Bench::new(&["A", "B"], r#"{ "replicaPool": { "order": "listed" } }"#).await;
    for names in [["A", "C"], ["A", "B"], ["A", "C"]] {
        bench.gateway.names(&names);
        bench.pool.refresh().await.unwrap();
    }
    assert_eq!(bench.pool.replicas().version(), 4);
    bench.gateway.hold();
    bench.world.set("A", Remote::ResetsAfter(millis(30)));
    let (mut first, mut second) = (Diagnostics::default(), Diagnostics::default());
    let call = async |seen| {
        let request = bench.pool.request().idempotent(true).judge(judge).diagnostics(seen);
        assert_eq!(request.call(bench.body()).await.unwrap(), "C");
    };
    futures::join!(call(&mut first), call(&mut second));
    for (seen, started) in [(first, true), (second, false)] {
        let told: Vec<_> = seen.refreshes.iter().map(|refresh| (refresh.reason, refresh.started)).collect();
        assert_eq!(told, [(RefreshReason::MarkedFailed, started)]);
    }
}
