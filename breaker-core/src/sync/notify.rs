//! Stands in for `event_listener::Event` where loom checks the breaker: the part of its contract that the
//! breaker relies on, and no more. A listener that was made before a notification is woken by it.
//!
//! The list of listeners is behind a lock that loom does not see, so that its own steps are not explored; the
//! fences are those of the real one, so that what it promises about the order of memory is.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

use loom::sync::atomic::{Ordering::SeqCst, fence};

#[derive(Debug, Default)]
pub(crate) struct Notify {
    listeners: Mutex<Vec<Arc<Mutex<Told>>>>,
}

/// What a listener has been told, and whom to wake.
#[derive(Debug, Default)]
struct Told {
    notified: bool,
    waker: Option<Waker>,
}

#[derive(Debug)]
pub(crate) struct Listener(Arc<Mutex<Told>>);

impl Notify {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn listen(&self) -> Listener {
        let told = Arc::default();
        held(&self.listeners).push(Arc::clone(&told));
        fence(SeqCst);
        Listener(told)
    }

    /// Wakes all who listen; the breaker never asks for fewer.
    pub(crate) fn notify(&self, _all: usize) {
        fence(SeqCst);
        for told in std::mem::take(&mut *held(&self.listeners)) {
            let waker = {
                let mut told = held(&told);
                told.notified = true;
                told.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl Future for Listener {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut told = held(&self.0);
        if told.notified {
            return Poll::Ready(());
        }
        told.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
