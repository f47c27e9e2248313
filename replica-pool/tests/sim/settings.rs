//! The settings of a world's pools, and the bounds that follow from them.

use std::time::Duration;

use fastrand::Rng;
use replica_pool::config::Config;

/// From the documentation of the settings: all of them are the defaults.
pub(crate) const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(5);
const DEADLINE: Duration = Duration::from_secs(30);
/// How long the gateway may think.
pub(crate) const QUESTION_TIMEOUT: Duration = Duration::from_secs(30);
pub(crate) const CANARY_TIMEOUT: Duration = Duration::from_secs(1);
pub(crate) const UNHEALTHY_TIMEOUT: Duration = Duration::from_secs(60);
const TEST_DELAY: Duration = Duration::from_secs(20);

/// What the ticks of the simulation and the way over the network may add to anything.
pub(crate) const SLACK: Duration = Duration::from_millis(1_500);

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) canary: bool,
    pub(crate) shuffled: bool,
    pub(crate) deadline: Duration,
    /// Who may have to be validated before a replica is.
    others: u32,
    pub(crate) text: String,
}

impl Settings {
    /// Those of a pool that is not divided.
    pub(crate) fn of(seed: u64) -> Self {
        Self::random(seed, DEADLINE, 3)
    }

    /// Those of a pool that is divided into partitions. A call may find three replicas of a partition hanging, wait for a
    /// question about their addresses and for one about the map, each after the longest pause (18 s), and find two more
    /// that hang: 61 s.
    pub(crate) fn divided(seed: u64) -> Self {
        Self::random(seed, Duration::from_secs(90), 6)
    }

    fn random(seed: u64, deadline: Duration, others: u32) -> Self {
        let mut rng = Rng::with_seed(seed);
        let canary = seed % 2 == 1;
        let shuffled = rng.u8(..5) > 0;
        let mut pool =
            vec![if shuffled { r#""order": "shuffled""# } else { r#""order": "listed""# }.to_owned()];
        if deadline != DEADLINE {
            pool.push(format!(r#""deadline": "PT{}S""#, deadline.as_secs()));
        }
        for (key, chances) in [
            (r#""validation": { "enabled": true }"#, 2),
            (r#""hedgeAfter": "PT1S""#, 3),
            (r#""suspectAfter": "PT2S""#, 3),
            (r#""whenAllOpen": "tryLeastBad""#, 3),
            (r#""refreshInterval": "PT30S""#, 3),
            (r#""resetCircuitsOnRefresh": false"#, 4),
        ] {
            if rng.u8(..chances) == 0 {
                pool.push(key.to_owned());
            }
        }
        let strategy = if canary { "CANARY_RATE_THRESHOLD" } else { "STATIC_THRESHOLD" };
        let text = format!(
            r#"{{ "circuitBreaker": {{ "strategy": "{strategy}" }}, "replicaPool": {{ {} }} }}"#,
            pool.join(", ")
        );
        Self { canary, shuffled, deadline, others, text }
    }

    /// The defaults, all of them, of both strategies.
    pub(crate) fn defaults() -> [Self; 2] {
        let of = |canary, strategy: &str| Self {
            canary,
            shuffled: true,
            deadline: DEADLINE,
            others: 3,
            text: format!(r#"{{ "circuitBreaker": {{ "strategy": "{strategy}" }} }}"#),
        };
        [of(false, "STATIC_THRESHOLD"), of(true, "CANARY_RATE_THRESHOLD")]
    }

    pub(crate) fn config(&self) -> Config {
        Config::from_text("sim.json", &self.text).unwrap()
    }

    /// Whether the gateway is asked without a reason.
    pub(crate) fn asks_by_itself(&self) -> bool {
        self.text.contains("refreshInterval")
    }

    /// A replica that is well may be open for no longer than that: the delay, or a round of probes that hung until it
    /// was well (three of a second), the rest of the interval with its jitter, and the way of one probe.
    pub(crate) fn longest_open(&self) -> Duration {
        let delay = if self.canary { Duration::from_millis(3_000 + 1_200) } else { TEST_DELAY };
        delay + SLACK
    }

    /// Questions that were under way when the gateway became well have ended.
    pub(crate) fn questions_settled(&self) -> Duration {
        QUESTION_TIMEOUT + SLACK
    }

    /// Attempts that were under way when a replica became well have ended.
    pub(crate) fn settled(&self) -> Duration {
        ATTEMPT_TIMEOUT + SLACK
    }

    /// How often a replica that is well may be tripped: a rate may find old failures in its window with the success that
    /// completes the number of calls it needs, once.
    pub(crate) fn trips_while_well(&self) -> usize {
        usize::from(self.canary)
    }

    /// A canary's round of three probes that hang, and the way.
    pub(crate) fn longest_round(&self) -> Duration {
        3 * CANARY_TIMEOUT + SLACK
    }

    /// A connection is opened after those to the others, which may hang, one after another on a single core.
    pub(crate) fn longest_validation(&self) -> Duration {
        (self.others + 1) * ATTEMPT_TIMEOUT + SLACK
    }

    /// A replica that has been well for so long is no longer held to have been bad: the last attempt that fails, and the
    /// time that a mark counts, or a validation.
    pub(crate) fn longest_mark(&self) -> Duration {
        ATTEMPT_TIMEOUT + UNHEALTHY_TIMEOUT + self.longest_validation()
    }

    /// After so many calls past that, its circuit is closed: one in ten is a trial, shared by all who are on trial, and ten
    /// successes close. 40 trials are to be expected.
    pub(crate) fn calls_to_close(&self, replicas: usize) -> usize {
        400 * replicas
    }
}
