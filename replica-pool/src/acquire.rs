//! One attempt, for callers that find the next one themselves.

use std::sync::Arc;

use fastrand::Rng;

use crate::{
    Address, AllOpen, Lease, RefreshReason, candidates::Candidates, partition::Partition, set::Place,
};

impl<A: Address, H: Send + Sync + 'static> Partition<A, H> {
    #[inline(always)]
    pub(crate) fn acquire(self: &Arc<Self>) -> Result<Lease<A, H>, AllOpen> {
        let set = self.set();
        let Some(index) = self.quick_pick(&set, &mut Rng::new()) else {
            return self.acquire_from(Candidates::all(self, &set));
        };
        Lease::begin(Place::new(set, index)).or_else(|(place, rejection)| {
            let mut others = Candidates::all(self, place.set());
            others.reject(index, rejection);
            self.acquire_from(others)
        })
    }

    #[cold]
    fn acquire_from(self: &Arc<Self>, mut candidates: Candidates<'_, A, H>) -> Result<Lease<A, H>, AllOpen> {
        let mut rng = Rng::new();
        while let (Some(index), _) = candidates.choose_first(&mut rng) {
            match Lease::begin(Place::shared(candidates.set(), index)) {
                Ok(lease) => return Ok(lease),
                Err((_, rejection)) => candidates.reject(index, rejection),
            }
        }
        let _ = self.refresh(candidates.set().version(), RefreshReason::Exhausted);
        Err(AllOpen::new(candidates.into_rejections(), self.now()))
    }
}
