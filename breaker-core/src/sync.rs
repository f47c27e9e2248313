//! The one place that names the synchronisation primitives, so that a model checker can stand in for them.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p breaker-core --release loom` runs the models beside
//! [`Breaker`](crate::Breaker) with loom's mutex and atomics.

#[cfg(loom)]
mod notify;
#[cfg(loom)]
mod word;

#[cfg(loom)]
pub(crate) use self::{
    notify::Notify,
    word::{AtomicU64, Ordering, written},
};
#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard, atomic::fence};

#[cfg(not(loom))]
pub(crate) use event_listener::Event as Notify;
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};

#[cfg(not(loom))]
mod spinning;
#[cfg(not(loom))]
pub(crate) use self::spinning::Mutex;

/// What a word holds, for the only thread that may write it now.
#[cfg(not(loom))]
pub(crate) fn written(word: &AtomicU64) -> u64 {
    word.load(Ordering::Relaxed)
}

/// Wakes all who listen. Where nobody ever has, no list is made for them.
pub(crate) fn wake_all(listeners: &Notify) {
    // Orders what was published before it with the look at the listeners, as a listener orders its listening with its look
    // at what is published: one of the two sees the other.
    fence(Ordering::SeqCst);
    #[cfg(not(loom))]
    if listeners.total_listeners() == 0 {
        return;
    }
    listeners.notify(usize::MAX);
}

/// Locks, whether or not a strategy has panicked under the lock before.
#[cfg(not(loom))]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> impl std::ops::DerefMut<Target = T> + use<'_, T> {
    mutex.lock()
}

/// Locks, whether or not a strategy has panicked under the lock before.
#[cfg(loom)]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
