use async_trait::async_trait;

use super::{Gateway, GatewayError};

/// A list of addresses that never changes.
///
/// There is nothing to ask, so it is never refreshed, its replicas are never marked bad, and their circuits
/// alone order them: one stray time-out must not ban the first server of a list for a minute.
#[derive(Clone, Debug)]
pub struct FixedList<A>(Vec<A>);

impl<A> FixedList<A> {
    /// The list, in its order of preference.
    pub fn new(addresses: impl IntoIterator<Item = A>) -> Self {
        Self(addresses.into_iter().collect())
    }
}

#[async_trait]
impl<A: Clone + Send + Sync + 'static, P: Sync> Gateway<A, P> for FixedList<A> {
    async fn addresses(&self, _: &P) -> Result<Vec<A>, GatewayError> {
        Ok(self.0.clone())
    }

    fn fixed(&self, _: &P) -> Option<Vec<A>> {
        Some(self.0.clone())
    }
}
