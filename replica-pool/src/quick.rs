//! Picks that look at the replicas they pick, and at no others.

use fastrand::Rng;

use crate::{Address, ReplicaSet, config::Order, partition::Partition};

/// How many replicas are picked at random before everybody is looked at.
const PICKS: u32 = 4;

impl<A: Address, H: Send + Sync + 'static> Partition<A, H> {
    /// One of the first rank: each with the same chance, or the first of the list. `None` where that takes a
    /// look at everybody.
    #[inline(always)]
    pub(crate) fn quick_pick(&self, set: &ReplicaSet<A, H>, rng: &mut Rng) -> Option<usize> {
        if !self.is_settled(set) {
            return None;
        }
        let all = set.replicas().len();
        match self.shared.config.order() {
            Order::Listed => (0..all).find(|index| self.is_first_rank(set, *index)),
            Order::Shuffled if all == 0 => None,
            Order::Shuffled => {
                // No chain of iterators: those are not always inlined.
                for _ in 0..PICKS {
                    let index = rng.usize(..all);
                    if self.is_first_rank(set, index) {
                        return Some(index);
                    }
                }
                None
            }
        }
    }

    /// `n` of the first rank, or all that there are if they are all of it. `None` where that takes a look at everybody.
    pub(crate) fn quick_picks(&self, n: usize, set: &ReplicaSet<A, H>, rng: &mut Rng) -> Option<Vec<usize>> {
        if !self.is_settled(set) {
            return None;
        }
        let all = set.replicas().len();
        let n = n.min(all);
        let mut order: Vec<usize> = (0..all).collect();
        let mut picks = Vec::with_capacity(n);
        for place in 0..all {
            if picks.len() == n {
                break;
            }
            if self.shared.config.order() == Order::Shuffled {
                order.swap(place, rng.usize(place..all));
            }
            if self.is_first_rank(set, order[place]) {
                picks.push(order[place]);
            }
        }
        (picks.len() == n).then_some(picks)
    }

    /// Whether any replica of the first rank may be taken without a look at everybody.
    #[inline]
    fn is_settled(&self, set: &ReplicaSet<A, H>) -> bool {
        set.outlook.holds(self.shared.kin.changes.count(), || self.shared.clock.coarse())
    }

    #[inline]
    fn is_first_rank(&self, set: &ReplicaSet<A, H>, index: usize) -> bool {
        let (replica, shared) = (&set.replicas()[index], &self.shared);
        replica.is_plain() || shared.view(replica).rank(shared.config.order()) == 0
    }
}

#[cfg(test)]
mod tests;
