//! A request that finds its replicas or its partition gone: which cache is refreshed, how the retry waits, and
//! how it ends.

use std::{error::Error, future::Future, sync::Arc, time::Duration};

use breaker_core::GrowingDelay;

use crate::{
    Address, Attempt, CallError, Cause, Gone, Judge, RefreshReason, Refreshed, Unavailable,
    refresher::{Question, Request},
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
    let (mut retries, mut map, mut first_cause) = (0_u32, MapAge::AsFound, None);
    loop {
        let leg = find(route, &mut walk).await?;
        let (gone, cause, hopeless) = match walk.over(&leg.partition, judge, &mut body).await {
            Walked::Ended(result) => return result,
            Walked::Gone { gone, cause, hopeless } => (gone, cause, hopeless),
        };
        first_cause = first_cause.or(cause);
        // The first retry is always made, and at once. That of a replica was made within the walk.
        let first = retries == 0 && gone != Gone::Replica;
        let again = gone == Gone::Partition && map == MapAge::AskedSince;
        if hopeless || again || walk.is_out_of_attempts() || (!first && walk.is_out_of_time()) {
            if retries == 0 {
                leg.partition.found_gone(gone, walk.seen_version());
            }
            return Err(unavailable(walk, gone, first_cause, &leg));
        }
        retries += 1;
        let in_time = match gone {
            Gone::Replica => {
                // The map, once; and there is nothing to wait for if it leads elsewhere.
                let asks = map == MapAge::AsFound;
                map = MapAge::AskedSince;
                let elsewhere = asks
                    && matches!(
                        refresh_map(route, &mut walk, &leg, false, Ask::Newer).await,
                        Some((true, _))
                    );
                elsewhere || walk.pause(pause.trip()).await
            }
            Gone::Partition => {
                let ask = if first { Ask::Elsewhere } else { Ask::Since };
                let answer = refresh_map(route, &mut walk, &leg, first, ask).await;
                map = answer.map_or(map, |(_, age)| age);
                first || answer.is_some()
            }
            Gone::Splitting | Gone::Migrating => {
                let waited = first || walk.pause(pause.trip()).await;
                let answered =
                    waited && refresh_map(route, &mut walk, &leg, first, Ask::Newer).await.is_some();
                if answered && gone == Gone::Migrating {
                    refresh_addresses(route, &mut walk, &leg, first).await;
                }
                first || answered
            }
        };
        if !in_time {
            return Err(unavailable(walk, gone, first_cause, &leg));
        }
        if first {
            walk.allow_one_more();
        }
    }
}

/// How old the map is by which a request is routed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MapAge {
    /// It may have been asked for before the request found anything gone.
    AsFound,
    /// It was asked for since.
    AskedSince,
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

/// How much a request wants to know of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ask {
    /// One that is newer than the one it was routed by.
    Newer,
    /// One that leads elsewhere, or was asked for since the request found its partition gone.
    Elsewhere,
    /// One that was asked for since.
    Since,
}

/// Asks for the map as far as need be, and waits. Says whether the request goes elsewhere now, and by a map of what
/// age; `None` when the map did not come in time.
async fn refresh_map<A, H, T, E, R>(
    route: &R,
    walk: &mut Walk<'_, A, H, T, E>,
    before: &Leg<A, H>,
    always: bool,
    ask: Ask,
) -> Option<(bool, MapAge)>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
    R: Route<A, H>,
{
    let mut age = MapAge::AsFound;
    let mut joined_before = false;
    loop {
        let leg = route.leg().ok()?;
        let elsewhere = !Arc::ptr_eq(&leg.partition, &before.partition);
        if age == MapAge::AskedSince || (elsewhere && ask != Ask::Since) {
            return Some((elsewhere, age));
        }
        let seen = if ask == Ask::Newer { before.map_version } else { leg.map_version };
        let Some(asked) = route.refresh_map(seen) else { return Some((false, MapAge::AskedSince)) };
        // A question that was under way may be older than what was found gone; the one after it is not.
        let joined = matches!(asked.request, Request::Run { started: false, .. });
        walk.wait_for(asked, RefreshReason::Gone, always).await?;
        if !joined || ask == Ask::Newer || std::mem::replace(&mut joined_before, true) {
            age = MapAge::AskedSince;
        }
    }
}

/// Asks where the replicas of the partition that serves the key now are, and waits.
async fn refresh_addresses<A, H, T, E, R>(
    route: &R,
    walk: &mut Walk<'_, A, H, T, E>,
    before: &Leg<A, H>,
    always: bool,
) where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
    R: Route<A, H>,
{
    let Ok(leg) = route.leg() else { return };
    if !Arc::ptr_eq(&leg.partition, &before.partition) {
        return;
    }
    let request = leg.partition.refresh(walk.seen_version(), RefreshReason::Gone);
    let asked =
        crate::route::Asked { of: Refreshed::Addresses, refresher: leg.partition.refresher(), request };
    walk.wait_for(asked, RefreshReason::Gone, always).await;
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
