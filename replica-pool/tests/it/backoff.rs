//! Section 8 of the rules: how often the gateway is asked when that leads nowhere.

use replica_pool::{HealthStatus, Verdict};
use tokio::time::{advance, sleep};

use crate::kit::{Answer, Bench, Remote, millis, secs, settle, stopwatch};

const LISTED: &str = r#"{ "replicaPool": { "order": "listed" } }"#;

/// Whether each gap is its span, a fifth more or less (and the time that a timer may be late).
fn are_jittered(gaps: &[f64], spans: &[f64]) -> bool {
    gaps.len() == spans.len()
        && gaps.iter().zip(spans).all(|(gap, span)| (span * 0.8..=span * 1.2 + 0.002).contains(gap))
}

#[tokio::test(start_paused = true)]
async fn a_gateway_that_fails_is_asked_after_1_2_4_8_and_15_seconds() {
    let bench = Bench::new(&["A"], LISTED).await;
    bench.gateway.answer(Answer::Fails);
    for _ in 0..8 {
        bench.pool.refresh().await.unwrap_err();
    }
    let gaps = bench.gateway.gaps(7);
    assert!(are_jittered(&gaps, &[1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0]), "{gaps:?}");
    assert!(gaps[4..].windows(2).any(|pair| pair[0] != pair[1]), "pools must not ask in step: {gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_answer_to_a_forced_question_backs_off_and_a_changed_one_ends_it() {
    let bench = Bench::new(&["A"], LISTED).await;
    for _ in 0..4 {
        bench.pool.refresh().await.unwrap();
    }
    let gaps = bench.gateway.gaps(3);
    assert!(are_jittered(&gaps, &[1.0, 2.0, 4.0]), "{gaps:?}");
    bench.gateway.names(&["B"]);
    bench.pool.refresh().await.unwrap();
    // The next one need not wait, the one after that waits as if it were the second.
    for _ in 0..3 {
        bench.pool.refresh().await.unwrap();
    }
    let gaps = bench.gateway.gaps(4);
    assert!(are_jittered(&gaps, &[8.0, 0.0, 1.0, 2.0]), "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn a_changed_answer_in_the_same_number_is_a_change() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    bench.gateway.names(&["B", "C"]);
    bench.pool.refresh().await.unwrap();
    bench.pool.refresh().await.unwrap();
    let gaps = bench.gateway.gaps(1);
    assert!(are_jittered(&gaps, &[0.0]), "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn after_a_quiet_time_there_is_no_pause() {
    let bench = Bench::new(&["A"], LISTED).await;
    for _ in 0..4 {
        bench.pool.refresh().await.unwrap();
    }
    sleep(secs(60)).await;
    for _ in 0..3 {
        bench.pool.refresh().await.unwrap();
    }
    let gaps = bench.gateway.gaps(2);
    assert!(are_jittered(&gaps, &[1.0, 2.0]), "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn look_ups_are_served_while_a_question_waits() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    bench.gateway.answer(Answer::Fails);
    for _ in 0..5 {
        bench.pool.refresh().await.unwrap_err();
    }
    let elapsed = stopwatch();
    bench.world.set("A", Remote::Refuses);
    bench.mark("A");
    assert_eq!(bench.call().await.unwrap(), "B");
    assert_eq!(elapsed().as_nanos(), 0);
}

#[tokio::test(start_paused = true)]
async fn whoever_failed_on_an_older_set_asks_nobody() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    let (leaves, stays) = (bench.begin("A"), bench.begin("B"));
    bench.gateway.names(&["B", "C"]);
    bench.pool.refresh().await.unwrap();
    leaves.finish(&Verdict::UNREACHABLE);
    settle().await;
    assert_eq!(bench.gateway.asked(), 2, "A is gone already");
    stays.finish(&Verdict::UNREACHABLE);
    settle().await;
    assert_eq!(bench.gateway.asked(), 3, "that B is bad is news to the newer set as well");
}

#[tokio::test(start_paused = true)]
async fn who_asks_while_a_question_runs_joins_it() {
    let bench = Bench::new(&["A"], LISTED).await;
    bench.gateway.takes(secs(2));
    let askers = futures::future::join_all((0..100).map(|_| bench.pool.refresh())).await;
    assert!(askers.iter().all(Result::is_ok));
    assert_eq!(bench.gateway.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_asker_does_not_take_the_question_with_it() {
    let bench = Bench::new(&["A"], LISTED).await;
    bench.gateway.takes(secs(2));
    bench.gateway.names(&["B"]);
    tokio::time::timeout(secs(1), bench.pool.refresh()).await.unwrap_err();
    sleep(millis(1_001)).await;
    assert_eq!(bench.addresses(), ["B"]);
}

#[tokio::test(start_paused = true)]
async fn failing_answers_take_nothing_away_and_the_first_good_one_is_taken() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    bench.mark("A");
    bench.gateway.answer(Answer::Fails);
    for _ in 0..3 {
        bench.pool.refresh().await.unwrap_err();
        assert_eq!(bench.addresses(), ["A", "B"]);
        assert_eq!(bench.health("A"), HealthStatus::Unhealthy, "a failed answer confirms nobody");
    }
    bench.gateway.names(&["C"]);
    bench.pool.refresh().await.unwrap();
    assert_eq!(bench.addresses(), ["C"]);
}

#[tokio::test(start_paused = true)]
async fn a_set_that_stays_too_small_is_asked_about_every_ten_minutes_and_holds_nobody_up() {
    let settings = r#"{ "replicaPool": { "order": "listed", "targetReplicas": 3 } }"#;
    let bench = Bench::new(&["A", "B"], settings).await;
    for _ in 0..3_600 {
        bench.order();
        settle().await;
        advance(secs(1)).await;
    }
    assert_eq!(bench.gateway.asked(), 1 + 5, "after 10, 20, 30, 40 and 50 minutes");
    let gaps = bench.gateway.gaps(4);
    assert!(gaps.iter().all(|gap| (600.0..602.0).contains(gap)), "{gaps:?}");
    bench.mark("A");
    settle().await;
    assert_eq!(
        bench.gateway.asked(),
        1 + 5 + 1,
        "the hour is full, and A is bad: one question, with no pause before it"
    );
}

#[tokio::test(start_paused = true)]
async fn a_list_that_only_changes_its_order_is_followed_in_a_list() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    let version = bench.pool.replicas().version();
    bench.gateway.names(&["B", "A"]);
    bench.pool.refresh().await.unwrap();
    assert_eq!(bench.order(), ["B", "A"]);
    assert_eq!(bench.pool.replicas().version(), version, "nobody came or went");
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_left_for_good_is_forgotten() {
    let bench = Bench::new(&["A", "B"], LISTED).await;
    let left = std::sync::Arc::downgrade(&bench.replica("B"));
    bench.gateway.names(&["A"]);
    bench.pool.refresh().await.unwrap();
    advance(secs(59)).await;
    bench.pool.refresh().await.unwrap();
    assert!(left.upgrade().is_some(), "it may come back");
    advance(secs(1)).await;
    bench.pool.refresh().await.unwrap();
    assert!(left.upgrade().is_none());
}

/// A pause grows by the next failure if that comes before twice its span, even if nobody had to wait for it.
#[tokio::test(start_paused = true)]
async fn who_asks_a_little_after_the_pause_makes_it_grow_all_the_same() {
    let bench = Bench::new(&["A"], LISTED).await;
    bench.gateway.answer(Answer::Fails);
    bench.pool.refresh().await.unwrap_err();
    sleep(millis(1_300)).await;
    for _ in 0..2 {
        bench.pool.refresh().await.unwrap_err();
    }
    let gaps = bench.gateway.gaps(2);
    assert!((1.3..1.31).contains(&gaps[0]), "the pause of a second was over: {gaps:?}");
    assert!(are_jittered(&gaps[1..], &[2.0]), "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn answers_that_nobody_forced_need_no_pause() {
    let settings = r#"{ "replicaPool": { "refreshInterval": "PT0.5S" } }"#;
    let bench = Bench::new(&["A"], settings).await;
    sleep(secs(5)).await;
    settle().await;
    assert_eq!(bench.gateway.asked(), 1 + 10);
}
