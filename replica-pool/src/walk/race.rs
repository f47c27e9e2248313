//! Hedging: an attempt that takes long gets a rival, and the first good answer wins.

use std::{error::Error, future::Future, pin::pin};

use futures::stream::{FuturesUnordered, StreamExt};
use tokio::time::{sleep, timeout};

use super::{Walk, Walked, attempt::Span};
use crate::{Address, Attempt, Judge, Lease, candidates::Candidates, hedge::Hedging, order::View};

/// An attempt under way beside others.
struct Racer<A: Address, H: Send + Sync + 'static> {
    number: u32,
    lease: Lease<A, H>,
    view: Option<View>,
    span: Span,
}

impl<A, H, T, E> Walk<'_, A, H, T, E>
where
    A: Address,
    H: Send + Sync + 'static,
    E: Error + 'static,
{
    /// One attempt and, as long as it takes and the budget allows, rivals on the next candidates. Says how the walk ends,
    /// if it does.
    pub(super) async fn race<Fut>(
        &mut self,
        candidates: &mut Candidates<'_, A, H>,
        hedging: &Hedging,
        lease: Lease<A, H>,
        view: Option<View>,
        judge: &impl Judge<T, E>,
        body: &mut impl FnMut(Attempt<A, H>) -> Fut,
    ) -> Option<Walked<T, E>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        hedging.earn();
        let patience = hedging.after(self.limits.attempt_timeout);
        let (mut running, mut racers) = (FuturesUnordered::new(), Vec::new());
        let mut next = Some((lease, view));
        let mut rival_due = pin!(sleep(patience));
        let mut rivals_left = true;
        loop {
            if let Some((lease, view)) = next.take() {
                let (attempt, span) = self.begin(&lease);
                let number = attempt.number();
                let answer = timeout(span.limit, body(attempt));
                running.push(async move { (number, answer.await.ok()) });
                racers.push(Racer { number, lease, view, span });
            }
            tokio::select! {
                biased;
                Some((number, result)) = running.next() => {
                    let at = racers.iter().position(|racer| racer.number == number)?;
                    let Racer { lease, view, span, .. } = racers.swap_remove(at);
                    if let Some(walked) = self.conclude(lease, view, span, result, judge) {
                        for Racer { lease, .. } in racers {
                            // One that was not slow itself has told nothing.
                            if lease.elapsed() < patience {
                                lease.cancel();
                            } else {
                                lease.park(self.limits.attempt_timeout);
                            }
                        }
                        return Some(walked);
                    }
                    if racers.is_empty() {
                        return None;
                    }
                }
                () = &mut rival_due, if rivals_left => {
                    let affordable = hedging.spend();
                    next = affordable.then(|| self.next(candidates)).flatten();
                    rivals_left = next.is_some();
                    if affordable && !rivals_left {
                        hedging.give_back();
                    }
                    rival_due.set(sleep(patience));
                }
            }
        }
    }
}
