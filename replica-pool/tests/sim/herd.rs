//! Many at once: pools that start together, and calls that find one replica left.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::sleep;

use crate::{
    client::{Pooled, Whole},
    laws::{Ledger, Sums, now},
    scenes,
    settings::Settings,
    truth::{Host, Node, Shared},
    world::Shape,
};

const POOLS: usize = 20;
const CALLS: usize = 20;

/// Plays all pools of a herd.
fn play(settings: &Settings, client: impl AsyncFnOnce(Vec<(Whole, Ledger)>, Shared) + 'static) {
    scenes::play(Shape::Whole, settings, POOLS, client);
}

/// Calls of every pool, all at once.
async fn herd(pools: &[(Whole, Ledger)]) {
    let calls = pools.iter().flat_map(|pool| std::iter::repeat_n(pool, CALLS));
    join_all(calls.map(|(pool, ledger)| pool.clone().call(ledger.clone(), 0))).await;
}

/// How many calls were made, how many failed, and how many questions were answered.
fn sums(pools: &[(Whole, Ledger)]) -> (usize, usize, usize) {
    let sums: Vec<_> = pools.iter().map(|(_, ledger)| ledger.sums()).collect();
    let sum = |of: fn(&Sums) -> usize| sums.iter().map(of).sum();
    (sum(|sums| sums.calls), sum(|sums| sums.failed), sum(|sums| sums.answers))
}

#[test]
fn pools_that_start_together_serve_their_first_calls_and_ask_once() {
    for settings in Settings::defaults() {
        play(&settings, async |pools, _| {
            herd(&pools).await;
            assert_eq!(sums(&pools), (POOLS * CALLS, 0, POOLS));
        });
    }
}

#[test]
fn calls_wait_for_a_gateway_that_comes_late_and_ask_it_once() {
    for settings in Settings::defaults() {
        play(&settings, async |pools, _| {
            turmoil::hold("c0", Host::Gateway.to_string());
            let heals = async {
                sleep(Duration::from_secs(10)).await;
                turmoil::release("c0", Host::Gateway.to_string());
            };
            futures::join!(herd(&pools), heals);
            assert_eq!(sums(&pools), (POOLS * CALLS, 0, POOLS));
        });
    }
}

/// Three of four replicas hang or refuse from one moment on: every call finds the fourth, within its deadline.
#[test]
fn no_call_fails_while_one_replica_is_left() {
    for settings in Settings::defaults() {
        play(&settings, async |pools, truth| {
            herd(&pools).await;
            turmoil::hold("c0", "r0");
            turmoil::partition("c0", "r1");
            turmoil::hold("c0", "r2");
            (0..3).map(Node).for_each(|node| truth.lock().set_well([0], Host::Node(node), None));
            for _ in 0..20 {
                herd(&pools).await;
                sleep(Duration::from_secs(2)).await;
            }
            assert_eq!(sums(&pools).1, 0);
        });
    }
}

/// All of them are away for a minute, and come back together.
#[test]
fn a_herd_is_served_again_once_everybody_is_back_for_as_long_as_a_circuit_waits() {
    for settings in Settings::defaults() {
        let bound = settings.settled() + settings.longest_open();
        play(&settings, async move |pools, truth| {
            herd(&pools).await;
            let all = || (0..4).map(Node);
            let good = |since| all().for_each(|node| truth.lock().set_well([0], Host::Node(node), since));
            good(None);
            all().for_each(|node| turmoil::partition("c0", node.to_string()));
            for _ in 0..10 {
                herd(&pools).await;
                sleep(Duration::from_secs(5)).await;
            }
            let failed = sums(&pools).1;
            assert!(failed > 0);
            all().for_each(|node| turmoil::repair("c0", node.to_string()));
            good(Some(now()));
            sleep(bound).await;
            for _ in 0..10 {
                herd(&pools).await;
            }
            assert_eq!(sums(&pools).1, failed);
        });
    }
}
