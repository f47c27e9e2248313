//! How a request finds its partition.

use std::{borrow::Borrow, fmt, sync::Arc};

use crate::{
    Address, RefreshReason, Refreshed,
    partition::Partition,
    refresher::{Refresher, Request},
    router::{Key, PartitionId, Router},
};

/// Where a request goes, by what is known now.
pub(crate) struct Leg<A, H> {
    pub(crate) partition: Arc<Partition<A, H>>,
    /// The version of the routing map that led there.
    pub(crate) map_version: Option<u64>,
}

/// A question about routes that was started or joined, to wait for.
pub(crate) struct Asked<'a> {
    pub(crate) of: Refreshed,
    pub(crate) refresher: &'a Refresher,
    pub(crate) request: Request,
}

/// How a request finds its partition.
pub(crate) trait Route<A: Address, H: Send + Sync + 'static>: Sync {
    /// Where the request goes now; the question to wait for when there is no map yet.
    fn leg(&self) -> Result<Leg<A, H>, Asked<'_>>;

    /// Asks for the routing map unless it is newer than version `seen`; `None` where there is none.
    fn refresh_map(&self, seen: Option<u64>) -> Option<Asked<'_>>;
}

/// Straight to the only partition of a pool.
pub struct Direct<'a, A, H>(pub(crate) &'a Arc<Partition<A, H>>);

impl<A: Address, H: Send + Sync + 'static> Route<A, H> for Direct<'_, A, H> {
    fn leg(&self) -> Result<Leg<A, H>, Asked<'_>> {
        Ok(Leg { partition: Arc::clone(self.0), map_version: None })
    }

    /// The pool of one partition does not follow the map; whoever asks for another pool next is to find a newer one.
    fn refresh_map(&self, _: Option<u64>) -> Option<Asked<'_>> {
        self.0.ask_where_it_is();
        None
    }
}

impl<A: Address, H> fmt::Debug for Direct<'_, A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Direct")
    }
}

/// By the routing map, to the partition that serves a key.
pub struct ByKey<'a, K, P, A: Address, H: Send + Sync + 'static, Q: ?Sized> {
    pub(crate) router: &'a Arc<Router<K, P, A, H>>,
    pub(crate) key: &'a Q,
}

impl<K, P, A, H, Q> Route<A, H> for ByKey<'_, K, P, A, H, Q>
where
    K: Key + Borrow<Q>,
    P: PartitionId,
    A: Address,
    H: Send + Sync + 'static,
    Q: Ord + Sync + ?Sized,
{
    fn leg(&self) -> Result<Leg<A, H>, Asked<'_>> {
        self.router.leg(self.key).ok_or_else(|| self.router.ask_for_map(None, RefreshReason::NoAddresses))
    }

    fn refresh_map(&self, seen: Option<u64>) -> Option<Asked<'_>> {
        Some(self.router.ask_for_map(seen, RefreshReason::Gone))
    }
}

impl<K, P, A: Address, H: Send + Sync + 'static, Q: fmt::Debug + ?Sized> fmt::Debug
    for ByKey<'_, K, P, A, H, Q>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByKey").field("key", &self.key).finish_non_exhaustive()
    }
}
