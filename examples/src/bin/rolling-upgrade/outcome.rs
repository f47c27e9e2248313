//! What one run came to, and its summary in numbers.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::{
    client::Counters,
    cluster::{HostId, HostInfo},
    director::PhaseChange,
    kind::RunKind,
    load::Sample,
    watch::ViewSample,
};

/// Everything that was measured in one run. Times are microseconds since the load began.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Which run.
    pub kind: RunKind,
    /// The replicas.
    pub hosts: Vec<HostInfo>,
    /// What happened to them.
    pub phases: Vec<PhaseChange>,
    /// One for each request.
    pub samples: Vec<Sample>,
    /// How the client saw the replicas.
    pub views: Vec<ViewSample>,
    /// Ordinary attempts at a replica that was bad as they started.
    pub bad_attempts: Vec<(u64, HostId)>,
    /// Ordinary attempts.
    pub attempts: u64,
    /// Probes.
    pub probes: u64,
    /// Ordinary requests that each replica served.
    pub served: Vec<u64>,
    /// Questions that the gateway answered.
    pub gateway_answers: u64,
    /// Times that the gateway was asked for the routing map since the load began.
    pub maps_fetched: u64,
    /// What the client counted.
    pub counters: Counters,
    /// From the gateway's knowing of the last new address until every replica had served again.
    pub spread: Option<u64>,
}

/// The numbers of one run, as they stand in `report.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Requests that were due.
    pub requests: u64,
    /// Requests whose caller got an error.
    pub failed: u64,
    /// Latency that half of all requests stayed under, from the scheduled instant; failed ones count.
    pub p50_us: u64,
    /// 95 in 100.
    pub p95_us: u64,
    /// 99 in 100.
    pub p99_us: u64,
    /// 999 in 1000.
    pub p999_us: u64,
    /// The slowest.
    pub max_us: u64,
    /// Ordinary attempts at a replica that was bad as they started.
    pub bad_attempts: u64,
    /// From the gateway's knowing of the last new address until every replica had served again.
    pub spread_us: Option<u64>,
    /// Ordinary attempts.
    pub attempts: u64,
    /// Probes.
    pub probes: u64,
    /// Fetches from the gateway that the client began.
    pub refreshes: u64,
    /// Questions that the gateway answered, the first looks included.
    pub gateway_answers: u64,
    /// Ordinary attempts at a marked replica before anything brought it back; null for a plain client.
    pub attempts_after_mark: Option<u64>,
    /// Times that the gateway was asked for the routing map since the load began.
    pub maps_fetched: u64,
    /// Requests whose caller got a bare 410 or 404.
    pub status_410_404: u64,
    /// Requests served by each replica.
    pub served: Vec<u64>,
    /// What callers got instead of an answer, the first few.
    pub errors: Vec<String>,
}

impl Outcome {
    /// Its numbers.
    pub fn summary(&self) -> Summary {
        let latencies = histogram(self.samples.iter().map(|sample| sample.latency));
        let errors = || self.samples.iter().filter_map(|sample| sample.error.as_ref());
        Summary {
            requests: self.samples.len() as u64,
            failed: errors().count() as u64,
            p50_us: latencies.value_at_quantile(0.5),
            p95_us: latencies.value_at_quantile(0.95),
            p99_us: latencies.value_at_quantile(0.99),
            p999_us: latencies.value_at_quantile(0.999),
            max_us: latencies.max(),
            bad_attempts: self.bad_attempts.len() as u64,
            spread_us: self.spread,
            attempts: self.attempts,
            probes: self.probes,
            refreshes: self.counters.refreshes,
            gateway_answers: self.gateway_answers,
            attempts_after_mark: self.counters.attempts_after_mark,
            maps_fetched: self.maps_fetched,
            status_410_404: errors().filter(|error| error.is_bare_gone()).count() as u64,
            served: self.served.clone(),
            errors: errors().take(5).map(|error| error.reason.clone()).collect(),
        }
    }
}

/// Microseconds to three significant digits; what is over a minute counts as a minute.
pub fn histogram(latencies: impl Iterator<Item = u64>) -> Histogram<u64> {
    let mut histogram =
        Histogram::new_with_bounds(1, 60_000_000, 3).unwrap_or_else(|_| unreachable!("fixed bounds"));
    latencies.for_each(|latency| histogram.saturating_record(latency));
    histogram
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::{client::Failure, keys};

    /// A run of requests with these latencies, one each millisecond; the last one failed.
    pub fn outcome(kind: RunKind, latencies: impl Iterator<Item = u64>) -> Outcome {
        let sample = |(at, latency): (u64, u64)| Sample { due: at * 1_000, latency, error: None };
        let mut samples: Vec<_> = (0..).zip(latencies).map(sample).collect();
        if let Some(last) = samples.last_mut() {
            last.error = Some(Failure { status: Some(410), reason: "no <answer>".to_owned() });
        }
        Outcome {
            kind,
            hosts: HostInfo::grid(&keys::even(2), 4),
            phases: Vec::new(),
            samples,
            views: Vec::new(),
            bad_attempts: vec![(1_500, HostId(0)), (1_600, HostId(4))],
            attempts: 1_002,
            probes: 3,
            served: vec![125; 8],
            gateway_answers: 4,
            maps_fetched: 1,
            counters: Counters { refreshes: 2, attempts_after_mark: None },
            spread: Some(40_000),
        }
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_latencies() {
        let summary = outcome(RunKind::Plain, 1..=1_000).summary();
        assert_eq!((summary.requests, summary.failed, summary.bad_attempts), (1_000, 1, 2));
        assert_eq!(
            [summary.p50_us, summary.p95_us, summary.p99_us, summary.p999_us, summary.max_us],
            [500, 950, 990, 999, 1_000]
        );
        assert_eq!(summary.errors, ["no <answer>"]);
        assert_eq!((summary.status_410_404, summary.maps_fetched), (1, 1));
    }
}
