//! A whole pool on a simulated network: gateway, replicas, validation and canaries, in virtual time.
//!
//! Everything that happens in a world follows from its seed. `SIM_SEED=7` plays one world, `SIM_SEEDS=100` so many; a
//! world that breaks a law prints its seed. `SIM_TRACE=1` prints all that happened.

#![allow(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod asks;
mod client;
mod crowd;
mod herd;
mod laws;
mod plan;
mod routed;
mod scenes;
mod settings;
mod store;
mod truth;
mod wire;
mod world;

use std::{env, ops::Range, time::Duration};

use crate::world::{Report, Shape, World};

/// The worlds that a plain test run plays.
const WHOLE: Range<u64> = 0..4;
const DIVIDED: Range<u64> = 3..5;

fn variable(name: &str) -> Option<u64> {
    env::var(name).ok().map(|value| value.parse().unwrap())
}

/// The seeds to play: an even one is a world of `STATIC_THRESHOLD`, an odd one of `CANARY_RATE_THRESHOLD`.
fn seeds(usual: Range<u64>) -> Range<u64> {
    match (variable("SIM_SEED"), variable("SIM_SEEDS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, Some(seeds)) => 0..seeds,
        (None, None) => usual,
    }
}

/// Plays worlds that must break no law. `test` is which test they are of.
fn play(shape: Shape, usual: Range<u64>, test: &str) -> Report {
    let mut total = Report::default();
    for seed in seeds(usual) {
        let report = World::new(seed, shape).run();
        if variable("SIM_TRACE").is_some() {
            report.trace.iter().for_each(|line| println!("{line}"));
        }
        if let Some(broken) = &report.broken {
            panic!("{broken}\nreproduce: SIM_SEED={seed} cargo test -p replica-pool --test sim {test}");
        }
        total.add(&report);
    }
    println!("{total}");
    // Worlds in which nothing ever goes wrong prove nothing.
    let sums = &total.sums;
    assert!(sums.calls > 1_000 && sums.trips > 0 && sums.answers > 0 && sums.judged > 0);
    total
}

#[test]
fn random_worlds_break_no_law() {
    play(Shape::Whole, WHOLE, "random_worlds");
}

#[test]
fn divided_worlds_break_no_law() {
    let sums = play(Shape::Divided, DIVIDED, "divided_worlds").sums;
    assert!(sums.maps > 0 && (variable("SIM_SEED").is_some() || sums.moving > 0));
}

#[test]
fn one_seed_has_one_history() {
    let worlds: [(_, _, &[u64]); 2] = [(Shape::Whole, 300, &[4, 5]), (Shape::Divided, 600, &[3])];
    for (shape, seconds, seeds) in worlds {
        let play = |seed| World::new(seed, shape).lasting(Duration::from_secs(seconds)).run().trace;
        for seed in seeds.iter().copied() {
            let (first, second) = (play(seed), play(seed));
            assert!(first.len() > 500, "{} lines", first.len());
            let differs = first.iter().zip(&second).find(|(one, other)| one != other);
            assert_eq!(differs, None, "seed {seed}");
            assert_eq!(first.len(), second.len());
            assert_ne!(
                first[100..200],
                World::new(seed + 2, shape).lasting(Duration::from_secs(100)).run().trace[100..200]
            );
        }
    }
}
