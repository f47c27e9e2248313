//! Samples gathered into what can be drawn: per slice of time, and per cell of time and latency.

use std::collections::BTreeMap;

use crate::{load::Sample, outcome::histogram};

/// One slice of time is a tenth of a second.
pub const SLICE: u64 = 100_000;
/// A cell spans this factor in latency: 24 of them are a tenfold.
const CELLS_PER_TENFOLD: f64 = 24.0;

/// The requests that were due in one slice of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Its beginning, in microseconds.
    pub at: u64,
    /// How many there were.
    pub requests: u64,
    /// How many failed.
    pub failed: u64,
    /// Half of them were faster.
    pub p50: u64,
    /// 99 in 100 were faster.
    pub p99: u64,
    /// The slowest.
    pub max: u64,
}

/// The slices that hold a request, in order.
pub fn slices(samples: &[Sample]) -> Vec<Slice> {
    let mut by_time: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        by_time.entry(sample.due / SLICE).or_default().push(sample);
    }
    by_time
        .into_iter()
        .map(|(slice, samples)| {
            let latencies = histogram(samples.iter().map(|sample| sample.latency));
            Slice {
                at: slice * SLICE,
                requests: samples.len() as u64,
                failed: samples.iter().filter(|sample| sample.error.is_some()).count() as u64,
                p50: latencies.value_at_quantile(0.5),
                p99: latencies.value_at_quantile(0.99),
                max: latencies.max(),
            }
        })
        .collect()
}

/// The requests of one slice of time and of about one latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Beginning of the slice, in microseconds.
    pub at: u64,
    /// Latencies from here, in microseconds …
    pub from: u64,
    /// … to here.
    pub to: u64,
    /// How many there were.
    pub requests: u64,
}

/// The cells that hold a request.
pub fn cells(samples: &[Sample]) -> Vec<Cell> {
    let mut counts: BTreeMap<(u64, i32), u64> = BTreeMap::new();
    for sample in samples {
        let step = ((sample.latency.max(1) as f64).log10() * CELLS_PER_TENFOLD).floor();
        *counts.entry((sample.due / SLICE, step as i32)).or_default() += 1;
    }
    let latency = |step: i32| 10_f64.powf(f64::from(step) / CELLS_PER_TENFOLD).round() as u64;
    counts
        .into_iter()
        .map(|((slice, step), requests)| Cell {
            at: slice * SLICE,
            from: latency(step),
            to: latency(step + 1),
            requests,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Failure;

    fn sample(due: u64, latency: u64) -> Sample {
        let failure = || Failure { status: None, reason: String::new() };
        Sample { due, latency, error: (latency > 50_000).then(failure) }
    }

    #[test]
    fn a_slice_gathers_the_requests_that_were_due_in_it() {
        let samples = [sample(250_000, 100), sample(0, 10), sample(99_999, 60_000), sample(100_000, 30)];
        let found: Vec<_> =
            slices(&samples).into_iter().map(|slice| (slice.at, slice.requests, slice.failed)).collect();
        assert_eq!(found, [(0, 2, 1), (100_000, 1, 0), (200_000, 1, 0)]);
    }

    #[test]
    fn a_cell_holds_its_latencies_and_every_request_is_in_one() {
        let samples: Vec<_> = (1..=10_000).map(|latency| sample(latency, latency)).collect();
        let cells = cells(&samples);
        assert_eq!(cells.iter().map(|cell| cell.requests).sum::<u64>(), 10_000);
        let last = cells.last().unwrap();
        assert_eq!((last.from, last.to), (10_000, 11_007));
    }
}
