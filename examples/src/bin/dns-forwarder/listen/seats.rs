//! A bounded number of connections. For one more, the one that was silent for the longest gives way: clients that
//! connect and say nothing keep nobody out.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::future::{AbortHandle, abortable};

/// All of them.
#[derive(Debug)]
pub(super) struct Seats {
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    /// Grows with every sign of life.
    turn: u64,
    /// By the turn of their last sign of life.
    seats: BTreeMap<u64, AbortHandle>,
}

impl Seats {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default() })
    }

    /// Runs `connection` on a seat.
    pub(super) fn take<F>(self: &Arc<Self>, connection: impl FnOnce(Seat) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (turn, silent) = {
            let mut taken = self.taken();
            taken.turn += 1;
            let full = taken.seats.len() >= self.most;
            (taken.turn, if full { taken.seats.pop_first() } else { None })
        };
        if let Some((_, silent)) = silent {
            silent.abort();
        }
        let seat = Seat { all: Arc::clone(self), turn: AtomicU64::new(turn) };
        let (connection, handle) = abortable(connection(seat));
        self.taken().seats.insert(turn, handle);
        tokio::spawn(connection);
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection's.
#[derive(Debug)]
pub(super) struct Seat {
    all: Arc<Seats>,
    turn: AtomicU64,
}

impl Seat {
    /// There was a sign of life.
    pub(super) fn is_active(&self) {
        let mut taken = self.all.taken();
        if let Some(connection) = taken.seats.remove(&self.turn.load(Ordering::Relaxed)) {
            taken.turn += 1;
            self.turn.store(taken.turn, Ordering::Relaxed);
            let turn = taken.turn;
            taken.seats.insert(turn, connection);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.all.taken().seats.remove(&self.turn.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn the_one_that_was_silent_for_the_longest_gives_way() {
        let seats = Seats::new(2);
        let sit = || {
            let (given, taken) = oneshot::channel();
            seats.take(|seat| async move {
                let _ = given.send(seat.turn.load(Ordering::Relaxed));
                std::future::pending::<()>().await;
                drop(seat);
            });
            taken
        };
        assert_eq!((sit().await.unwrap(), sit().await.unwrap()), (1, 2));
        assert_eq!(sit().await.unwrap(), 3);
        assert_eq!(seats.taken().seats.keys().copied().collect::<Vec<_>>(), [2, 3]);
    }
}
