//! Partitions split, merge or move, in the same order each time: the new replicas come up; the gateway hears
//! of it, has a new map and an empty feed for the old partitions; the old replicas serve for a while, and
//! then say that they don't any more.

use std::time::Duration;

use super::{Action, Plan, Step};
use crate::{
    cluster::{HostId, HostInfo, Way},
    keys::{self, KeyMap, share},
    scenario::Scenario,
    wire::Gone,
};

/// Its times.
#[derive(Clone, Debug)]
pub struct Change {
    scenario: Scenario,
    /// From the new replicas' coming up to the gateway's having the new map, and no address for the old
    /// partitions.
    pub gateway_learns: Duration,
    /// From then to its naming the new replicas of a partition that moves. Those of other partitions it names
    /// at once.
    pub empty: Duration,
    /// From then to the old replicas' saying that they serve the partition no more.
    pub drain: Duration,
    /// How long the old replicas of a partition that moves say so before they are gone altogether.
    pub migrating: Duration,
}

impl Change {
    /// Those of the full program.
    pub fn standard(scenario: Scenario) -> Self {
        let moves = scenario == Scenario::Migrate;
        let millis = |moving: u64, other: u64| Duration::from_millis(if moves { moving } else { other });
        Self {
            scenario,
            gateway_learns: Duration::from_millis(500),
            empty: millis(700, 0),
            // Time for a client that looks every half second and needs three answers of the gateway: for
            // the feed, the map, and the addresses. One that found a feed empty leaves the gateway alone for about
            // a second before it asks for the same partition again.
            drain: millis(2_000, 1_500),
            migrating: millis(800, 0),
        }
    }

    /// How long it takes.
    pub fn length(&self) -> Duration {
        self.gateway_learns + self.empty + self.drain + self.migrating
    }

