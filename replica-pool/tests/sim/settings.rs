//! The settings of a world's pools, and the bounds that follow from them.

use std::time::Duration;

use fastrand::Rng;
use replica_pool::config::Config;

/// From the documentation of the settings: all of them are the defaults.
pub(crate) const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(5);
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);
pub(crate) const CANARY_TIMEOUT: Duration = Duration::from_secs(1);
const UNHEALTHY_TIMEOUT: Duration = Duration::from_secs(60);
const TEST_DELAY: Duration = Duration::from_secs(20);

/// What the ticks of the simulation and the way over the network may add to anything.
pub(crate) const SLACK: Duration = Duration::from_millis(1_500);

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) canary: bool,
    pub(crate) shuffled: bool,
    pub(crate) text: String,
}

impl Settings {
    pub(crate) fn of(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let canary = seed % 2 == 1;
        let shuffled = rng.u8(..5) > 0;
        let mut pool = vec![if shuffled { r#""order": "shuffled""# } else { r#""order": "listed""# }];
        for (key, chances) in [
            (r#""validation": { "enabled": true }"#, 2),
            (r#""hedgeAfter": "PT1S""#, 3),
            (r#""suspectAfter": "PT2S""#, 3),
            (r#""whenAllOpen": "tryLeastBad""#, 3),
            (r#""refreshInterval": "PT30S""#, 3),
            (r#""resetCircuitsOnRefresh": false"#, 4),
        ] {
            if rng.u8(..chances) == 0 {
                pool.push(key);
            }
        }
        let strategy = if canary { "CANARY_RATE_THRESHOLD" } else { "STATIC_THRESHOLD" };
        let text = format!(
            r#"{{ "circuitBreaker": {{ "strategy": "{strategy}" }}, "replicaPool": {{ {} }} }}"#,
            pool.join(", ")
        );
        Self { canary, shuffled, text }
    }

    /// The defaults, all of them, of both strategies.
    pub(crate) fn defaults() -> [Self; 2] {
        let of = |canary, strategy: &str| Self {
            canary,
            shuffled: true,
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

    /// Attempts that were under way when a replica became well have ended.
    pub(crate) fn settled(&self) -> Duration {
        ATTEMPT_TIMEOUT + SLACK
    }

    /// How often a replica that is well may be tripped: a rate may find old failures in its window with the success that
    /// completes the number of calls it needs, once.
    pub(crate) fn trips_while_well(&self) -> usize {
        usize::from(self.canary)
    }

    /// A connection is opened after those to the three others, which may hang, one after another on a single core.
    pub(crate) fn longest_validation(&self) -> Duration {
        4 * ATTEMPT_TIMEOUT + SLACK
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
