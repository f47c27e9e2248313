use std::{fmt, sync::Arc, time::Duration};

use breaker_core::Timestamp;

use crate::{Address, Replica};

/// One attempt of a call, owned by the call's body: whom to ask, by what, and for how long.
pub struct Attempt<A, H = ()> {
    replica: Arc<Replica<A, H>>,
    number: u32,
    /// When the attempt is cut off.
    until: Timestamp,
}

impl<A: Address, H> Attempt<A, H> {
    pub(crate) fn new(replica: Arc<Replica<A, H>>, number: u32, until: Timestamp) -> Self {
        Self { replica, number, until }
    }

    /// Whom to ask.
    pub fn address(&self) -> &A {
        self.replica.address()
    }

    /// What a connector opened to the replica, if anything.
    pub fn handle(&self) -> Option<Arc<H>> {
        self.replica.handle()
    }

    /// The replica.
    pub fn replica(&self) -> &Arc<Replica<A, H>> {
        &self.replica
    }

    /// 1 for the first attempt of a call.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The time until the attempt is cut off, by `attemptTimeout` or by the call's deadline.
    pub fn time_left(&self) -> Duration {
        self.until.since(self.replica.breaker().clock().now())
    }
}

impl<A: fmt::Debug, H> fmt::Debug for Attempt<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("replica", &self.replica)
            .field("number", &self.number)
            .field("until", &self.until)
            .finish()
    }
}
