use std::time::Duration;

use breaker_core::config::{BlockConfig, IsoDuration, Violations};
use replica_pool::config::{HedgeAfter, Order, PoolConfig, PoolKeys, WhenAllOpen};

/// Longer than most servers ever take, shorter than people notice.
const SUSPECT_AFTER: Duration = Duration::from_millis(100);

/// A `replicaPool` block with this program's defaults.
pub(super) struct ForwarderPool(pub(super) PoolConfig);

impl BlockConfig for ForwarderPool {
    const NAME: &'static str = PoolConfig::NAME;
    type Keys = PoolKeys;

    fn from_keys(keys: PoolKeys) -> Result<Self, Violations> {
        let keys = PoolKeys {
            // The first server of a company's list is there for a reason.
            order: keys.order.or(Some(Order::Listed)),
            // A datagram more harms nobody, and the network may be back before a circuit knows.
            when_all_open: keys.when_all_open.or(Some(WhenAllOpen::TryLeastBad)),
            // A client's patience is 5 s.
            attempt_timeout: keys.attempt_timeout.or(Some(IsoDuration::from_secs(1))),
            deadline: keys.deadline.or(Some(IsoDuration::from_secs(4))),
            // Before the time-outs of a dead server tell of it, clients have gone elsewhere.
            suspect_after: keys.suspect_after.or(Some(SUSPECT_AFTER.into())),
            hedge_after: keys.hedge_after.or(Some(HedgeAfter::Adaptive)),
            ..keys
        };
        PoolConfig::try_from(keys).map(Self)
    }
}
