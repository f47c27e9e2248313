//! Who attends to a circuit for as long as it lives, as a prober does.

use std::sync::{Arc, Weak};

use super::Breaker;

/// Is told, without a future for each circuit, that something has changed for those who wait for it.
pub trait Attendant: Send + Sync {
    /// The circuit has changed its state, or a half-open place came back.
    ///
    /// It is called on the thread of whoever used the breaker, outside the breaker's lock, so it should be quick, and
    /// must not panic. As with [`Breaker::changed`], what is due by time alone is told when an operation commits it.
    fn circuit_changed(self: Arc<Self>);

    /// What the circuit is called in events and logs if its breaker was built without a name. Asked for each time, so that
    /// no circuit has to keep one. Default: nothing.
    fn name(&self) -> Option<Arc<str>> {
        None
    }
}

impl Breaker {
    /// Makes `attendant` the one that is told of changes from now on, in the place of an earlier one. Attend first, then
    /// look: so nothing is missed.
    pub fn attend(&self, attendant: Weak<dyn Attendant>) {
        crate::sync::lock(&self.core).attendant = Some(attendant);
    }

    pub(super) fn attendant(&self) -> Option<Arc<dyn Attendant>> {
        let attendant = crate::sync::lock(&self.core).attendant.clone();
        attendant?.upgrade()
    }
}
