//! Changes and samples, turned into stretches of time with one value each.

use crate::{
    cluster::HostId,
    upgrade::{Phase, PhaseChange},
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
pub fn phases(log: &[PhaseChange], host: HostId, end: u64) -> Vec<Segment<Phase>> {
    let changes = log.iter().filter(|change| change.host == host).map(|change| (change.at, change.phase));
    joined([(0, Phase::Up)].into_iter().chain(changes), end)
}

/// How the client saw `host`, from the first time it was looked at to `end`.
pub fn views<T: Copy + PartialEq>(
    samples: &[ViewSample],
    host: HostId,
    end: u64,
    of: impl Fn(&ViewSample) -> T,
) -> Vec<Segment<T>> {
    joined(samples.iter().filter(|sample| sample.host == host).map(|sample| (sample.at, of(sample))), end)
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

    #[test]
    fn a_replica_is_up_until_something_happens_to_it() {
        let change = |at, host, phase| PhaseChange { at, host: HostId(host), phase };
        let log =
            [change(10, 1, Phase::Down(Way::Hang)), change(15, 0, Phase::Moved), change(25, 1, Phase::Moved)];
        assert_eq!(
            phases(&log, HostId(1), 40),
            [
                Segment { from: 0, to: 10, value: Phase::Up },
                Segment { from: 10, to: 25, value: Phase::Down(Way::Hang) },
                Segment { from: 25, to: 40, value: Phase::Moved },
            ]
        );
        assert_eq!(phases(&[], HostId(0), 40), [Segment { from: 0, to: 40, value: Phase::Up }]);
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
