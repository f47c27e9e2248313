//! Circuits that no call goes through, so that no call finds out that their replica has moved.

use breaker_core::Circuit;
use replica_pool::{HealthStatus, Verdict};
use tokio::time::sleep;

use crate::kit::{Addr, Bench, Registry, Remote, millis, secs};

/// Opens R1's circuit by a failure that says nothing of its address.
async fn with_r1_open(settings: &str) -> Bench {
    let bench = Bench::new(&["R1", "R2"], settings).await;
    bench.begin("R1").finish(&Verdict::FAILURE);
    assert_eq!((bench.circuit("R1"), bench.health("R1")), (Circuit::Open, HealthStatus::Unknown));
    bench
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_is_held_open_without_a_mark_is_asked_about_after_a_minute_until_it_is_well_or_gone() {
    let bench = with_r1_open(
        r#"{ "circuitBreaker": { "failureThreshold": 1, "testDelay": "PT10M" },
             "replicaPool": { "resetCircuitsOnRefresh": false } }"#,
    )
    .await;
    sleep(secs(59)).await;
    assert_eq!(bench.gateway.asked(), 1, "it may be well again by itself");
    sleep(millis(1_500)).await;
    assert_eq!(bench.gateway.asked(), 2);
    // It moves, and no call goes to where it was.
    bench.gateway.names(&["R3", "R2"]);
    sleep(secs(20)).await;
    assert_eq!(bench.addresses(), ["R3", "R2"]);
    let asked = bench.gateway.asked();
    sleep(secs(600)).await;
    assert_eq!(bench.gateway.asked(), asked, "everybody is there");
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_calls_may_try_again_is_not_asked_about() {
    let bench =
        with_r1_open(r#"{ "circuitBreaker": { "failureThreshold": 1, "testDelay": "PT30S" } }"#).await;
    sleep(secs(600)).await;
    assert_eq!(bench.gateway.asked(), 1);
}

/// `R2` and `R1`, asked in this order, whose circuits start open. `R1` answers nobody, `R2` everybody.
async fn with_canaries(circuit: &str) -> Bench {
    let settings = format!(
        r#"{{ "circuitBreaker": {{ "strategy": "CANARY_RATE_THRESHOLD" {circuit} }},
        "replicaPool": {{ "order": "listed" }} }}"#
    );
    let bench = Bench::build(Registry::naming(&["R2", "R1"]), &settings, |builder| builder);
    bench.world.set("R1", Remote::Refuses);
    bench.pool.ready().await.unwrap();
    assert_eq!(asked_within(&bench, 12).await, 0);
    assert_eq!([bench.circuit("R2"), bench.circuit("R1")], [Circuit::Closed, Circuit::Open]);
    bench
}

/// How often the gateway is asked within `span`, with a call in each second.
async fn asked_within(bench: &Bench, span: u64) -> usize {
    let before = bench.gateway.asked();
    for _ in 0..span {
        assert_eq!(bench.call().await.unwrap(), "R2");
        sleep(secs(1)).await;
    }
    bench.gateway.asked() - before
}

async fn moves_to_r3(bench: &Bench) {
    bench.gateway.names(&["R2", "R3"]);
    assert_eq!(asked_within(bench, 61).await, 1);
    assert_eq!(bench.addresses(), ["R2", "R3"]);
    assert_eq!(asked_within(bench, 600).await, 0, "everybody is there");
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_started_open_and_stays_so_is_asked_about_once_a_minute() {
    let bench = with_canaries("").await;
    assert_eq!(asked_within(&bench, 47).await, 0, "its probes may yet find it well");
    assert_eq!(asked_within(&bench, 2).await, 1);
    assert_eq!(asked_within(&bench, 58).await, 0);
    moves_to_r3(&bench).await;
}

#[tokio::test(start_paused = true)]
async fn nobody_asks_when_all_who_started_open_are_well() {
    let bench = with_canaries("").await;
    bench.world.set("R1", Remote::Well);
    assert_eq!(asked_within(&bench, 600).await, 0);
}

/// An answer resets a circuit to its start, which is open: there is nothing against it any more, and no call goes there.
#[tokio::test(start_paused = true)]
async fn a_circuit_that_an_answer_reset_to_open_is_asked_about() {
    let bench = with_canaries("").await;
    bench.world.set("R1", Remote::Well);
    sleep(secs(2)).await;
    for _ in 0..10 {
        bench.fail("R1");
    }
    bench.world.set("R1", Remote::Refuses);
    bench.pool.refresh().await.unwrap();
    assert_eq!((bench.circuit("R1"), bench.replica("R1").breaker().is_tripped()), (Circuit::Open, false));
    sleep(secs(5)).await;
    moves_to_r3(&bench).await;
}

/// So is one that no failed call has opened.
#[tokio::test(start_paused = true)]
async fn a_circuit_that_was_half_open_for_too_long_is_asked_about() {
    let bench = with_canaries(r#", "maxWaitDurationInHalfOpenState": "PT20S" "#).await;
    bench.world.set("R1", Remote::Well);
    assert_eq!(asked_within(&bench, 3).await, 0);
    assert_eq!(bench.circuit("R1"), Circuit::HalfOpen);
    bench.world.set("R1", Remote::Refuses);
    assert_eq!(asked_within(&bench, 21).await, 0);
    assert_eq!(bench.circuit("R1"), Circuit::Open);
    moves_to_r3(&bench).await;
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_is_held_open_by_hand_is_not_asked_about_and_one_that_was_reset_is() {
    let bench = with_canaries("").await;
    bench.world.set("R1", Remote::Well);
    assert_eq!(asked_within(&bench, 61).await, 0);
    bench.replica("R1").breaker().force_open();
    assert_eq!(asked_within(&bench, 600).await, 0, "by hand");
    bench.world.set("R1", Remote::Refuses);
    bench.replica("R1").breaker().release();
    bench.replica("R1").breaker().reset();
    assert_eq!(bench.circuit("R1"), Circuit::Open);
    moves_to_r3(&bench).await;
}

/// A list that cannot change is never asked for.
#[tokio::test(start_paused = true)]
async fn nobody_asks_about_a_fixed_list() {
    use replica_pool::{FixedList, ReplicaPool, config::Config};
    let settings = r#"{ "circuitBreaker": { "failureThreshold": 1, "testDelay": "PT10M" } }"#;
    let config = Config::from_text("test.json", settings).unwrap();
    let list = FixedList::new(["R1", "R2"]);
    let pool = ReplicaPool::<Addr>::builder(list).config(config).build().unwrap();
    pool.select(1)[0].begin().unwrap().finish(&Verdict::FAILURE);
    assert_eq!(pool.select(2).len(), 2);
    assert_eq!(pool.snapshot().background_tasks, 0);
}
