//! One attempt, for callers that find the next one themselves.

use std::sync::Arc;

use breaker_core::Rejection;
use fastrand::Rng;

use crate::{
    Address, AllOpen, Lease, RefreshReason, ReplicaSet, candidates::Candidates, partition::Partition,
    set::Place,
};

impl<A: Address, H: Send + Sync + 'static> Partition<A, H> {
    #[inline(always)]
    pub(crate) fn acquire(self: &Arc<Self>) -> Result<Lease<A, H>, AllOpen> {
        let set = self.set();
        let Some(index) = self.quick_pick(&set, &mut Rng::new()) else {
            return self.acquire_from(&set, None);
        };
        match Lease::begin(Place::new(set, index)) {
            Ok(lease) => Ok(lease),
            Err((place, rejection)) => self.acquire_from(place.set(), Some((index, rejection))),
        }
    }

    // Never inlined, so that the path of a healthy pick stays short.
    #[cold]
    #[inline(never)]
    fn acquire_from(
        self: &Arc<Self>,
        set: &Arc<ReplicaSet<A, H>>,
        rejected: Option<(usize, Rejection)>,
    ) -> Result<Lease<A, H>, AllOpen> {
        let mut candidates = Candidates::all(self, set);
        if let Some((index, rejection)) = rejected {
            candidates.reject(index, rejection);
        }
        let mut rng = Rng::new();
        while let (Some(index), _) = candidates.choose_first(&mut rng) {
            match Lease::begin(Place::shared(set, index)) {
                Ok(lease) => return Ok(lease),
                Err((_, rejection)) => candidates.reject(index, rejection),
            }
        }
        let _ = self.refresh(set.version(), RefreshReason::Exhausted);
        Err(AllOpen::new(candidates.into_rejections(), self.now()))
    }
}
