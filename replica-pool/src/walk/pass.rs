//! One pass over the candidates of a set.

use std::{error::Error, future::Future, sync::Arc, time::Duration};

use breaker_core::{Now, Rejection};

use super::{Set, Walk, Walked};
use crate::{
    Address, Attempt, AttemptResult, Judge, Lease, Refreshed,
    order::{Rules, View},
    partition::Partition,
};

/// How a pass over the candidates ended.
pub(super) enum Pass<T, E: Error + 'static> {
    Walked(Walked<T, E>),
    /// None of those who were asked helped.
    Failed,
    /// Nobody was asked.
    AllRejected(Vec<(String, Rejection)>),
}

/// Who may still be asked in this pass.
pub(super) struct Candidates<'s, A: Address, H> {
    partition: &'s Arc<Partition<A, H>>,
    set: &'s Set<A, H>,
    tried: Tried,
    rejections: Vec<(String, Rejection)>,
}

/// Who was asked, by place in the set. Most passes ask one.
#[derive(Debug, Default)]
pub(super) struct Tried {
    first: Option<usize>,
    others: Vec<usize>,
}

impl Tried {
    fn push(&mut self, index: usize) {
        match self.first {
            None => self.first = Some(index),
            Some(_) => self.others.push(index),
        }
    }

    fn contains(&self, index: usize) -> bool {
        self.first == Some(index) || self.others.contains(&index)
    }

    fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

impl FromIterator<usize> for Tried {
    fn from_iter<I: IntoIterator<Item = usize>>(indices: I) -> Self {
        let mut tried = Self::default();
        indices.into_iter().for_each(|index| tried.push(index));
        tried
    }
}

impl<'s, A: Address, H> Candidates<'s, A, H> {
    fn all(partition: &'s Arc<Partition<A, H>>, set: &'s Set<A, H>) -> Self {
        Self::without(partition, set, Tried::default())
    }

    pub(super) fn without(partition: &'s Arc<Partition<A, H>>, set: &'s Set<A, H>, tried: Tried) -> Self {
        Self { partition, set, tried, rejections: Vec::new() }
    }
}

impl<A, H, T, E> Walk<'_, A, H, T, E>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
{
    /// Asks one candidate after another, each once, the best first.
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
        while let Some((lease, view)) = self.next(&mut candidates) {
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
        if self.attempts == 0 { Pass::AllRejected(candidates.rejections) } else { Pass::Failed }
    }

    /// The best of those who were not asked yet and whose circuit admits the call.
    pub(super) fn next(&mut self, candidates: &mut Candidates<'_, A, H>) -> Option<(Lease<A, H>, View)> {
        while !self.is_out_of_attempts() {
            let (index, view) = self.choose(candidates)?;
            candidates.tried.push(index);
            let (replica, now) = (&candidates.set.replicas()[index], self.now());
            match replica.breaker().acquire_owned_at(now) {
                Ok(permit) => {
                    let (partition, version) = (Arc::clone(candidates.partition), candidates.set.version());
                    let lease = Lease::new(partition, Arc::clone(replica), version, now, Some(permit));
                    return Some((lease, view));
                }
                Err(rejection) => {
                    self.record(replica, view, AttemptResult::Rejected, Duration::ZERO);
                    candidates.rejections.push((replica.address().to_string(), rejection));
                }
            }
        }
        None
    }

    pub(super) fn choose(&mut self, candidates: &Candidates<'_, A, H>) -> Option<(usize, View)> {
        let Candidates { partition, set, tried, .. } = candidates;
        let config = &partition.shared.config;
        let trial_ratio = if self.attempts == 0 && tried.is_empty() { config.trial_ratio() } else { 0.0 };
        let rules = Rules { order: config.order(), trial_ratio };
        let now = Now::of(&*partition.shared.clock);
        let (failed, mut overdue) = (&self.failed, false);
        let untried = set.replicas().iter().enumerate().filter(|(index, _)| !tried.contains(*index));
        let views = untried.map(|(index, replica)| {
            let view = View::of(replica, &now, config);
            overdue |= view.overdue;
            (index, view, failed.iter().any(|other| Arc::ptr_eq(other, replica)))
        });
        let chosen = rules.first(views, &mut self.rng);
        if let Some((reason, request)) = partition.look_after(set, overdue) {
            self.record_refresh(Refreshed::Addresses, reason, request, None);
        }
        chosen
    }
}
