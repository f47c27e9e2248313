//! A whole pool on a simulated network: gateway, replicas, validation and canaries, in virtual time.
//!
//! Everything that happens in a world follows from its seed. `SIM_SEED=7` plays one world, `SIM_SEEDS=100` so many; a
//! world that breaks a law prints its seed. `SIM_TRACE=1` prints all that happened.

#![allow(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod client;
mod crowd;
mod herd;
mod laws;
mod plan;
mod settings;
mod truth;
mod wire;
mod world;

use std::{env, time::Duration};

use crate::{settings::Settings, world::World};

/// How many worlds a plain test run plays.
const SEEDS: u64 = 4;

fn variable(name: &str) -> Option<u64> {
    env::var(name).ok().map(|value| value.parse().unwrap())
}

/// The seeds to play: an even one is a world of `STATIC_THRESHOLD`, an odd one of `CANARY_RATE_THRESHOLD`.
fn seeds() -> std::ops::Range<u64> {
    match variable("SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..variable("SIM_SEEDS").unwrap_or(SEEDS),
    }
}

#[test]
fn random_worlds_break_no_law() {
    let mut total = world::Report::default();
    for seed in seeds() {
        let report = World::new(seed, Settings::of(seed)).run();
        if variable("SIM_TRACE").is_some() {
            report.trace.iter().for_each(|line| println!("{line}"));
        }
        if let Some(broken) = &report.broken {
            panic!(
                "{broken}\nreproduce: SIM_SEED={seed} cargo test -p replica-pool --test sim random_worlds"
            );
        }
        total.add(&report);
    }
    println!("{total}");
    // Worlds in which nothing ever goes wrong prove nothing.
    assert!(total.calls > 1_000 && total.trips > 0 && total.answers > 0 && total.judged > 0);
}

#[test]
fn one_seed_has_one_history() {
    let play = |seed| World::new(seed, Settings::of(seed)).lasting(Duration::from_secs(300)).run().trace;
    for seed in [4, 5] {
        let (first, second) = (play(seed), play(seed));
        assert!(first.len() > 500, "{} lines", first.len());
        let differs = first.iter().zip(&second).find(|(one, other)| one != other);
        assert_eq!(differs, None, "seed {seed}");
        assert_eq!(first.len(), second.len());
    }
    assert_ne!(play(4), play(6));
}
