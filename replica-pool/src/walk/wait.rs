//! What a walk waits for, within its time.

use std::{error::Error, sync::Arc, time::Duration};

use tokio::time::{sleep, timeout};

use super::{Walk, Walked};
use crate::{
    Address, CallError, Cause, GatewayError, Gone, RefreshReason, Refreshed,
    partition::Partition,
    refresher::{Question, Request},
    route::Asked,
};

impl<A, H, T, E> Walk<'_, A, H, T, E>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
{
    /// The set is empty: waits for an answer of the gateway. Says how the walk ends if there is none.
    pub(super) async fn await_addresses(&mut self, partition: &Arc<Partition<A, H>>) -> Option<Walked<T, E>> {
        if partition.fixed {
            return Some(Walked::Ended(Err(CallError::NoReplicas { source: None })));
        }
        let error = match self.wait_for_refresh(partition, RefreshReason::NoAddresses).await {
            Some(error) => error.filter(|_| partition.set().replicas().is_empty())?,
            None => return Some(self.out_of_time()),
        };
        if partition.is_routed() && matches!(error, GatewayError::NoSuchPartition) {
            return Some(partition_gone(error));
        }
        Some(Walked::Ended(Err(CallError::NoReplicas { source: Some(error) })))
    }

    /// Everybody failed: asks for the addresses, since they may all have changed, and waits for them. Says how the walk
    /// ends if they can't be had.
    pub(super) async fn resolve_again(&mut self, partition: &Arc<Partition<A, H>>) -> Option<Walked<T, E>> {
        // The first retry of a request whose replicas are gone is always made.
        let always = self.signal.gone() == Some(Gone::Replica);
        let request = partition.refresh(self.seen, RefreshReason::Exhausted);
        let asked = Asked { of: Refreshed::Addresses, refresher: partition.refresher(), request };
        match self.wait_for(asked, RefreshReason::Exhausted, always).await {
            None if !always => return Some(self.out_of_time()),
            Some(Some(error)) if partition.is_routed() && matches!(error, GatewayError::NoSuchPartition) => {
                return Some(partition_gone(error));
            }
            _ => {}
        }
        if always {
            self.allow_one_more();
        }
        None
    }

    async fn wait_for_refresh(
        &mut self,
        partition: &Arc<Partition<A, H>>,
        reason: RefreshReason,
    ) -> Option<Option<GatewayError>> {
        let request = partition.refresh(self.seen, reason);
        let asked = Asked { of: Refreshed::Addresses, refresher: partition.refresher(), request };
        self.wait_for(asked, reason, false).await
    }

    /// Waits for a question to end, within the deadline; or, for a retry that is `always` made, at least for as
    /// long as an attempt may take. Says why it brought nothing, if so; `None` when it did not end in time.
    pub(crate) async fn wait_for(
        &mut self,
        asked: Asked<'_>,
        reason: RefreshReason,
        always: bool,
    ) -> Option<Option<GatewayError>> {
        let Asked { of, refresher, request } = asked;
        let number = match request {
            Request::Served => return Some(None),
            Request::Closed => return Some(Some(GatewayError::NoSuchPartition)),
            Request::Run { number, .. } => number,
        };
        let begun = self.now();
        self.began = None;
        let least = if always { self.limits.attempt_timeout } else { Duration::ZERO };
        let ended = timeout(self.until.since(begun).max(least), refresher.wait(number)).await;
        self.record_refresh(of, reason, request, Some(self.clock.now().since(begun)));
        ended.ok().map(|ended| ended.error)
    }

    /// Waits for `span` before the next retry. Says no when there is no time left for it.
    pub(crate) async fn pause(&mut self, span: Duration) -> bool {
        let in_time = self.until.since(self.clock.now()) > span;
        if in_time {
            sleep(span).await;
        }
        in_time
    }

    /// Time for one more attempt, whatever the deadline says. Nothing is waited for in it.
    pub(crate) fn allow_one_more(&mut self) {
        self.grace = self.clock.now() + self.limits.attempt_timeout;
    }
}

fn partition_gone<T, E: Error + 'static>(error: GatewayError) -> Walked<T, E> {
    Walked::Gone { gone: Gone::Partition, cause: Some(Cause::Gateway(error)), hopeless: false }
}
