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

pub fn head(group: &Group) {
    print!("| ns per call, threads |");
    group.iter().for_each(|subject| print!(" {} |", subject.name()));
    let ours = group.iter().filter(|subject| subject.is_ours());
    ours.clone().for_each(|subject| print!(" {} / best other |", subject.name()));
    println!("\n|---|{}", "--:|".repeat(group.len() + ours.count()));
}

/// Prints the medians of one scenario. Says whether every one of ours is less than every other.
pub fn row(group: &Group, scenario: Scenario, medians: &[f64]) -> bool {
    print!("| {}, {} |", name(scenario.kind), scenario.threads);
    medians.iter().for_each(|median| print!(" {} |", nanos(*median)));
    let of = |ours: bool| group.iter().zip(medians).filter(move |(subject, _)| subject.is_ours() == ours);
    let best = of(false).map(|(_, median)| *median).fold(f64::INFINITY, f64::min);
    let ratios: Vec<f64> = of(true).map(|(_, median)| median / best).collect();
    ratios.iter().for_each(|ratio| print!(" {ratio:.2} |"));
    println!();
    ratios.iter().all(|ratio| *ratio < 1.0)
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