    /// The partitions that are no longer served where they were.
    pub fn old_partitions(&self) -> &'static [u32] {
        if self.scenario == Scenario::Merge { &[0, 1] } else { &[0] }
    }

    /// The new map: partition 0 divided, partitions 0 and 1 together, or the same ranges as before.
    pub fn map(&self, plan: &Plan) -> KeyMap {
        let (first, parts) = (plan.partitions, plan.partitions);
        let new = match self.scenario {
            Scenario::Split => vec![(first, 0), (first + 1, share(1, 2 * parts))],
            Scenario::Merge => vec![(first, 0)],
            Scenario::Migrate | Scenario::Upgrade => vec![(0, 0)],
        };
        let old = u32::try_from(self.old_partitions().len()).unwrap_or(parts);
        let staying = (old..parts).map(|number| (number, share(number, parts)));
        keys::from_starts(2, &new.into_iter().chain(staying).collect::<Vec<_>>())
            .unwrap_or_else(|_| unreachable!("ascending starts make a map"))
    }

    /// `hosts`, and those that come up later.
    pub fn with_newcomers(&self, plan: &Plan, mut hosts: Vec<HostInfo>) -> Vec<HostInfo> {
        for (keys, &partition) in self.map(plan).ranges() {
            let moves = self.old_partitions().contains(&partition);
            if partition >= plan.partitions || moves {
                let numbers = (0..plan.replicas).map(|number| number + if moves { plan.replicas } else { 0 });
                hosts.extend(numbers.map(|number| HostInfo::newcomer(partition, number, keys.clone())));
            }
        }
        for (id, host) in (0..).zip(&mut hosts) {
            host.id = HostId(id);
        }
        hosts
    }

    /// What happens when, in order of time.
    pub fn script(&self, plan: &Plan) -> Vec<Step> {
        let up = plan.lead_in;
        let known = up + self.gateway_learns;
        let named = known + self.empty;
        let refuse = named + self.drain;
        let gone = refuse + self.migrating;

        let hosts = plan.hosts();
        let (olds, news): (Vec<_>, Vec<_>) = hosts
            .iter()
            .filter(|host| !host.from_start || self.old_partitions().contains(&host.partition))
            .partition(|host| host.from_start);
        let each = |hosts: &[&HostInfo], at, action: &dyn Fn(HostId) -> Action| {
            hosts.iter().map(|host| Step { at, action: action(host.id) }).collect::<Vec<_>>()
        };

        let mut script = each(&news, up, &Action::ComeUp);
        let forget = |&partition| Step { at: known, action: Action::Forget(partition) };
        script.extend(self.old_partitions().iter().map(forget));
        script.push(Step { at: known, action: Action::Route(self.map(plan)) });
        script.extend(each(&news, named, &Action::Publish));
        if self.scenario == Scenario::Migrate {
            script.extend(each(&olds, refuse, &|host| Action::Stop(host, Way::Answer(Gone::Migrating))));
            script.extend(each(&olds, gone, &|host| Action::Stop(host, Way::Answer(Gone::Replica))));
        } else {
            script.extend(each(&olds, refuse, &|host| Action::Stop(host, Way::Answer(Gone::Partition))));
        }
        script
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(scenario: Scenario) -> (Plan, Change) {
        (Plan::standard(scenario), Change::standard(scenario))
    }

    fn map_after(scenario: Scenario) -> String {
        let (plan, change) = plan(scenario);
        keys::to_line(&change.map(&plan))
    }

    #[test]
    fn the_map_after_each_change() {
        let (quarter, half) = (1_u64 << 62, 1_u64 << 63);
        assert_eq!(map_after(Scenario::Split), format!("2 2@0 3@{quarter} 1@{half}"));
        assert_eq!(map_after(Scenario::Merge), format!("2 3@0 2@{}", share(2, 3)));
        assert_eq!(map_after(Scenario::Migrate), format!("2 0@0 1@{half}"));
    }

    #[test]
    fn newcomers_serve_the_ranges_of_the_new_map() {
        let newcomers = |scenario| {
            let hosts = plan(scenario).0.hosts();
            hosts.into_iter().filter(|host| !host.from_start).collect::<Vec<_>>()
        };
        let labels = |hosts: &[HostInfo]| hosts.iter().map(|host| host.label.clone()).collect::<Vec<_>>();
        let split = newcomers(Scenario::Split);
        assert_eq!(labels(&split), ["p2/r0", "p2/r1", "p2/r2", "p2/r3", "p3/r0", "p3/r1", "p3/r2", "p3/r3"]);
        assert_eq!(
            (split[0].id, split[0].keys.to, split[4].keys.from),
            (HostId(8), Some(1 << 62), Some(1 << 62))
        );
        assert_eq!(labels(&newcomers(Scenario::Merge)), ["p3/r0", "p3/r1", "p3/r2", "p3/r3"]);
        assert_eq!(labels(&newcomers(Scenario::Migrate)), ["p0/r4", "p0/r5", "p0/r6", "p0/r7"]);
    }

    #[test]
    fn a_split_is_known_half_a_second_after_it_happened_and_told_by_the_old_replicas_after_two() {
        let script = plan(Scenario::Split).0.script();
        let at = |action| script.iter().find(|step| step.action == action).unwrap().at.as_millis();
        assert_eq!(at(Action::ComeUp(HostId(15))), 1_500);
        assert_eq!((at(Action::Forget(0)), at(Action::Publish(HostId(8)))), (2_000, 2_000));
        assert_eq!(at(Action::Stop(HostId(3), Way::Answer(Gone::Partition))), 3_500);
        assert!(script.iter().all(|step| !matches!(step.action, Action::Stop(HostId(4..), _))));
    }

    #[test]
    fn a_partition_that_moves_has_an_empty_feed_before_it_has_new_addresses() {
        let script = plan(Scenario::Migrate).0.script();
        let at = |action| script.iter().find(|step| step.action == action).unwrap().at.as_millis();
        assert_eq!((at(Action::Forget(0)), at(Action::Publish(HostId(8)))), (2_000, 2_700));
        assert_eq!(at(Action::Stop(HostId(0), Way::Answer(Gone::Migrating))), 4_700);
        assert_eq!(at(Action::Stop(HostId(0), Way::Answer(Gone::Replica))), 5_500);
    }

    #[test]
    fn the_gateway_forgets_before_it_names_anew() {
        for scenario in [Scenario::Split, Scenario::Merge, Scenario::Migrate] {
            let script = plan(scenario).0.script();
            let position = |wanted: fn(&Action) -> bool| script.iter().position(|step| wanted(&step.action));
            let forget = position(|action| matches!(action, Action::Forget(_)));
            assert!(forget < position(|action| matches!(action, Action::Publish(_))));
        }
    }
}
