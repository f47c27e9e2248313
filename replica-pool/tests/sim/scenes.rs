//! Scenes in which one thing alone brings a replica back.

use std::{sync::Arc, time::Duration};

use breaker_core::Circuit;
use replica_pool::Replica;
use tokio::time::sleep;

use crate::{
    client::{Pooled, Whole},
    laws::Ledger,
    settings::{Settings, UNHEALTHY_TIMEOUT},
    store::PartId,
    truth::{Host, Node, Shared},
    wire::{self, judge},
    world::{Shape, stage},
};

/// Plays a client with so many pools, to its end.
pub(crate) fn play(
    settings: &Settings,
    pools: usize,
    client: impl AsyncFnOnce(Vec<(Whole, Ledger)>, Shared) + 'static,
) {
    fastrand::seed(7);
    let hosts = Shape::Whole.hosts();
    let truth = Shared::new(Shape::Whole.store(), &hosts, 1);
    let mut sim = stage(7, &truth, &hosts);
    let (settings, shared) = (settings.clone(), truth.clone());
    sim.client("c0", async move {
        let ledger = || Ledger::new(0, settings.clone(), shared.clone());
        let pools = (0..pools).map(|_| ledger()).map(|ledger| (Whole::build(&ledger), ledger)).collect();
        client(pools, shared.clone()).await;
        Ok(())
    });
    let ended = sim.run();
    if std::env::var("SIM_TRACE").is_ok() {
        truth.lock().trace.iter().for_each(|line| println!("{line}"));
    }
    ended.unwrap();
    assert_eq!(truth.lock().broken, None);
}

/// Who answer 40 calls, one after another. Each of them is answered.
async fn answering(pool: &Whole) -> Vec<Node> {
    let mut nodes = Vec::new();
    for _ in 0..40 {
        let request = pool.request().idempotent(true).judge(judge);
        nodes.push(request.call(|attempt| wire::call(*attempt.address(), PartId::WHOLE)).await.unwrap());
    }
    nodes.sort();
    nodes.dedup();
    nodes
}

/// Calls until everybody is in the ordinary order.
async fn settle(pool: &Whole) {
    let is_closed = |replica: &Arc<Replica<Node>>| replica.breaker().state().circuit() == Circuit::Closed;
    loop {
        answering(pool).await;
        if pool.replicas().replicas().iter().all(is_closed) {
            return;
        }
    }
}

const R1: Node = Node(1);
const OTHERS: [Node; 3] = [Node(0), Node(2), Node(3)];
const ALL: [Node; 4] = [Node(0), R1, Node(2), Node(3)];

/// The gateway does not answer, so nobody says that the replica is there; its circuit is closed, so nobody probes it; and the
/// others are well, so nobody needs it.
#[test]
fn without_a_gateway_a_replica_is_back_once_its_mark_is_old_enough() {
    for settings in Settings::defaults() {
        play(&settings, 1, async |pools, _| {
            let pool = &pools[0].0;
            settle(pool).await;
            assert_eq!(answering(pool).await, ALL);
            turmoil::partition("c0", Host::Gateway.to_string());
            turmoil::partition("c0", R1.to_string());
            assert_eq!(answering(pool).await, OTHERS);
            turmoil::repair("c0", R1.to_string());
            sleep(UNHEALTHY_TIMEOUT - Duration::from_secs(30)).await;
            assert_eq!(answering(pool).await, OTHERS);
            sleep(Duration::from_secs(30)).await;
            assert_eq!(answering(pool).await, ALL);
        });
    }
}

/// A mark would count for much longer.
#[test]
fn a_replica_is_back_as_soon_as_the_gateway_names_it_again() {
    for settings in Settings::defaults() {
        play(&settings, 1, async |pools, _| {
            let pool = &pools[0].0;
            settle(pool).await;
            assert_eq!(answering(pool).await, ALL);
            turmoil::hold("c0", Host::Gateway.to_string());
            turmoil::partition("c0", R1.to_string());
            assert_eq!(answering(pool).await, OTHERS);
            turmoil::repair("c0", R1.to_string());
            assert_eq!(answering(pool).await, OTHERS);
            turmoil::release("c0", Host::Gateway.to_string());
            sleep(Duration::from_secs(1)).await;
            assert_eq!(answering(pool).await, ALL);
        });
    }
}

/// All of them are gone, and another one is there.
#[test]
fn a_pool_whose_replicas_all_left_finds_the_new_one_within_the_call() {
    for settings in Settings::defaults() {
        play(&settings, 1, async |pools, truth| {
            let pool = &pools[0].0;
            assert_eq!(answering(pool).await, ALL);
            {
                let mut truth = truth.lock();
                truth.store.now.serving.insert(PartId::WHOLE, vec![Node(4)]);
                truth.store.tell_addresses();
            }
            assert_eq!(answering(pool).await, [Node(4)]);
        });
    }
}
