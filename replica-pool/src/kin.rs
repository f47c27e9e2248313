use breaker_canary::Line;

use crate::{Replica, outlook::Changes};

/// What the replicas of a pool have in common.
pub(crate) struct Kin<A, H> {
    /// Where a change of any one's rank is noted.
    pub(crate) changes: Changes,
    /// Who probes them, if anybody does.
    pub(crate) canaries: Option<Line<Replica<A, H>>>,
}

impl<A, H> Kin<A, H> {
    pub(crate) fn new(canaries: Option<Line<Replica<A, H>>>) -> Self {
        Self { changes: Changes::default(), canaries }
    }
}
