//! When everything happens: the times of a run, and what happens as a script.

mod change;
mod rolling;

pub use change::Change;
pub use rolling::Rolling;

use std::time::Duration;

use crate::{
    cluster::{HostId, HostInfo, Way},
    keys::{self, KeyMap},
    scenario::Scenario,
};

/// The times of a run. All runs of one program share one.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What happens.
    pub scenario: Scenario,
    /// Partitions of the cluster at the start.
    pub partitions: u32,
    /// Replicas of each partition.
    pub replicas: u32,
    /// Load before anything happens.
    pub lead_in: Duration,
    /// What happens then.
    pub course: Course,
    /// Load after it.
    pub tail: Duration,
    /// What each of the gateway's answers takes.
    pub gateway_answers: Duration,
    /// What a client gives one attempt.
    pub attempt_timeout: Duration,
}

/// What happens to the cluster, with its own times.
#[derive(Clone, Debug)]
pub enum Course {
    /// A rolling upgrade.
    Rolling(Rolling),
    /// Partitions split, merge or move.
    Change(Change),
}

/// One thing that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When, from the start of the load.
    pub at: Duration,
    /// What.
    pub action: Action,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A replica stops at its present address, or what it does there changes.
    Stop(HostId, Way),
    /// A replica serves at a new port.
    ComeUp(HostId),
    /// The gateway learns a replica's address.
    Publish(HostId),
    /// The gateway names no addresses any more for a partition: its feed is empty.
    Forget(u32),
    /// The gateway has a new routing map.
    Route(KeyMap),
}

impl Plan {
    /// The times of the full program.
    pub fn standard(scenario: Scenario) -> Self {
        let course = match scenario {
            Scenario::Upgrade => Course::Rolling(Rolling::standard()),
            _ => Course::Change(Change::standard(scenario)),
        };
        Self {
            scenario,
            // One more than take part in a change: it shows that others notice nothing.
            partitions: if scenario == Scenario::Merge { 3 } else { 2 },
            replicas: 4,
            lead_in: Duration::from_millis(1_500),
            course,
            tail: Duration::from_millis(2_500),
            gateway_answers: Duration::from_millis(200),
            attempt_timeout: Duration::from_millis(100),
        }
    }

    /// The same in less time.
    pub fn quick(scenario: Scenario) -> Self {
        let standard = Self::standard(scenario);
        let course = match standard.course {
            Course::Rolling(_) => Course::Rolling(Rolling::quick()),
            // The pools' own times don't shrink with it, so this is as short as it can be.
            change @ Course::Change(_) => change,
        };
        Self {
            lead_in: Duration::from_millis(500),
            course,
            gateway_answers: Duration::from_millis(100),
            tail: Duration::from_millis(500),
            ..standard
        }
    }

    /// How long the load lasts.
    pub fn length(&self) -> Duration {
        let course = match &self.course {
            Course::Rolling(rolling) => rolling.length(),
            Course::Change(change) => change.length(),
        };
        self.lead_in + course + self.tail
    }

    /// Every replica that is there at some time, those of the start first.
    pub fn hosts(&self) -> Vec<HostInfo> {
        let hosts = HostInfo::grid(&keys::even(self.partitions), self.replicas);
        match &self.course {
            Course::Rolling(_) => hosts,
            Course::Change(change) => change.with_newcomers(self, hosts),
        }
    }

    /// What happens, in order of time.
    pub fn script(&self) -> Vec<Step> {
        let mut script = match &self.course {
            Course::Rolling(rolling) => rolling.script(self),
            Course::Change(change) => change.script(self),
        };
        script.sort_by_key(|step| step.at);
        script
    }
}
