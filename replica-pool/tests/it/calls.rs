//! Section 9 of the rules: the walk of a call, its limits, and what may be sent twice.

use std::{
    io,
    sync::{Arc, Mutex},
};

use breaker_core::{Circuit, Outcome, Tally};
use replica_pool::{Attempt, CallError, HealthStatus, Next, Verdict};
use tokio::time::{advance, timeout};

use crate::kit::{Addr, Answer, Bench, Remote, Trouble, judge, millis, secs, settle, stopwatch};

const LISTED: &str = r#"{ "replicaPool": { "order": "listed" } }"#;
const FRAGILE: &str = r#"{ "circuitBreaker": { "failureThreshold": 1, "successThreshold": 1, "testDelay": "PT20S" },
    "replicaPool": { "order": "listed", "resetCircuitsOnRefresh": false } }"#;

fn tally(calls: u32, failures: u32) -> Tally {
    Tally { calls, failures, slow: 0 }
}

#[tokio::test(start_paused = true)]
async fn a_call_goes_from_one_candidate_to_the_next_until_one_answers() {
    let bench = Bench::new(&["A", "B", "C", "D"], LISTED).await;
    bench.world.set("A", Remote::Refuses);
    bench.world.set("B", Remote::Fails);
    assert_eq!(bench.call().await.unwrap(), "C");
    assert_eq!(bench.world.visits(), ["A", "B", "C"]);
    assert_eq!(
        [bench.tally("A"), bench.tally("B"), bench.tally("C")],
        [tally(1, 1), tally(1, 1), tally(1, 0)]
    );
    assert_eq!(bench.tally("D"), tally(0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_candidate_whose_circuit_is_open_costs_nothing() {
    let bench = Bench::new(&["A", "B"], FRAGILE).await;
    bench.replica("A").breaker().force_open();
    let seen = Mutex::new(Vec::new());
    let call = bench.pool.request().max_attempts(1).judge(judge).call(|attempt: Attempt<Addr>| {
        seen.lock().unwrap().push((*attempt.address(), attempt.number()));
        async { Ok("answer") }
    });
    assert_eq!(call.await.unwrap(), "answer");
    assert_eq!(*seen.lock().unwrap(), [("B", 1)], "not even one of the attempts");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_knows_whom_to_ask_and_for_how_long() {
    let bench = Bench::new(&["A", "B", "C"], LISTED).await;
    let seen = Mutex::new(Vec::new());
    let request = bench.pool.request().idempotent(true).attempt_timeout(secs(2)).deadline(secs(5));
    let call = request.call(|attempt: Attempt<Addr>| {
        seen.lock().unwrap().push((*attempt.address(), attempt.number(), attempt.time_left().as_secs()));
        assert!(Arc::ptr_eq(attempt.replica(), &bench.replica(attempt.address())));
        std::future::pending::<io::Result<()>>()
    });
    assert!(matches!(call.await, Err(CallError::DeadlineExceeded { attempts: 2, source: None, .. })));
    let seen = seen.into_inner().unwrap();
    assert_eq!(
        seen.iter().map(|(address, number, _)| (*address, *number)).collect::<Vec<_>>(),
        [("A", 1), ("B", 2), ("C", 3)]
    );
    assert_eq!([seen[0].2, seen[1].2], [2, 2]);
    assert!(seen[2].2 <= 1, "what the deadline leaves: {seen:?}");
}

#[tokio::test(start_paused = true)]
async fn a_hanging_replica_costs_one_attempt_timeout() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    let elapsed = stopwatch();
    bench.world.set("A", Remote::Hangs);
    assert_eq!(bench.call().await.unwrap(), "B");
    assert_eq!(elapsed().as_secs(), 5, "PT5S unless told otherwise");
    assert_eq!((bench.tally("A"), bench.health("A")), (tally(1, 1), HealthStatus::Unhealthy));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_for_all_attempts_together() {
    let settings = r#"{ "replicaPool": { "order": "listed", "deadline": "PT12S" } }"#;
    let bench = Bench::new(&["A", "B", "C", "D"], settings).await;
    let elapsed = stopwatch();
    for hanging in ["A", "B", "C", "D"] {
        bench.world.set(hanging, Remote::Hangs);
    }
    let failed = bench.call().await.unwrap_err();
    assert!(matches!(failed, CallError::DeadlineExceeded { attempts: 2, source: None, .. }), "{failed:?}");
    assert_eq!(elapsed().as_secs(), 12);
    assert_eq!(bench.world.visits(), ["A", "B", "C"]);
    // The third had two seconds, which is more than abandonedCallIsFailureAfter.
    assert_eq!((bench.tally("C"), bench.health("C")), (tally(1, 1), HealthStatus::Unhealthy));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_the_deadline_cuts_short_at_once_is_no_evidence() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    bench.world.set("A", Remote::Hangs);
    let request = bench.pool.request().deadline(millis(900)).judge(judge);
    let failed = request.call(bench.body()).await.unwrap_err();
    assert!(matches!(failed, CallError::DeadlineExceeded { attempts: 0, .. }), "{failed:?}");
    assert_eq!((bench.tally("A"), bench.health("A")), (tally(0, 0), HealthStatus::Unknown));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_also_bounds_the_wait_for_addresses_and_the_last_error_is_kept() {
    let bench = Bench::new(&["A"], LISTED).await;
    let elapsed = stopwatch();
    bench.gateway.hold();
    bench.world.set("A", Remote::Refuses);
    let request = bench.pool.request().deadline(secs(3)).judge(judge);
    let failed = request.call(bench.body()).await.unwrap_err();
    let CallError::DeadlineExceeded { attempts: 1, source: Some(Trouble::Io(error)), .. } = failed else {
        panic!("{failed:?}")
    };
    assert_eq!((error.kind(), elapsed().as_secs()), (io::ErrorKind::ConnectionRefused, 3));
}

#[tokio::test(start_paused = true)]
async fn the_attempts_may_be_limited_and_are_counted_over_the_whole_call() {
    let settings = r#"{ "replicaPool": { "order": "listed", "maxAttempts": 2 } }"#;
    let bench = Bench::new(&["A", "B", "C"], settings).await;
    for failing in ["A", "B", "C"] {
        bench.world.set(failing, Remote::Fails);
    }
    let failed = bench.call().await.unwrap_err();
    assert!(matches!(failed, CallError::Exhausted { attempts: 2, .. }), "{failed:?}");
    assert_eq!(bench.world.visits(), ["A", "B"]);
    settle().await;
    assert_eq!(bench.gateway.asked(), 1, "there would be no attempt left for an answer");
    bench.world.forget_visits();
    let request = bench.pool.request().idempotent(true).max_attempts(4).judge(judge);
    let failed = request.call(bench.body()).await.unwrap_err();
    assert!(matches!(failed, CallError::Exhausted { attempts: 4, .. }), "{failed:?}");
    assert_eq!(bench.world.visits(), ["A", "B", "C", "A"], "the fourth after a re-resolve");
}

#[tokio::test(start_paused = true)]
async fn no_attempts_at_all_are_one() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    let request = bench.pool.request().max_attempts(0).judge(judge);
    assert_eq!(request.call(bench.body()).await.unwrap(), "A");
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_is_not_sent_twice_unless_it_may_be() {
    // What the first replica does, and whether a call that is not idempotent goes on to the second.
    let rows = [
        (Remote::Refuses, true),
        (Remote::SaysGone, true),
        (Remote::Resets, false),
        (Remote::ResetsAfter(secs(2)), false),
        (Remote::Hangs, false),
        (Remote::Fails, false),
    ];
    for (remote, goes_on) in rows {
        for idempotent in [false, true] {
            let bench = Bench::new(&["A", "B"], LISTED).await;
            bench.world.set("A", remote);
            let request = bench.pool.request().idempotent(idempotent).judge(judge);
            let call = request.call(bench.body()).await;
            let visits = bench.world.visits();
            if goes_on || idempotent {
                assert_eq!(call.unwrap(), "B", "{remote:?}");
                assert_eq!(visits, ["A", "B"]);
            } else {
                assert!(
                    matches!(call, Err(CallError::Remote { .. } | CallError::TimedOut { .. })),
                    "{call:?}"
                );
                assert_eq!(visits, ["A"]);
            }
            assert_eq!(bench.tally("A"), tally(1, 1), "either way its circuit hears of it");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn when_every_candidate_failed_the_addresses_are_asked_for_once_and_all_are_tried_once_more() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    bench.world.set("A", Remote::Fails);
    bench.world.set("B", Remote::Resets);
    let failed = bench.call().await.unwrap_err();
    // B was marked and confirmed, but it failed in this call, as A did.
    assert_eq!(bench.world.visits(), ["A", "B", "A", "B"]);
    let CallError::Exhausted { attempts: 4, source: Some(Trouble::Io(last)), .. } = failed else {
        panic!("{failed:?}")
    };
    assert_eq!(last.kind(), io::ErrorKind::ConnectionReset, "the last remote's own error");
    assert_eq!(bench.gateway.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_second_pass_begins_with_those_that_have_not_failed() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    bench.world.set("A", Remote::Fails);
    bench.world.set("B", Remote::Fails);
    bench.gateway.names(&["A", "B", "C"]);
    assert_eq!(bench.call().await.unwrap(), "C");
    assert_eq!(bench.world.visits(), ["A", "B", "C"]);
}

#[tokio::test(start_paused = true)]
async fn a_second_pass_is_made_even_when_the_gateway_fails() {
    let bench = Bench::new(&["A"], LISTED).await;
    bench.gateway.answer(Answer::Fails);
    bench.world.set("A", Remote::Fails);
    let failed = bench.call().await.unwrap_err();
    assert!(matches!(failed, CallError::Exhausted { attempts: 2, .. }), "{failed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_saw_an_older_set_goes_on_with_the_newer_one_and_asks_nobody() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    bench.world.set("A", Remote::ResetsAfter(secs(2)));
    bench.world.set("B", Remote::ResetsAfter(secs(2)));
    bench.gateway.names(&["C", "D"]);
    let change = async {
        tokio::time::sleep(secs(3)).await;
        bench.pool.refresh().await.unwrap();
    };
    // A's failure asks at 2 s, and is answered with C and D while B is asked.
    let (answer, ()) = futures::join!(bench.call(), change);
    assert_eq!(answer.unwrap(), "C");
    assert_eq!(bench.world.visits(), ["A", "B", "C"]);
    tokio::time::sleep(secs(20)).await;
    assert_eq!(bench.gateway.asked(), 3, "at the start, for A, and for whoever asked at 3 s; none for B");
}

#[tokio::test(start_paused = true)]
async fn an_ignored_result_is_returned_and_changes_nothing() {
    let bench = Bench::new(&["A", "B"], FRAGILE).await;
    bench.fail("A");
    advance(secs(20)).await;
    for round in 0..3 {
        let request = bench.pool.request().idempotent(true).judge(|_: &Result<(), Trouble>| Verdict::IGNORED);
        let failed = request.call(|_| async { Err::<(), _>(Trouble::Overloaded) }).await.unwrap_err();
        assert!(
            matches!(failed, CallError::Remote { ref replica, .. } if replica == "A"),
            "{round}: {failed:?}"
        );
    }
    assert_eq!(
        (bench.circuit("A"), bench.tally("A")),
        (Circuit::HalfOpen, tally(0, 0)),
        "its place came back"
    );
    assert_eq!(bench.health("A"), HealthStatus::Unknown);
    settle().await;
    assert_eq!(bench.gateway.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_be_no_good_and_the_last_one_is_better_than_none() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    let judge = |result: &Result<Addr, Trouble>| match result {
        Ok("A") => Verdict::FAILURE,
        _ => Verdict::SUCCESS,
    };
    assert_eq!(bench.pool.request().idempotent(true).judge(judge).call(bench.body()).await.unwrap(), "B");
    assert_eq!([bench.tally("A"), bench.tally("B")], [tally(1, 1), tally(1, 0)]);
    let never = |_: &Result<Addr, Trouble>| Verdict::new(Outcome::Ignored, Next::TryNext);
    let request = bench.pool.request().idempotent(true).max_attempts(2).judge(never);
    assert_eq!(request.call(bench.body()).await.unwrap(), "B", "the last answer, though it was no good");
    // Not idempotent, and perhaps sent: the answer it has is the answer it gets.
    assert_eq!(bench.pool.request().judge(never).call(bench.body()).await.unwrap(), "A");
}

#[tokio::test(start_paused = true)]
async fn an_error_to_return_is_returned_at_once() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    bench.world.set("A", Remote::Fails);
    let judge = |_: &Result<Addr, Trouble>| Verdict::new(Outcome::Success, Next::Return);
    let failed = bench.pool.request().idempotent(true).judge(judge).call(bench.body()).await.unwrap_err();
    assert!(matches!(failed, CallError::Remote { source: Trouble::Overloaded, .. }), "{failed:?}");
    assert_eq!((bench.world.visits(), bench.tally("A")), (vec!["A"], tally(1, 0)));
    assert_eq!(bench.health("A"), HealthStatus::Connected, "it did its work: the request was bad");
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_a_judge_or_a_body_goes_on_and_the_place_comes_back() {
    let bench = Arc::new(Bench::new(&["A", "B"], FRAGILE).await);
    bench.fail("A");
    advance(secs(20)).await;
    let judging = Arc::clone(&bench);
    let judging = tokio::spawn(async move {
        let judge = |_: &Result<Addr, Trouble>| -> Verdict { panic!("the judge panics") };
        let _ = judging.pool.request().judge(judge).call(judging.body()).await;
    });
    let calling = Arc::clone(&bench);
    let calling = tokio::spawn(async move {
        calling.world.set("A", Remote::Panics);
        let _ = calling.call().await;
    });
    for (task, says) in [(judging, "the judge panics"), (calling, "A panics")] {
        let panic = task.await.unwrap_err().into_panic();
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        assert_eq!(text.as_deref(), Some(says));
        assert_eq!((bench.circuit("A"), bench.tally("A")), (Circuit::HalfOpen, tally(0, 0)));
        let status = bench.replica("A").breaker().status();
        assert_eq!(status.refusal(), None, "its only place is free");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_cancelled_at_first_and_a_failure_after_a_second() {
    let bench = Bench::new(&["A"], LISTED).await;
    bench.world.set("A", Remote::Hangs);
    timeout(millis(999), bench.call()).await.unwrap_err();
    assert_eq!((bench.tally("A"), bench.health("A")), (tally(0, 0), HealthStatus::Unknown));
    settle().await;
    assert_eq!(bench.gateway.asked(), 1);
    timeout(millis(1_000), bench.call()).await.unwrap_err();
    assert_eq!((bench.tally("A"), bench.health("A")), (tally(1, 1), HealthStatus::Unhealthy));
    settle().await;
    assert_eq!(bench.gateway.asked(), 2, "a timeout placed outside the pool does not blind it");
}

#[tokio::test(start_paused = true)]
async fn when_a_dropped_call_counts_is_a_setting() {
    let settings = r#"{ "replicaPool": { "order": "listed", "abandonedCallIsFailureAfter": "PT3S" } }"#;
    let bench = Bench::new(&["A"], settings).await;
    bench.world.set("A", Remote::Hangs);
    timeout(millis(2_999), bench.call()).await.unwrap_err();
    assert_eq!((bench.tally("A"), bench.health("A")), (tally(0, 0), HealthStatus::Unknown));
    timeout(millis(3_000), bench.call()).await.unwrap_err();
    assert_eq!((bench.tally("A"), bench.health("A")), (tally(1, 1), HealthStatus::Unhealthy));
}

#[tokio::test(start_paused = true)]
async fn a_lease_counts_as_an_attempt_of_a_call_does() {
    let bench = Bench::new(&["A", "B"], FRAGILE).await;
    let young = bench.begin("A");
    advance(millis(999)).await;
    drop(young);
    assert_eq!((bench.tally("A"), bench.health("A")), (tally(0, 0), HealthStatus::Unknown));
    let old = bench.begin("A");
    advance(millis(1_000)).await;
    drop(old);
    assert_eq!((bench.circuit("A"), bench.health("A")), (Circuit::Open, HealthStatus::Unhealthy));
    bench.begin("B").finish(&Verdict::SUCCESS);
    assert_eq!(bench.health("B"), HealthStatus::Connected);
    let candidates = bench.pool.select(2);
    assert!(candidates[1].begin().is_err(), "A's circuit is open");
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_while_it_waits_for_addresses_leaves_nothing() {
    let bench = Bench::new(&["A"], LISTED).await;
    bench.gateway.hold();
    bench.world.set("A", Remote::Refuses);
    timeout(secs(10), bench.call()).await.unwrap_err();
    assert_eq!(bench.tally("A"), tally(1, 1));
    bench.gateway.release();
    settle().await;
    assert_eq!(bench.pool.snapshot().background_tasks, 0);
}

/// The deadline passes just as the first attempt fails.
#[tokio::test(start_paused = true)]
async fn nobody_is_asked_when_the_deadline_has_come() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    bench.world.set("A", Remote::ResetsAfter(secs(1)));
    let request = bench.pool.request().idempotent(true).deadline(secs(1)).judge(judge);
    let failed = request.call(bench.body()).await.unwrap_err();
    assert!(matches!(failed, CallError::DeadlineExceeded { attempts: 1, .. }), "{failed:?}");
    assert_eq!(bench.world.visits(), ["A"]);
}

/// It had all the time that an attempt may take.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_times_out_at_the_deadline_is_evidence() {
    let settings =
        r#"{ "replicaPool": { "order": "listed", "attemptTimeout": "PT0.5S", "deadline": "PT0.5S" } }"#;
    let bench = Bench::new(&["A"], settings).await;
    bench.gateway.hold();
    bench.world.set("A", Remote::Hangs);
    bench.call().await.unwrap_err();
    assert_eq!((bench.tally("A"), bench.health("A")), (tally(1, 1), HealthStatus::Unhealthy));
}

/// Also where nobody could be asked any more.
#[tokio::test(start_paused = true)]
async fn who_waits_for_addresses_until_the_deadline_is_told_so() {
    let bench = Bench::new(&["A"], FRAGILE).await;
    bench.gateway.hold();
    bench.world.set("A", Remote::Fails);
    let request = bench.pool.request().idempotent(true).deadline(secs(2)).judge(judge);
    let failed = request.call(bench.body()).await.unwrap_err();
    assert!(matches!(failed, CallError::DeadlineExceeded { attempts: 1, .. }), "{failed:?}");
    assert_eq!(bench.circuit("A"), Circuit::Open);
}

/// The first retry of who is told that a replica is gone is made although the gateway is silent: after the time of an attempt.
#[tokio::test(start_paused = true)]
async fn a_replica_that_is_gone_is_tried_again_without_an_answer_of_the_gateway() {
    let bench = Bench::new(&["A"], LISTED).await;
    bench.gateway.hold();
    bench.world.set("A", Remote::SaysGone);
    let elapsed = stopwatch();
    let request = bench.pool.request().idempotent(true).deadline(secs(1)).judge(judge);
    request.call(bench.body()).await.unwrap_err();
    assert_eq!((bench.world.visits(), elapsed()), (vec!["A", "A"], secs(5)));
}
