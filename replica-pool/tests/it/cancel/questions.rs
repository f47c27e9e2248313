//! What else can be waited for: addresses, fresh ones, and connections.

use std::thread::available_parallelism;

use futures::FutureExt;
use replica_pool::HealthStatus;
use tokio::time::timeout;

use super::{Cut, Places, at_every_await, nothing_is_left, tasks};
use crate::kit::{Bench, Registry, Remote, millis, secs, settle, stopwatch};

const SETTINGS: &str = r#"{ "replicaPool": { "suspectAfter": "PT1S" } }"#;

#[tokio::test(start_paused = true)]
async fn waiting_for_the_first_addresses() {
    at_every_await(1, async |cut: Cut| {
        let gateway = Registry::naming(&["A"]);
        gateway.takes(millis(500));
        let bench = Bench::build(gateway, SETTINGS, |builder| builder);
        let pool = bench.pool.clone();
        let other = tokio::spawn(async move { pool.ready().await });
        let completed = cut.short(bench.pool.ready()).await;
        assert!(completed.as_ref().is_none_or(Result::is_ok));
        assert!(other.await.unwrap().is_ok());
        assert_eq!(bench.gateway.asked(), 1, "they waited for one answer");
        nothing_is_left(bench, Places::InFlight(5), &["A"]).await;
        completed.is_some()
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn waiting_for_fresh_addresses() {
    at_every_await(1, async |cut: Cut| {
        let bench = Bench::new(&["A"], SETTINGS).await;
        bench.gateway.takes(millis(500));
        bench.gateway.names(&["A", "B"]);
        let completed = cut.short(bench.pool.refresh()).await;
        let asked = if cut.polls == 0 { 1 } else { 2 };
        settle().await;
        assert_eq!(bench.gateway.asked(), asked, "the question goes on without its caller");
        let pool = bench.pool.clone();
        tokio::spawn(async move { pool.refresh().await }).await.unwrap().unwrap();
        assert_eq!(bench.addresses(), ["A", "B"]);
        nothing_is_left(bench, Places::InFlight(5), &["A", "B"]).await;
        completed.is_some()
    })
    .await;
}

/// Two connectors that wait, behind a cap of one for each core.
#[tokio::test(start_paused = true)]
async fn opening_connections() {
    let names = ["A", "B", "C", "D", "E", "F", "G", "H"];
    for moment in [super::Moment::WhenItWaits, super::Moment::WhenItIsWoken] {
        // How often it is woken depends on the cores.
        for polls in 0..100 {
            let bench = Bench::new(&names, SETTINGS).await;
            for name in names {
                bench.world.set(name, Remote::Slow(millis(100)));
            }
            let completed = Cut { polls, moment }.short(bench.pool.warm_up()).await;
            // Places for connections, and the marks of who opens them, are there again, and no more than there were.
            let left = names.iter().filter(|name| bench.health(name) != HealthStatus::Connected).count();
            let elapsed = stopwatch();
            let again = timeout(secs(60), bench.pool.warm_up()).await.unwrap();
            let cores = available_parallelism().map_or(1, usize::from);
            let turns = again.div_ceil(cores) as u64;
            assert_eq!(
                elapsed().as_millis(),
                u128::from(100 * turns),
                "{again} by {cores}, after {polls} polls"
            );
            assert_eq!(again, left, "after {polls} polls");
            assert!(completed.is_none_or(|opened| opened == names.len() && again == 0), "{again}");
            nothing_is_left(bench, Places::InFlight(5), &names).await;
            assert_eq!(tasks(), 0);
            if completed.is_some() {
                assert!(polls >= 2, "it waited");
                return;
            }
        }
    }
    unreachable!("it never completes");
}

/// A question that was dropped unanswered, in a pool that goes on.
#[tokio::test(start_paused = true)]
async fn a_question_whose_caller_left_is_answered_for_the_next_one() {
    let bench = Bench::new(&["A"], SETTINGS).await;
    bench.gateway.hold();
    assert!(bench.pool.refresh().now_or_never().is_none());
    settle().await;
    assert_eq!(bench.gateway.asked(), 2);
    let pool = bench.pool.clone();
    let next = tokio::spawn(async move { pool.refresh().await });
    settle().await;
    bench.gateway.release();
    tokio::time::timeout(secs(1), next).await.unwrap().unwrap().unwrap();
    assert_eq!(bench.gateway.asked(), 2, "it joined the one under way");
}
