//! One pass over the candidates of a set.

use std::{error::Error, future::Future, sync::Arc, time::Duration};

use breaker_core::Rejection;

use super::{Set, Walk, Walked};
use crate::{
    Address, Attempt, AttemptResult, Judge, Lease, Refreshed, candidates::Candidates, order::View,
    partition::Partition, set::Place,
};

/// How a pass over the candidates ended.
pub(super) enum Pass<T, E: Error + 'static> {
    Walked(Walked<T, E>),
    /// None of those who were asked helped.
    Failed,
    /// Nobody was asked.
    AllRejected(Vec<(String, Rejection)>),
}

impl<A, H, T, E> Walk<'_, A, H, T, E>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
{
    /// Asks one candidate after another, each once, the best first. Whose circuit refused is looked at again when the others
    /// have failed: meanwhile places came back, or are waited for.
    pub(super) async fn pass<Fut>(
        &mut self,
        partition: &Arc<Partition<A, H>>,
        set: &Set<A, H>,
        judge: &impl Judge<T, E>,
        body: &mut impl FnMut(Attempt<A, H>) -> Fut,
    ) -> Pass<T, E>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let mut candidates = Candidates::all(partition, set);
        self.record_selection(partition, set);
        loop {
            let Some((lease, view)) = self.next(&mut candidates) else {
                let may_ask = !self.is_out_of_attempts();
                if may_ask
                    && (candidates.offer_again() || self.await_a_place(partition, &mut candidates).await)
                {
                    continue;
                }
                break;
            };
            if self.attempts > 0 && self.clock.now() >= self.until.max(self.grace) {
                return Pass::Walked(self.out_of_time());
            }
            let ended = match &partition.shared.hedging {
                Some(hedging) if self.limits.idempotent => {
                    self.race(&mut candidates, hedging, lease, view, judge, body).await
                }
                _ => self.attempt(lease, view, judge, body).await,
            };
            if let Some(walked) = ended {
                return Pass::Walked(walked);
            }
        }
        if self.attempts == 0 { Pass::AllRejected(candidates.into_rejections()) } else { Pass::Failed }
    }

    /// The best of those who were not asked yet and whose circuit admits the call.
    pub(super) fn next(
        &mut self,
        candidates: &mut Candidates<'_, A, H>,
    ) -> Option<(Lease<A, H>, Option<View>)> {
        while !self.is_out_of_attempts() {
            let index = self.choose(candidates)?;
            let view = self.view(candidates, index);
            match Lease::begin_at(Place::shared(candidates.set(), index), self.now()) {
                Ok(lease) => {
                    candidates.strike(index);
                    return Some((lease, view));
                }
                Err((place, rejection)) => {
                    let replica = place.replica();
                    self.record(replica, view, AttemptResult::Rejected, Duration::ZERO);
                    candidates.reject(index, rejection);
                }
            }
        }
        None
    }

    pub(super) fn choose(&mut self, candidates: &Candidates<'_, A, H>) -> Option<usize> {
        let (chosen, refresh) = candidates.choose(self.attempts == 0, &self.failed, &mut self.rng);
        if let Some((reason, request)) = refresh {
            self.record_refresh(Refreshed::Addresses, reason, request, None);
        }
        chosen
    }

    /// What the candidate looks like now, if anybody wants to know.
    pub(super) fn view(&self, candidates: &Candidates<'_, A, H>, index: usize) -> Option<View> {
        self.diagnostics.is_some().then(|| candidates.view(index))
    }
}
