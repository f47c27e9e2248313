//! Background work that ends with its pool.

use std::{
    future::Future,
    sync::{Mutex, PoisonError},
};

use tokio::{runtime::Handle, task::JoinSet};

/// The tasks of one pool. They may hold what they work on strongly: whoever owns the pool ends them.
#[derive(Debug)]
pub(crate) struct Tasks {
    runtime: Handle,
    /// `None` once the pool is gone.
    set: Mutex<Option<JoinSet<()>>>,
}

impl Tasks {
    pub(crate) fn new(runtime: Handle) -> Self {
        Self { runtime, set: Mutex::new(Some(JoinSet::new())) }
    }

    /// Runs `task` until it ends or the pool is dropped. A panic is logged and harms nobody else. Says
    /// whether the task was started: not when the pool is gone.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> bool {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(set) = set.as_mut() else { return false };
        while let Some(ended) = set.try_join_next() {
            if let Err(error) = ended
                && error.is_panic()
            {
                tracing::error!(%error, "a background task panicked");
            }
        }
        set.spawn_on(task, &self.runtime);
        true
    }

    /// Ends all tasks, now and for good.
    pub(crate) fn shut_down(&self) {
        let set = self.set.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Outside the lock: what a task drops may want to start another.
        drop(set);
    }

    /// How many tasks have not ended.
    pub(crate) fn running(&self) -> usize {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(set) = set.as_mut() else { return 0 };
        while set.try_join_next().is_some() {}
        set.len()
    }
}
