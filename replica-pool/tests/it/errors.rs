//! What the errors of a call say, and which cause they keep.

use std::error::Error;

use replica_pool::{CallError, GatewayError};

use crate::kit::{Answer, Bench, Registry, Remote, Trouble, judge, secs};

const LISTED: &str = r#"{ "replicaPool": { "order": "listed" } }"#;

async fn fails(remote: Remote, idempotent: bool) -> CallError<Trouble> {
    let bench = Bench::new(&["A"], LISTED).await;
    bench.world.set("A", remote);
    let request = bench.pool.request().idempotent(idempotent).max_attempts(1).judge(judge);
    request.call(bench.body()).await.unwrap_err()
}

fn cause(error: &CallError<Trouble>) -> Option<String> {
    error.source().map(ToString::to_string)
}

#[tokio::test(start_paused = true)]
async fn a_remote_that_failed() {
    let error = fails(Remote::Fails, false).await;
    assert_eq!(error.to_string(), "A failed: overloaded");
    assert_eq!(cause(&error).as_deref(), Some("overloaded"));
    assert!(error.source().unwrap().is::<Trouble>(), "the attempt's own error, whole");
}

#[tokio::test(start_paused = true)]
async fn a_time_out_that_must_not_be_tried_again() {
    let error = fails(Remote::Hangs, false).await;
    assert_eq!(error.to_string(), "A did not answer within 5s, and the request may not be sent twice");
    assert_eq!(cause(&error), None);
}

#[tokio::test(start_paused = true)]
async fn all_attempts_failed() {
    let error = fails(Remote::Fails, true).await;
    assert_eq!(error.to_string(), "all 1 attempts failed, the last one with: overloaded");
    assert_eq!(cause(&error).as_deref(), Some("overloaded"));
    let error = fails(Remote::Hangs, true).await;
    assert_eq!(error.to_string(), "all 1 attempts failed, the last one by time-out");
    assert_eq!(cause(&error), None);
}

#[tokio::test(start_paused = true)]
async fn no_answer_within_the_deadline() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    bench.world.set("A", Remote::Fails);
    bench.world.set("B", Remote::Hangs);
    let request = bench.pool.request().idempotent(true).deadline(secs(4)).judge(judge);
    let error = request.call(bench.body()).await.unwrap_err();
    assert_eq!(error.to_string(), "no answer within the deadline of 4s, after 1 failed attempts");
    assert_eq!(cause(&error).as_deref(), Some("overloaded"), "of the attempt that failed before");
}

#[tokio::test(start_paused = true)]
async fn all_circuits_are_open() {
    let bench = Bench::new(&["A"], r#"{ "circuitBreaker": { "failureThreshold": 1 } }"#).await;
    bench.fail("A");
    let error = bench.call().await.unwrap_err();
    assert_eq!(error.to_string(), "no circuit admits a call for another 20s: A: the circuit is open");
    assert_eq!(cause(&error), None);
}

#[tokio::test(start_paused = true)]
async fn there_are_no_replicas() {
    let gateway = Registry::default();
    gateway.answer(Answer::Fails);
    let bench = Bench::build(gateway, LISTED, |builder| builder);
    let error = bench.call().await.unwrap_err();
    assert_eq!(error.to_string(), "there are no replicas to call");
    assert_eq!(cause(&error).as_deref(), Some("the gateway could not be asked: 503"));
    let gateway = error.source().unwrap().downcast_ref::<GatewayError>().unwrap();
    assert_eq!(gateway.source().unwrap().to_string(), "503");
}
