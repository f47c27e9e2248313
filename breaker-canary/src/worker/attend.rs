//! The worker's task.

use breaker_core::Clock;
use tokio::time::sleep;

use super::{
    attended::Attended,
    circuits::Circuits,
    line::{Hearing, News},
};

/// News that are taken in before anything else is done.
const BATCH: usize = 256;

/// Attends to the circuits that it hears of, until nobody can tell it of any.
pub(super) async fn attend<T: Attended>(mut circuits: Circuits<T>, mut hearing: Hearing<T>) {
    let mut batch = Vec::new();
    loop {
        let next = circuits.next_due().map(|due| due.since(circuits.clock.now()));
        tokio::select! {
            biased;
            heard = hearing.news.recv_many(&mut batch, BATCH) => match heard {
                0 => return,
                _ => for news in batch.drain(..) {
                    match news {
                        News::LookAt(owner) => circuits.look(&owner),
                        News::Gone(address) => circuits.forget(address),
                    }
                    // One after another, so that those for whom there is room are no crowd.
                    circuits.knock();
                },
            },
            Some(ended) = circuits.rounds.join_next() => {
                if let Ok(ended) = ended {
                    circuits.end_round(ended);
                }
            }
            () = sleep(next.unwrap_or_default()), if next.is_some() => {}
        }
        circuits.knock();
    }
}
