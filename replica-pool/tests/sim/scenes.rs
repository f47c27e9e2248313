//! Scenes in which one thing alone helps, or one thing alone goes wrong.

use std::{sync::Arc, time::Duration};

use breaker_core::Circuit;
use fastrand::Rng;
use replica_pool::{Diagnostics, Replica};
use tokio::{task::JoinSet, time::sleep};

use crate::{
    client::{Divided, Pooled, Whole, routed},
    laws::Ledger,
    settings::{Settings, UNHEALTHY_TIMEOUT},
    store::{Change, KEYS, PartId},
    truth::{Host, Manner, Node, Shared},
    wire::{self, judge},
    world::{Shape, stage},
};

/// Plays a client with so many pools, to its end.
pub(crate) fn play<P: Pooled>(
    shape: Shape,
    settings: &Settings,
    pools: usize,
    client: impl AsyncFnOnce(Vec<(P, Ledger)>, Shared) + 'static,
) {
    fastrand::seed(7);
    let hosts = shape.hosts();
    let truth = Shared::new(shape.store(), &hosts, 1);
    let mut sim = stage(7, &truth, &hosts);
    let (settings, shared) = (settings.clone(), truth.clone());
    sim.client("c0", async move {
        let ledger = || Ledger::new(0, settings.clone(), shared.clone());
        let pools = (0..pools).map(|_| ledger()).map(|ledger| (P::build(&ledger), ledger)).collect();
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

/// Plays a client with one pool over four replicas.
fn play_whole(client: impl AsyncFnOnce(Whole, Shared) + Copy + 'static) {
    for settings in Settings::defaults() {
        play(Shape::Whole, &settings, 1, async move |pools: Vec<(Whole, _)>, truth| {
            client(pools[0].0.clone(), truth).await;
        });
    }
}

/// Plays a client with one pool over two partitions.
fn play_divided(client: impl AsyncFnOnce(Divided, Ledger) + Copy + 'static) {
    for settings in Settings::defaults() {
        play(Shape::Divided, &settings, 1, async move |pools: Vec<(Divided, Ledger)>, _| {
            let (pool, ledger) = pools.into_iter().next().unwrap();
            settle_divided(&pool).await;
            client(pool, ledger).await;
        });
    }
}

fn all_are_closed(pool: &Whole) -> bool {
    let is_closed = |replica: &Arc<Replica<Node>>| replica.breaker().state().circuit() == Circuit::Closed;
    pool.replicas().replicas().iter().all(is_closed)
}

/// Calls until everybody is in the ordinary order.
async fn settle_divided(pool: &Divided) {
    loop {
        for key in 0..KEYS {
            answer(pool.clone(), key).await;
        }
        if pool.parts().iter().all(|(_, pool)| all_are_closed(pool)) {
            return;
        }
    }
}

/// Who answers a call for `key`; somebody must.
async fn answer(pool: Divided, key: u8) -> Node {
    routed(&pool, key, &mut Diagnostics::default()).await.unwrap()
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
    answering(pool).await;
    while !all_are_closed(pool) {
        answering(pool).await;
    }
}

const R1: Node = Node(1);
const OTHERS: [Node; 3] = [Node(0), Node(2), Node(3)];
const ALL: [Node; 4] = [Node(0), R1, Node(2), Node(3)];

/// The gateway does not answer, so nobody says that the replica is there; its circuit is closed, so nobody probes it; and the
/// others are well, so nobody needs it.
#[test]
fn without_a_gateway_a_replica_is_back_once_its_mark_is_old_enough() {
    play_whole(async |pool, _| {
        let pool = &pool;
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

/// A mark would count for much longer.
#[test]
fn a_replica_is_back_as_soon_as_the_gateway_names_it_again() {
    play_whole(async |pool, _| {
        let pool = &pool;
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

/// All of them are gone, and another one is there.
#[test]
fn a_pool_whose_replicas_all_left_finds_the_new_one_within_the_call() {
    play_whole(async |pool, truth| {
        let pool = &pool;
        assert_eq!(answering(pool).await, ALL);
        {
            let mut truth = truth.lock();
            truth.store.now.serving.insert(PartId::WHOLE, vec![Node(4)]);
            truth.store.tell_addresses();
        }
        assert_eq!(answering(pool).await, [Node(4)]);
    });
}

/// A question that is older than the change is answered after it, with what was so then.
#[test]
fn a_map_that_was_asked_for_before_a_change_does_not_count() {
    play_divided(async |pool, ledger| {
        let slowly = |slow: Option<Duration>| {
            ledger.truth.lock().set_manner(Host::Map, slow.map_or(Manner::Well, Manner::Slow));
        };
        slowly(Some(Duration::from_secs(3)));
        let older = pool.clone();
        let older = tokio::spawn(async move { older.refresh().await });
        sleep(Duration::from_secs(1)).await;
        slowly(None);
        let keys = {
            let (mut truth, mut rng) = (ledger.truth.lock(), Rng::with_seed(1));
            let keys = truth.store.announce(Change::Split, &mut rng).unwrap();
            truth.store.change(&mut rng);
            truth.store.tell_map();
            truth.store.tell_addresses();
            keys
        };
        answer(pool.clone(), keys.start).await;
        older.await.unwrap().unwrap();
        assert_eq!(pool.routing_map().unwrap().version(), 2);
    });
}

/// The two partitions exchange their replicas. One of these answers late, when those who heard it from others have
/// already asked.
#[test]
fn those_who_hear_of_a_change_late_ask_for_nothing() {
    const LATE: Node = Node(4);
    const KEY: u8 = KEYS - 1;
    play_divided(async |pool, ledger| {
        turmoil::hold("c0", LATE.to_string());
        let mut calls = JoinSet::new();
        (0..20).for_each(|_| drop(calls.spawn(answer(pool.clone(), KEY))));
        sleep(Duration::from_secs(1)).await;
        {
            let mut truth = ledger.truth.lock();
            let swap = |part: PartId| (PartId(1 - part.0), truth.store.now.serving[&part].clone());
            truth.store.now.serving = [PartId(0), PartId(1)].map(swap).into();
            truth.store.now.version += 1;
            truth.store.tell_map();
            truth.store.tell_addresses();
        }
        (0..20).for_each(|_| drop(calls.spawn(answer(pool.clone(), KEY))));
        sleep(Duration::from_secs(2)).await;
        // Those who asked somebody else have been served.
        while calls.try_join_next().is_some() {}
        let asked = || (ledger.sums().maps, ledger.sums().questions);
        let (late, before) = (calls.len(), asked());
        assert!((5..35).contains(&late), "{late}");
        assert_eq!(pool.routing_map().unwrap().version(), 2);
        turmoil::release("c0", LATE.to_string());
        calls.join_all().await;
        assert_eq!(asked(), before);
    });
}
