//! Waiting for a circuit that refuses only for the moment.

use std::{error::Error, sync::Arc};

use breaker_core::RejectionReason;
use futures::future::{join_all, select_all};
use tokio::time::timeout;

use super::Walk;
use crate::{Address, Replica, candidates::Candidates, partition::Partition, shared::Shared};

impl<A, H, T, E> Walk<'_, A, H, T, E>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
{
    /// Nobody could be asked: waits until somebody of the present set can. Says whether it is worth another look.
    pub(super) async fn await_a_chance(&mut self, partition: &Partition<A, H>) -> bool {
        self.await_one_of(&partition.shared, || partition.set.load().replicas().to_vec()).await
    }

    /// Those who were asked have failed, if anybody was: waits until somebody who refused can be asked, unless a newer set has
    /// other addresses. Says whether there are candidates again.
    pub(super) async fn await_a_place(
        &mut self,
        partition: &Partition<A, H>,
        candidates: &mut Candidates<'_, A, H>,
    ) -> bool {
        let version = candidates.set().version();
        let refused = || match partition.set.load().version() == version {
            true => candidates.refused().map(Arc::clone).collect(),
            false => Vec::new(),
        };
        self.await_one_of(&partition.shared, refused).await && candidates.offer_again()
    }

    /// While none of the `replicas` admits the call, but one was never probed or is half-open with its places taken: waits
    /// until that is no longer so, for what is left of `startupWait`. Says whether one may admit the call now.
    async fn await_one_of(
        &mut self,
        shared: &Shared<A, H>,
        replicas: impl Fn() -> Vec<Arc<Replica<A, H>>>,
    ) -> bool {
        self.began = None;
        let now = self.clock.now();
        // Others may be faster to take the place: what is left of the time is for another wait.
        let left = shared.config.startup_wait().saturating_sub(self.waited).min(self.until.since(now));
        if left.is_zero() {
            return false;
        }
        let settled = async {
            loop {
                let changed = shared.circuits_changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                let replicas = replicas();
                if replicas.is_empty() {
                    return false;
                }
                // Listening comes before looking, so that nothing is missed.
                let breakers = || replicas.iter().map(|replica| replica.breaker());
                let places = select_all(breakers().map(|breaker| breaker.changed()));
                let refusals: Vec<_> = breakers().map(|breaker| breaker.status().refusal()).collect();
                if refusals.contains(&None) {
                    return true;
                }
                let first_rounds: Vec<_> =
                    replicas.iter().filter_map(|replica| replica.first_round()).collect();
                let probed = first_rounds.is_empty();
                if probed && !refusals.contains(&Some(RejectionReason::NoPlace)) {
                    return false;
                }
                tokio::select! {
                    biased;
                    () = changed => {}
                    _ = places => {}
                    _ = join_all(first_rounds), if !probed => {}
                }
            }
        };
        let settled = timeout(left, settled).await.unwrap_or(false);
        self.waited += self.clock.now().since(now);
        settled
    }
}
