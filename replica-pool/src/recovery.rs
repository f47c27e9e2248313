//! A request that finds its replicas or its partition gone: which cache is refreshed, how the retry waits, and
//! how it ends.

use std::{error::Error, future::Future, time::Duration};

use breaker_core::GrowingDelay;

use crate::{
    Address, Attempt, CallError, Cause, Gone, Judge, RefreshReason, Refreshed, Unavailable,
    refresher::Question,
    route::{Leg, Route},
    walk::{Walk, Walked},
};

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// Walks, and as long as something is gone and there is time: refreshes what tells where it went, and walks
/// again.
pub(crate) async fn recover<A, H, T, E, R, Fut>(
    route: &R,
    mut walk: Walk<'_, A, H, T, E>,
    judge: &impl Judge<T, E>,
    mut body: impl FnMut(Attempt<A, H>) -> Fut,
) -> Result<T, CallError<E>>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
    R: Route<A, H>,
    Fut: Future<Output = Result<T, E>>,
{
    let mut pause = GrowingDelay::new(FIRST_PAUSE, LONGEST_PAUSE);
    let (mut retries, mut map_was_asked, mut first_cause) = (0_u32, false, None);
    let mut partition_was_gone = false;
    loop {
        let leg = find(route, &mut walk).await?;
        let (gone, cause, hopeless) = match walk.over(&leg.partition, judge, &mut body).await {
            Walked::Ended(result) => return result,
            Walked::Gone { gone, cause, hopeless } => (gone, cause, hopeless),
        };
        first_cause = first_cause.or(cause);
        let twice = gone == Gone::Partition && std::mem::replace(&mut partition_was_gone, true);
        if hopeless || twice || walk.is_out_of_attempts() {
            return Err(unavailable(walk, gone, first_cause, &leg));
        }
        // The first retry is always made, and at once. That of a replica was made within the walk.
        let first = retries == 0 && gone != Gone::Replica;
        let mut at_once = first;
        if gone == Gone::Replica && !std::mem::replace(&mut map_was_asked, true) {
            at_once = refresh_map(route, &mut walk, leg.map_version, false).await == Some(true);
        }
        if !at_once && !walk.pause(pause.trip()).await {
            return Err(unavailable(walk, gone, first_cause, &leg));
        }
        if gone != Gone::Replica
            && refresh_map(route, &mut walk, leg.map_version, first).await.is_none()
            && !first
        {
            return Err(unavailable(walk, gone, first_cause, &leg));
        }
        if gone == Gone::Migrating {
            refresh_addresses(route, &mut walk, &leg, first).await;
        }
        if first {
            walk.allow_one_more();
        }
        retries += 1;
    }
}

/// Where the request goes, after the first routing map has come.
async fn find<A, H, T, E, R>(route: &R, walk: &mut Walk<'_, A, H, T, E>) -> Result<Leg<A, H>, CallError<E>>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
    R: Route<A, H>,
{
    loop {
        let asked = match route.leg() {
            Ok(leg) => {
                walk.routed_by(leg.map_version);
                return Ok(leg);
            }
            Err(asked) => asked,
        };
        match walk.wait_for(asked, RefreshReason::NoAddresses, false).await {
            Some(None) => {}
            Some(Some(source)) if route.leg().is_err() => return Err(CallError::NoRoutingMap { source }),
            Some(Some(_)) => {}
            None => return Err(walk.deadline_exceeded()),
        }
    }
}

/// Asks for the map, and waits. Says whether the map is another now; `None` when it did not come in time.
async fn refresh_map<A, H, T, E, R>(
    route: &R,
    walk: &mut Walk<'_, A, H, T, E>,
    seen: Option<u64>,
    for_as_long_as_it_takes: bool,
) -> Option<bool>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
    R: Route<A, H>,
{
    let Some(asked) = route.refresh_map(seen) else { return Some(false) };
    walk.wait_for(asked, RefreshReason::Gone, for_as_long_as_it_takes).await?;
    Some(route.leg().is_ok_and(|leg| leg.map_version != seen))
}

/// Asks where the replicas of the partition that serves the key now are, and waits.
async fn refresh_addresses<A, H, T, E, R>(
    route: &R,
    walk: &mut Walk<'_, A, H, T, E>,
    before: &Leg<A, H>,
    for_as_long_as_it_takes: bool,
) where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
    R: Route<A, H>,
{
    let Ok(leg) = route.leg() else { return };
    if !std::sync::Arc::ptr_eq(&leg.partition, &before.partition) {
        return;
    }
    let request = leg.partition.refresh(walk.seen_version(), RefreshReason::Gone);
    let asked =
        crate::route::Asked { of: Refreshed::Addresses, refresher: leg.partition.refresher(), request };
    walk.wait_for(asked, RefreshReason::Gone, for_as_long_as_it_takes).await;
}

fn unavailable<A, H, T, E>(
    walk: Walk<'_, A, H, T, E>,
    gone: Gone,
    cause: Option<Cause<E>>,
    leg: &Leg<A, H>,
) -> CallError<E>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
{
    let not_before = leg.partition.refresher().not_before();
    let retry_at = Some(not_before).filter(|at| *at > leg.partition.now());
    CallError::Unavailable(Unavailable { gone, attempts: walk.into_trail(), retry_at, cause })
}
