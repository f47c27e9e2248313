//! Waiting for a circuit that refuses only for the moment.

use std::error::Error;

use breaker_core::RejectionReason;
use futures::future::{join_all, select_all};
use tokio::time::timeout;

use super::Walk;
use crate::{Address, candidates::Candidates, partition::Partition};

impl<A, H, T, E> Walk<'_, A, H, T, E>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
{
    /// Nobody else has served the call: while none of those who refused admits it, but one was never probed or is half-open with
    /// its places taken, waits until that is no longer so, for what is left of `startupWait`, unless a newer set has other
    /// addresses. Says whether there are candidates again.
    pub(super) async fn await_a_place(
        &mut self,
        partition: &Partition<A, H>,
        candidates: &mut Candidates<'_, A, H>,
    ) -> bool {
        self.began = None;
        let (shared, version) = (&partition.shared, candidates.set().version());
        let refused: Vec<_> = candidates.refused().collect();
        let now = self.clock.now();
        // Others may be faster to take the place: what is left of the time is for another wait.
        let left = shared.config.startup_wait().saturating_sub(self.waited).min(self.until.since(now));
        if refused.is_empty() || left.is_zero() {
            return false;
        }
        let settled = async {
            loop {
                let changed = shared.circuits_changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                // Listening comes before looking, so that nothing is missed.
                let breakers = || refused.iter().map(|replica| replica.breaker());
                let places = select_all(breakers().map(|breaker| breaker.changed()));
                let refusals: Vec<_> = breakers().map(|breaker| breaker.status().refusal()).collect();
                let first_rounds: Vec<_> =
                    refused.iter().filter_map(|replica| replica.first_round()).collect();
                let probed = first_rounds.is_empty();
                let in_vain = probed && !refusals.contains(&Some(RejectionReason::NoPlace));
                if in_vain || refusals.contains(&None) || partition.set().version() != version {
                    return;
                }
                tokio::select! {
                    biased;
                    () = changed => {}
                    _ = places => {}
                    _ = join_all(first_rounds), if !probed => {}
                }
            }
        };
        let _ = timeout(left, settled).await;
        self.waited += self.clock.now().since(now);
        candidates.offer_again()
    }
}
