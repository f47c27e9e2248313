//! Changes and samples, turned into stretches of time with one value each.

use crate::{
    cluster::{HostId, HostInfo},
    director::{Phase, PhaseChange},
    watch::ViewSample,
};

/// A stretch of time, in microseconds, with one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<T> {
    /// Its beginning.
    pub from: u64,
    /// Its end.
    pub to: u64,
    /// What was so.
    pub value: T,
}

/// What was true of `host` from 0 to `end`.
pub fn phases(log: &[PhaseChange], host: &HostInfo, end: u64) -> Vec<Segment<Phase>> {
    let changes = log.iter().filter(|change| change.host == host.id).map(|change| (change.at, change.phase));
    joined([(0, Phase::first(host))].into_iter().chain(changes), end)
}

/// How the client saw `host`, as long as it knew of it, up to `end`. `samples` are ordered by time.
pub fn views<T: Copy + PartialEq>(
    samples: &[ViewSample],
    host: HostId,
    end: u64,
    of: impl Fn(&ViewSample) -> T,
) -> Vec<Segment<T>> {
    let looks = samples.chunk_by(|a, b| a.at == b.at).filter_map(|look| {
        let seen = look.iter().find(|sample| sample.host == host).map(&of);
        Some((look.first()?.at, seen))
    });
    let known = |segment: Segment<Option<T>>| {
        segment.value.map(|value| Segment { from: segment.from, to: segment.to, value })
    };
    joined(looks, end).into_iter().filter_map(known).collect()
}

fn joined<T: Copy + PartialEq>(changes: impl Iterator<Item = (u64, T)>, end: u64) -> Vec<Segment<T>> {
    let mut segments: Vec<Segment<T>> = Vec::new();
    for (at, value) in changes.filter(|(at, _)| *at < end) {
        if let Some(last) = segments.last_mut() {
            if last.value == value {
                continue;
            }
            last.to = at;
        }
        segments.push(Segment { from: at, to: end, value });
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use breaker_core::Circuit;
    use replica_pool::HealthStatus;

    use crate::cluster::Way;

    fn host(id: u32, from_start: bool) -> HostInfo {
        let newcomer = HostInfo::newcomer(0, id, replica_pool::KeyRange::ALL);
        HostInfo { id: HostId(id), from_start, ..newcomer }
    }

    #[test]
    fn a_replica_is_up_until_something_happens_to_it() {
        let change = |at, host, phase| PhaseChange { at, host: HostId(host), phase };
        let log =
            [change(10, 1, Phase::Down(Way::Hang)), change(15, 0, Phase::Moved), change(25, 1, Phase::Moved)];
        assert_eq!(
            phases(&log, &host(1, true), 40),
            [
                Segment { from: 0, to: 10, value: Phase::Up },
                Segment { from: 10, to: 25, value: Phase::Down(Way::Hang) },
                Segment { from: 25, to: 40, value: Phase::Moved },
            ]
        );
        assert_eq!(phases(&[], &host(0, true), 40), [Segment { from: 0, to: 40, value: Phase::Up }]);
    }

    #[test]
    fn a_replica_that_comes_later_is_absent_until_then() {
        let log = [PhaseChange { at: 10, host: HostId(0), phase: Phase::New }];
        let values: Vec<_> = phases(&log, &host(0, false), 40).iter().map(|segment| segment.value).collect();
        assert_eq!(values, [Phase::Absent, Phase::New]);
    }

    #[test]
    fn what_the_client_no_longer_knows_it_does_not_see() {
        let sample = |at, host| ViewSample {
            at,
            host: HostId(host),
            circuit: Circuit::Closed,
            health: HealthStatus::Connected,
        };
        let seen = [sample(0, 0), sample(0, 1), sample(5, 0), sample(5, 1), sample(10, 1), sample(15, 1)];
        let known = |host| {
            let segments = views(&seen, HostId(host), 20, |view| view.circuit);
            segments.iter().map(|segment| (segment.from, segment.to)).collect::<Vec<_>>()
        };
        assert_eq!((known(0), known(1)), (vec![(0, 10)], vec![(0, 20)]));
    }

    #[test]
    fn samples_that_say_the_same_are_one_stretch() {
        let sample =
            |at, circuit| ViewSample { at, host: HostId(0), circuit, health: HealthStatus::Connected };
        let seen = [sample(0, Circuit::Closed), sample(5, Circuit::Closed), sample(10, Circuit::Open)];
        assert_eq!(
            views(&seen, HostId(0), 30, |view| view.circuit),
            [
                Segment { from: 0, to: 10, value: Circuit::Closed },
                Segment { from: 10, to: 30, value: Circuit::Open },
            ]
        );
        assert_eq!(views(&seen, HostId(0), 30, |view| view.health).len(), 1);
    }
}
