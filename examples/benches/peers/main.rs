//! This project's breakers beside other crates', in one process.
//!
//! Every subject acquires, runs the call, classifies its result and settles inside the timed loop, with a window
//! of 100 calls (or of time, in the second table) and a threshold of 50 %. Each cell is the median of several
//! rounds, each with a fresh breaker; in a round every subject runs once, so that what else the machine does falls
//! on all of them.
//!
//! `cargo bench -p examples --bench peers -- [ROUNDS [MILLISECONDS]]`

mod measure;
mod others;
mod ours;
mod table;

use std::{env, time::Duration};

use measure::{Group, Scenario, of};

fn main() {
    let numbers: Vec<u64> = env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    // Without --bench it is only to be seen that it runs.
    let usual = if env::args().any(|argument| argument == "--bench") { (7, 20) } else { (1, 1) };
    let rounds = numbers.first().copied().unwrap_or(usual.0).max(1);
    let span = Duration::from_millis(numbers.get(1).copied().unwrap_or(usual.1));

    println!("{}", table::machine());
    let count: Group = vec![
        of::<ours::Static>(),
        of::<ours::Canary>(),
        of::<others::Recloser>(),
        of::<others::Failsafe>(),
        of::<others::Tower>(),
    ];
    let time: Group = vec![of::<ours::CanaryTime>(), of::<others::FailsafeTime>(), of::<others::TowerTime>()];
    let mut below = true;
    for (title, group) in [("windows of 100 calls", count), ("windows of time", time)] {
        println!("\n{title}\n");
        table::head(&group);
        for scenario in Scenario::all() {
            below &= table::row(&group, scenario, &measure::row(&group, scenario, rounds, span));
        }
    }
    println!("\nevery ratio below 1: {}", if below { "yes" } else { "no" });
}
