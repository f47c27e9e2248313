//! The medians, and how ours compare with the best of the others.

use std::{fs, thread};

use crate::measure::{Group, Kind, Scenario};

/// What the numbers depend on.
pub fn machine() -> String {
    let threads = thread::available_parallelism().map_or("unknown".to_owned(), |threads| threads.to_string());
    let model = line("/proc/cpuinfo", "model name").unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").ok();
    let load = load.as_deref().and_then(|load| load.split(' ').next()).unwrap_or("unknown");
    format!("{threads} hardware threads, {model}, load average {load}")
}

fn line(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let (_, value) = text.lines().find(|line| line.starts_with(name))?.split_once(':')?;
    Some(value.trim().to_owned())
}

/// Prints the rows as a table. Says whether every one of ours is faster than every other.
pub fn print(group: &Group, rows: &[(Scenario, Vec<f64>)]) -> bool {
    print!("| ns per call, threads |");
    group.iter().for_each(|subject| print!(" {} |", subject.name()));
    let ours: Vec<usize> = (0..group.len()).filter(|i| group[*i].is_ours()).collect();
    ours.iter().for_each(|i| print!(" {} / best other |", group[*i].name()));
    println!("\n|---|{}", "--:|".repeat(group.len() + ours.len()));
    let mut below = true;
    for (scenario, medians) in rows {
        let others = (0..group.len()).filter(|i| !group[*i].is_ours());
        let best = others.map(|i| medians[i]).fold(f64::INFINITY, f64::min);
        print!("| {}, {} |", name(scenario.kind), scenario.threads);
        medians.iter().for_each(|median| print!(" {} |", nanos(*median)));
        for i in &ours {
            let ratio = medians[*i] / best;
            below &= ratio < 1.0;
            print!(" {ratio:.2} |");
        }
        println!();
    }
    below
}

fn name(kind: Kind) -> String {
    match kind {
        Kind::Successes => "all succeed".to_owned(),
        Kind::Failures(every) => format!("{} % fail", 100.0 / f64::from(every)),
        Kind::Open => "open".to_owned(),
    }
}

fn nanos(nanos: f64) -> String {
    if nanos < 100.0 { format!("{nanos:.1}") } else { format!("{nanos:.0}") }
}
