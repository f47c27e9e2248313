//! Who may be asked in one pass over a set, and who of them comes next.

use std::sync::Arc;

use breaker_core::{Rejection, Timestamp};
use fastrand::Rng;

use crate::{
    Address, RefreshReason, Replica, ReplicaSet,
    order::{Rules, View, is_held_open},
    partition::{Partition, SHORT},
    refresher::Request,
};

/// Who may still be asked in one pass over a set.
pub(crate) struct Candidates<'s, A, H> {
    partition: &'s Arc<Partition<A, H>>,
    set: &'s Arc<ReplicaSet<A, H>>,
    tried: Tried,
    /// Whose circuit refused.
    refused: Vec<(usize, Rejection)>,
}

/// Who comes next, if anybody does, and the refresh that the look at the set has started.
pub(crate) type Choice = (Option<usize>, Option<(RefreshReason, Request)>);

impl<'s, A: Address, H: Send + Sync + 'static> Candidates<'s, A, H> {
    pub(crate) fn all(partition: &'s Arc<Partition<A, H>>, set: &'s Arc<ReplicaSet<A, H>>) -> Self {
        Self::without(partition, set, Tried::default())
    }

    pub(crate) fn without(
        partition: &'s Arc<Partition<A, H>>,
        set: &'s Arc<ReplicaSet<A, H>>,
        tried: Tried,
    ) -> Self {
        Self { partition, set, tried, refused: Vec::new() }
    }

    pub(crate) fn set(&self) -> &'s Arc<ReplicaSet<A, H>> {
        self.set
    }

    /// The candidate at `index` is not to be chosen again.
    pub(crate) fn strike(&mut self, index: usize) {
        self.tried.push(index);
    }

    /// Its circuit does not admit the call.
    pub(crate) fn reject(&mut self, index: usize, rejection: Rejection) {
        self.strike(index);
        self.refused.push((index, rejection));
    }

    /// Offers those again whose circuits refused and admit calls by now. Says whether there are any.
    pub(crate) fn offer_again(&mut self) -> bool {
        let admits = |index: usize| self.set.replicas()[index].breaker().status().refusal().is_none();
        let again: Vec<_> =
            self.refused.extract_if(.., |(index, _)| admits(*index)).map(|(index, _)| index).collect();
        self.tried.remove(&again);
        !again.is_empty()
    }

    /// Whose circuits refused and who were not asked since.
    pub(crate) fn refused(&self) -> impl Iterator<Item = &'s Arc<Replica<A, H>>> {
        self.refused.iter().map(|(index, _)| &self.set.replicas()[*index])
    }

    pub(crate) fn into_rejections(self) -> Vec<(String, Rejection)> {
        let name = |index: usize| self.set.replicas()[index].address().to_string();
        self.refused.into_iter().map(|(index, rejection)| (name(index), rejection)).collect()
    }

    /// Chooses whom a request asks next that has asked nobody yet.
    pub(crate) fn choose_first(&self, rng: &mut Rng) -> Choice {
        self.choose(true, &[], rng)
    }

    /// Chooses whom a request asks next; `first` if it has asked nobody yet. Those who `failed` it come behind.
    pub(crate) fn choose(&self, first: bool, failed: &[Arc<Replica<A, H>>], rng: &mut Rng) -> Choice {
        if self.tried.is_empty()
            && failed.is_empty()
            && let Some(quick) = self.partition.quick_pick(self.set, rng)
        {
            return (Some(quick), None);
        }
        self.look(|views| {
            let has_failed = |index: usize| {
                let replica = &self.set.replicas()[index];
                failed.iter().any(|other| Arc::ptr_eq(other, replica))
            };
            let views = views.map(|(index, view)| (index, view, has_failed(index)));
            self.rules(first && self.tried.is_empty()).first(views, rng)
        })
    }

    /// The `n` best, the best first.
    pub(crate) fn best(&self, n: usize, rng: &mut Rng) -> Vec<usize> {
        if n == 1 {
            let (chosen, _) = self.choose_first(rng);
            return chosen.into_iter().collect();
        }
        if let Some(quick) = self.partition.quick_picks(n, self.set, rng) {
            return quick;
        }
        self.look(|views| self.rules(true).best(n, views, rng)).0
    }

    pub(crate) fn view(&self, index: usize) -> View {
        self.partition.shared.view(&self.set.replicas()[index])
    }

    fn rules(&self, trials: bool) -> Rules {
        let config = &self.partition.shared.config;
        Rules { order: config.order(), trial_ratio: if trials { config.trial_ratio() } else { 0.0 } }
    }

    /// Hands a view of everybody who was not asked yet to `choose`, and does what such a look should start.
    fn look<R>(
        &self,
        choose: impl FnOnce(&mut dyn Iterator<Item = (usize, View)>) -> R,
    ) -> (R, Option<(RefreshReason, Request)>) {
        let shared = &self.partition.shared;
        let (changes, now) = (shared.kin.changes.count(), shared.now());
        let (mut overdue, mut held_open, mut settled_until) = (false, false, Timestamp::MAX);
        let untried =
            self.set.replicas().iter().enumerate().filter(|(index, _)| !self.tried.contains(*index));
        let mut views = untried.map(|(index, replica)| {
            let view = View::of(replica, &now, &shared.config);
            overdue |= view.overdue;
            held_open |= is_held_open(&view.circuit);
            settled_until = settled_until.min(view.settled_until());
            (index, view)
        });
        let chosen = choose(&mut views);
        if self.tried.is_empty() {
            let short_at = self.set.short_since().map_or(Timestamp::MAX, |since| since + SHORT);
            self.set.outlook.settle(changes, settled_until.min(short_at));
        }
        if held_open {
            self.partition.ask_about_open_circuits();
        }
        (chosen, self.partition.look_after(self.set, overdue))
    }
}

/// Who was asked, by place in the set. Most passes ask one.
#[derive(Debug, Default)]
pub(crate) struct Tried {
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

    fn remove(&mut self, indices: &[usize]) {
        self.first.take_if(|index| indices.contains(index));
        self.others.retain(|index| !indices.contains(index));
    }

    fn contains(&self, index: usize) -> bool {
        self.first == Some(index) || self.others.contains(&index)
    }

    const fn is_empty(&self) -> bool {
        self.first.is_none() && self.others.is_empty()
    }
}

impl FromIterator<usize> for Tried {
    fn from_iter<I: IntoIterator<Item = usize>>(indices: I) -> Self {
        let mut tried = Self::default();
        indices.into_iter().for_each(|index| tried.push(index));
        tried
    }
}
