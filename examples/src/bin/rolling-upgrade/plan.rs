//! When everything happens: the times of a run, and the upgrade as a script.

use std::time::Duration;

use crate::cluster::{HostId, Way};

/// The times of a run. All runs of one program share one.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Partitions of the cluster.
    pub partitions: u32,
    /// Replicas of each partition.
    pub replicas: u32,
    /// How many replicas of each partition are upgraded.
    pub upgraded: u32,
    /// Load before the first replica stops.
    pub lead_in: Duration,
    /// From one replica's stop to the next one's.
    pub every: Duration,
    /// From a replica's stop to its return at a new port.
    pub away: Duration,
    /// From a replica's return to the gateway's knowing of it.
    pub gateway_learns: Duration,
    /// What each of the gateway's answers takes.
    pub gateway_answers: Duration,
    /// What a client gives one attempt.
    pub attempt_timeout: Duration,
    /// Load after the last replica's `every` has passed.
    pub tail: Duration,
}

/// One thing that happens to one replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// When, from the start of the load.
    pub at: Duration,
    /// To whom.
    pub host: HostId,
    /// What.
    pub action: Action,
}

/// What can happen to a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It stops at its present address, this way.
    Stop(Way),
    /// It serves again, at a new port.
    Return,
    /// The gateway learns its address.
    Publish,
}

impl Plan {
    /// The times of the full program.
    pub fn standard() -> Self {
        Self {
            partitions: 2,
            replicas: 4,
            upgraded: 4,
            lead_in: Duration::from_millis(1_500),
            every: Duration::from_millis(2_500),
            away: Duration::from_millis(1_500),
            gateway_learns: Duration::from_millis(500),
            gateway_answers: Duration::from_millis(200),
            attempt_timeout: Duration::from_millis(100),
            tail: Duration::from_millis(2_500),
        }
    }

    /// The same in a third of the time, with three replicas upgraded: each way to stop is still seen.
    pub fn quick() -> Self {
        Self {
            upgraded: 3,
            lead_in: Duration::from_millis(500),
            every: Duration::from_millis(1_250),
            away: Duration::from_millis(600),
            gateway_learns: Duration::from_millis(200),
            gateway_answers: Duration::from_millis(100),
            tail: Duration::from_millis(500),
            ..Self::standard()
        }
    }

    /// How long the load lasts.
    pub fn length(&self) -> Duration {
        self.lead_in + self.every * self.upgraded + self.tail
    }

    /// The rolling upgrade: one replica at a time in each partition, all partitions at once, the ways to
    /// stop in turn. In order of time.
    pub fn rolling_upgrade(&self) -> Vec<Step> {
        let mut ways = Way::ALL.into_iter().cycle();
        let mut script = Vec::new();
        for replica in 0..self.upgraded {
            let stop = self.lead_in + self.every * replica;
            let back = stop + self.away;
            let known = back + self.gateway_learns;
            for (partition, way) in (0..self.partitions).zip(ways.by_ref()) {
                let host = self.host(partition, replica);
                script.extend([
                    Step { at: stop, host, action: Action::Stop(way) },
                    Step { at: back, host, action: Action::Return },
                    Step { at: known, host, action: Action::Publish },
                ]);
            }
        }
        script.sort_by_key(|step| step.at);
        script
    }

    /// The replica with this number within its partition. Hosts are numbered partition by partition.
    fn host(&self, partition: u32, replica: u32) -> HostId {
        HostId(partition * self.replicas + replica)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stops(plan: &Plan) -> Vec<(u32, Way, u128)> {
        let stop = |step: Step| match step.action {
            Action::Stop(way) => Some((step.host.0, way, step.at.as_millis())),
            Action::Return | Action::Publish => None,
        };
        plan.rolling_upgrade().into_iter().filter_map(stop).collect()
    }

    #[test]
    fn both_partitions_are_upgraded_at_once_and_the_ways_take_turns() {
        assert_eq!(
            stops(&Plan::standard()),
            [
                (0, Way::Refuse, 1_500),
                (4, Way::Hang, 1_500),
                (1, Way::AnswerGone, 4_000),
                (5, Way::Refuse, 4_000),
                (2, Way::Hang, 6_500),
                (6, Way::AnswerGone, 6_500),
                (3, Way::Refuse, 9_000),
                (7, Way::Hang, 9_000),
            ]
        );
    }

    #[test]
    fn a_replica_returns_after_one_and_a_half_seconds_and_is_known_half_a_second_later() {
        let times: Vec<_> = Plan::standard()
            .rolling_upgrade()
            .into_iter()
            .filter(|step| step.host == HostId(1))
            .map(|step| (step.at.as_millis(), step.action))
            .collect();
        assert_eq!(
            times,
            [(4_000, Action::Stop(Way::AnswerGone)), (5_500, Action::Return), (6_000, Action::Publish)]
        );
    }

    #[test]
    fn a_replica_is_known_again_before_the_next_one_stops() {
        for plan in [Plan::standard(), Plan::quick()] {
            assert!(plan.away + plan.gateway_learns + plan.gateway_answers < plan.every);
        }
    }

    #[test]
    fn four_full_runs_end_well_within_ninety_seconds() {
        assert_eq!(Plan::standard().length(), Duration::from_secs(14));
    }

    #[test]
    fn the_quick_plan_still_shows_each_way_in_some_partition() {
        let ways: Vec<_> = stops(&Plan::quick()).into_iter().map(|(_, way, _)| way).collect();
        assert!(Way::ALL.iter().all(|way| ways.contains(way)));
    }
}
