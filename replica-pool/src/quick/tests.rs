//! A quick pick is one that a look at everybody could have made.

use std::time::Duration;

use async_trait::async_trait;
use breaker_core::{Circuit, Mode, Timestamp};
use tokio::time::advance;

use super::*;
use crate::{
    Gateway, GatewayError, ReplicaPool, Verdict, candidates::Candidates, config::Config, order::View,
    partition::SHORT,
};

/// Names the same replicas again and again.
struct Numbers(u16);

#[async_trait]
impl Gateway<u16> for Numbers {
    async fn addresses(&self, (): &()) -> Result<Vec<u16>, GatewayError> {
        Ok((0..self.0).collect())
    }
}

fn config(order: &str) -> Config {
    let text = format!(
        r#"{{"circuitBreaker": {{"failureThreshold": 2, "testDelay": "5s", "successThreshold": 2}},
            "replicaPool": {{"order": "{order}", "targetReplicas": 4}}}}"#
    );
    Config::from_text("test.json", text).unwrap()
}

fn random_act(pool: &ReplicaPool<u16>, set: &ReplicaSet<u16>, rng: &mut Rng) {
    let replica = &set.replicas()[rng.usize(..set.replicas().len())];
    let verdicts = [Verdict::SUCCESS, Verdict::FAILURE, Verdict::UNREACHABLE, Verdict::IGNORED];
    match rng.u8(..12) {
        0 => replica.breaker().force_open(),
        1 => replica.breaker().disable(),
        2 => replica.breaker().observe_only(),
        3 | 4 => replica.breaker().release(),
        5 => replica.breaker().reset(),
        _ => {
            if let Ok(lease) = pool.acquire() {
                lease.finish(rng.choice(&verdicts).unwrap());
            }
        }
    }
}

fn views(pool: &ReplicaPool<u16>, set: &ReplicaSet<u16>) -> Vec<View> {
    set.replicas().iter().map(|replica| pool.partition.shared.view(replica)).collect()
}

/// Plays a history, and compares what is settled with what everybody looks like after each step. Says how often it was
/// settled with somebody out of order.
async fn play(order: &str, replicas: u16, seed: u64) -> u32 {
    let mut rng = Rng::with_seed(seed);
    let pool = ReplicaPool::<u16>::builder(Numbers(replicas)).config(config(order)).build().unwrap();
    pool.ready().await.unwrap();
    let (partition, mut sick) = (&pool.partition, 0);
    let order = partition.shared.config.order();
    for step in 0..400 {
        let set = pool.replicas();
        random_act(&pool, &set, &mut rng);
        if rng.u8(..4) == 0 {
            advance(Duration::from_millis(rng.u64(..20_000))).await;
        }
        let set = pool.replicas();
        // A look at everybody, in some of the steps.
        let looks = rng.bool();
        if looks {
            let _ = Candidates::all(partition, &set).choose_first(&mut rng);
        }
        if !partition.is_settled(&set) {
            assert_eq!(partition.quick_pick(&set, &mut rng), None);
            continue;
        }
        let context = || format!("seed {seed}, step {step}: {:#?}", views(&pool, &set));
        let (views, now) = (views(&pool, &set), partition.now());
        for view in &views {
            assert!(!view.overdue, "the gateway should be asked. {}", context());
            let circuit = view.circuit;
            let on_trial = circuit.mode == Mode::Automatic && circuit.circuit == Circuit::HalfOpen;
            assert!(!on_trial, "a trial would be due. {}", context());
            assert!(view.settled_until() > now, "it may change by now. {}", context());
        }
        let short_at = set.short_since().map_or(Timestamp::MAX, |since| since + SHORT);
        assert!(now < short_at, "the set has been short for long. {}", context());
        let first_rank = |index: usize| views[index].rank(order) == 0;
        sick += u32::from(!(0..views.len()).all(first_rank));
        match partition.quick_pick(&set, &mut rng) {
            Some(pick) if order == Order::Listed => {
                assert_eq!(Some(pick), (0..views.len()).find(|index| first_rank(*index)), "{}", context());
            }
            Some(pick) => assert!(first_rank(pick), "picked {pick}. {}", context()),
            None => assert!(!(0..views.len()).all(first_rank), "nobody was picked. {}", context()),
        }
        let n = rng.usize(..=views.len());
        let well = (0..views.len()).filter(|index| first_rank(*index)).count();
        let picks = partition.quick_picks(n, &set, &mut rng);
        assert_eq!(picks.is_some(), n <= well, "{}", context());
        if let Some(picks) = picks {
            let mut distinct = picks.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), n, "{picks:?}. {}", context());
            assert!(picks.iter().all(|pick| first_rank(*pick)), "{picks:?}. {}", context());
            assert!(order == Order::Shuffled || picks.is_sorted(), "{picks:?}. {}", context());
        }
    }
    sick
}

#[tokio::test(start_paused = true)]
async fn what_is_settled_is_what_a_look_at_everybody_would_find() {
    let mut sick = 0;
    for seed in 0..60 {
        for order in ["shuffled", "listed"] {
            sick += play(order, 2 + (seed % 5) as u16, seed).await;
        }
    }
    // Otherwise nothing was compared but the easy case.
    assert!(sick > 1_000, "settled with somebody out of order only {sick} times");
}

#[tokio::test(start_paused = true)]
async fn each_replica_of_the_first_rank_is_picked_as_often() {
    let pool = ReplicaPool::<u16>::builder(Numbers(4)).build().unwrap();
    pool.ready().await.unwrap();
    let set = pool.replicas();
    set.replicas()[2].breaker().force_open();
    let mut picks = [0_u32; 4];
    for _ in 0..30_000 {
        let lease = pool.acquire().unwrap();
        picks[usize::from(*lease.replica().address())] += 1;
        lease.finish(&Verdict::SUCCESS);
    }
    assert!(pool.partition.is_settled(&set));
    assert_eq!(picks[2], 0);
    for index in [0, 1, 3] {
        // Six standard deviations of 82.
        assert!((9_500..=10_500).contains(&picks[index]), "{picks:?}");
    }
}

/// Each of the six orders of three equals, of which two are asked for.
#[tokio::test(start_paused = true)]
async fn a_selection_of_equals_is_shuffled() {
    let pool = ReplicaPool::<u16>::builder(Numbers(3)).build().unwrap();
    pool.ready().await.unwrap();
    let (set, mut rng) = (pool.replicas(), Rng::with_seed(4711));
    let _ = Candidates::all(&pool.partition, &set).choose_first(&mut rng);
    let mut orders = std::collections::BTreeMap::new();
    for _ in 0..6_000 {
        let picks = pool.partition.quick_picks(2, &set, &mut rng).unwrap();
        *orders.entry(picks).or_insert(0) += 1;
    }
    assert_eq!(orders.len(), 6);
    // Six standard deviations of 29.
    assert!(orders.values().all(|count| (826..=1_174).contains(count)), "{orders:?}");
}
