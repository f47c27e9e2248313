//! The rolling upgrade: one replica at a time in each partition, all partitions at once, the ways to stop in
//! turn.

use std::time::Duration;

use super::{Action, Plan, Step};
use crate::cluster::{HostId, Way};

/// Its times.
#[derive(Clone, Debug)]
pub struct Rolling {
    /// How many replicas of each partition are upgraded.
    pub upgraded: u32,
    /// From one replica's stop to the next one's.
    pub every: Duration,
    /// From a replica's stop to its return at a new port.
    pub away: Duration,
    /// From a replica's return to the gateway's knowing of it.
    pub gateway_learns: Duration,
}

impl Rolling {
    /// Those of the full program.
    pub fn standard() -> Self {
        Self {
            upgraded: 4,
            every: Duration::from_millis(2_500),
            away: Duration::from_millis(1_500),
            gateway_learns: Duration::from_millis(500),
        }
    }

    /// A third of the time, with three replicas upgraded: each way to stop is still seen.
    pub fn quick() -> Self {
        Self {
            upgraded: 3,
            every: Duration::from_millis(1_250),
            away: Duration::from_millis(600),
            gateway_learns: Duration::from_millis(200),
        }
    }

    /// How long it takes.
    pub fn length(&self) -> Duration {
        self.every * self.upgraded
    }

    /// What happens when, in no order.
    pub fn script(&self, plan: &Plan) -> Vec<Step> {
        let mut ways = Way::IN_TURN.into_iter().cycle();
        let mut script = Vec::new();
        for replica in 0..self.upgraded {
            let stop = plan.lead_in + self.every * replica;
            let back = stop + self.away;
            let known = back + self.gateway_learns;
            for (partition, way) in (0..plan.partitions).zip(ways.by_ref()) {
                // Hosts are numbered partition by partition.
                let host = HostId(partition * plan.replicas + replica);
                script.extend([
                    Step { at: stop, action: Action::Stop(host, way) },
                    Step { at: back, action: Action::ComeUp(host) },
                    Step { at: known, action: Action::Publish(host) },
                ]);
            }
        }
        script
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{scenario::Scenario, wire::Gone};

    fn stops(plan: &Plan) -> Vec<(u32, Way, u128)> {
        let stop = |step: Step| match step.action {
            Action::Stop(host, way) => Some((host.0, way, step.at.as_millis())),
            _ => None,
        };
        plan.script().into_iter().filter_map(stop).collect()
    }

    #[test]
    fn both_partitions_are_upgraded_at_once_and_the_ways_take_turns() {
        assert_eq!(
            stops(&Plan::standard(Scenario::Upgrade)),
            [
                (0, Way::Refuse, 1_500),
                (4, Way::Hang, 1_500),
                (1, Way::Answer(Gone::Replica), 4_000),
                (5, Way::Refuse, 4_000),
                (2, Way::Hang, 6_500),
                (6, Way::Answer(Gone::Replica), 6_500),
                (3, Way::Refuse, 9_000),
                (7, Way::Hang, 9_000),
            ]
        );
    }

    #[test]
    fn a_replica_returns_after_one_and_a_half_seconds_and_is_known_half_a_second_later() {
        let script = Plan::standard(Scenario::Upgrade).script();
        let at = |action| script.iter().find(|step| step.action == action).unwrap().at.as_millis();
        let host = HostId(1);
        assert_eq!(at(Action::Stop(host, Way::Answer(Gone::Replica))), 4_000);
        assert_eq!((at(Action::ComeUp(host)), at(Action::Publish(host))), (5_500, 6_000));
    }

    #[test]
    fn a_replica_is_known_again_before_the_next_one_stops() {
        for (plan, times) in [
            (Plan::standard(Scenario::Upgrade), Rolling::standard()),
            (Plan::quick(Scenario::Upgrade), Rolling::quick()),
        ] {
            assert!(times.away + times.gateway_learns + plan.gateway_answers < times.every);
        }
    }

    #[test]
    fn four_full_runs_end_well_within_ninety_seconds() {
        assert_eq!(Plan::standard(Scenario::Upgrade).length(), Duration::from_secs(14));
    }

    #[test]
    fn the_quick_plan_still_shows_each_way_in_some_partition() {
        let ways: Vec<_> =
            stops(&Plan::quick(Scenario::Upgrade)).into_iter().map(|(_, way, _)| way).collect();
        assert!(Way::IN_TURN.iter().all(|way| ways.contains(way)));
    }
}
