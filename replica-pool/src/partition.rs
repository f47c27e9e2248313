//! The replicas of one partition, and when their addresses are asked for again.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use arc_swap::{ArcSwap, Guard};
use breaker_core::Timestamp;

use crate::{
    Address, GatewayError, Gone, Replica, ReplicaSet,
    diagnostics::RefreshReason,
    gateway::Source,
    refresher::{Question, Refresher, Request},
    shared::Shared,
};

/// How long a set may be smaller than it should be before its addresses are asked for.
pub(crate) const SHORT: Duration = Duration::from_secs(600);

// In this order in memory: what every call reads lies together.
#[repr(C)]
pub(crate) struct Partition<A, H> {
    pub(crate) set: ArcSwap<ReplicaSet<A, H>>,
    pub(crate) shared: Arc<Shared<A, H>>,
    /// The addresses can't change: nothing is refreshed or marked.
    pub(crate) fixed: bool,
    pub(crate) source: Box<dyn Source<A>>,
    pub(crate) refresher: Refresher,
    /// Held while the set changes; true once the partition is no more.
    pub(crate) retired: Mutex<bool>,
}

impl<A: Address, H: Send + Sync + 'static> Partition<A, H> {
    pub(crate) fn new(shared: Arc<Shared<A, H>>, source: Box<dyn Source<A>>) -> Arc<Self> {
        let fixed = source.fixed();
        let this = Arc::new_cyclic(|home| Self {
            shared,
            source,
            fixed: fixed.is_some(),
            set: ArcSwap::from_pointee(ReplicaSet::empty(Weak::clone(home), fixed.is_some())),
            refresher: Refresher::new(),
            retired: Mutex::new(false),
        });
        if let Some(addresses) = fixed {
            this.replace(&addresses);
        }
        this
    }

    /// Asks for the first addresses, and from then on as often as the settings say.
    pub(crate) fn begin(self: &Arc<Self>) {
        if self.fixed {
            return;
        }
        let _ = self.start_refresh(RefreshReason::NoAddresses, false);
        if let Some(interval) = self.shared.config.refresh_interval() {
            let weak = Arc::downgrade(self);
            self.shared.tasks.spawn(async move {
                loop {
                    tokio::time::sleep(interval).await;
                    let Some(this) = weak.upgrade() else { return };
                    if this.start_refresh(RefreshReason::Interval, false) == Request::Closed {
                        return;
                    }
                }
            });
        }
    }

    /// Whether a routing map leads here.
    pub(crate) fn is_routed(&self) -> bool {
        self.source.is_routed()
    }

    /// The gateway no longer knows the partition.
    pub(crate) fn vanished(&self) -> GatewayError {
        self.source.vanished();
        GatewayError::NoSuchPartition
    }

    /// An attempt found `gone` in the set of version `seen`, and its caller does not follow: asks in the background for what the
    /// next one is to know.
    #[cold]
    pub(crate) fn found_gone(self: &Arc<Self>, gone: Gone, seen: u64) {
        // Where a replica is gone, it was marked, and who asks for the addresses of a partition that vanished asks for the map.
        if gone != Gone::Replica {
            self.ask_where_it_is();
        }
        if gone == Gone::Migrating {
            let _ = self.refresh(seen, RefreshReason::Gone);
        }
    }

    /// Asks for the routing map in the background, unless a newer one leads elsewhere already.
    pub(crate) fn ask_where_it_is(&self) {
        let retired = *self.retired.lock().unwrap_or_else(PoisonError::into_inner);
        if !retired {
            self.source.vanished();
        }
    }

    pub(crate) fn set(&self) -> Guard<Arc<ReplicaSet<A, H>>> {
        self.set.load()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// Asks for the addresses again in the background, unless the set has changed since version `seen`.
    pub(crate) fn refresh(self: &Arc<Self>, seen: u64, reason: RefreshReason) -> Request {
        if self.fixed || self.set.load().version() > seen {
            return Request::Served;
        }
        self.start_refresh(reason, false)
    }

    /// `replica`, of the set of version `seen`, failed; `news` if it was not known to be bad. When the set has
    /// changed since, only news of a replica that stayed is worth a question.
    pub(crate) fn marked(self: &Arc<Self>, seen: u64, replica: &Arc<Replica<A, H>>, news: bool) -> Request {
        let set = self.set.load();
        let stayed = || news && set.replicas().iter().any(|other| Arc::ptr_eq(other, replica));
        if self.fixed || (set.version() > seen && !stayed()) {
            return Request::Served;
        }
        self.start_refresh(RefreshReason::MarkedFailed, news)
    }

    /// Asks for the addresses when a circuit has been held open for as long as a mark counts.
    pub(crate) fn ask_about_open_circuits(self: &Arc<Self>) {
        if !self.fixed {
            self.ask_later(self.shared.config.unhealthy_timeout());
        }
    }

    /// Starts what a look-up that saw `overdue` replicas or a short set should start.
    pub(crate) fn look_after(
        self: &Arc<Self>,
        set: &ReplicaSet<A, H>,
        overdue: bool,
    ) -> Option<(RefreshReason, Request)> {
        let short = || set.short_since().is_some_and(|since| self.now().since(since) >= SHORT);
        let reason = if overdue {
            RefreshReason::UnhealthyTooLong
        } else if short() {
            RefreshReason::BelowTarget
        } else {
            return None;
        };
        Some((reason, self.refresh(set.version(), reason)))
    }

    /// Ends a replica's failing: whatever the answer was, it is to be validated if it is pending.
    pub(crate) fn validate_pending(self: &Arc<Self>, replicas: &[Arc<Replica<A, H>>]) {
        for replica in replicas {
            if replica.mark().status() == crate::HealthStatus::UnhealthyPending {
                self.validate(Arc::clone(replica));
            }
        }
    }
}

impl<A, H> fmt::Debug for Partition<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partition").field("fixed", &self.fixed).finish_non_exhaustive()
    }
}
