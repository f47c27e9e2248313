use std::future::Future;

use async_trait::async_trait;

/// A test request that shows whether a remote is well.
///
/// It should take the way that real calls take, over the same transport: a TCP connection does not prove that UDP
/// answers. It takes no permit of the breaker and leaves no entry in its window.
///
/// A function from a target to a future is a probe:
///
/// ```
/// use std::{net::SocketAddr, sync::Arc};
/// use breaker_canary::Probe;
///
/// let probe: Arc<dyn Probe<SocketAddr>> = Arc::new(|remote: SocketAddr| async move {
///     // … send a harmless request to the remote …
///     remote.port() != 0
/// });
/// ```
#[async_trait]
pub trait Probe<T>: Send + Sync {
    /// Whether `target` answered as it should.
    ///
    /// It is dropped when it takes longer than its circuit's plan allows, or when the circuit is no longer open; a
    /// dropped probe and one that panics are unhealthy.
    async fn probe(&self, target: &T) -> bool;
}

#[async_trait]
impl<T, F, R> Probe<T> for F
where
    T: Clone + Send + Sync,
    F: Fn(T) -> R + Send + Sync,
    R: Future<Output = bool> + Send,
{
    async fn probe(&self, target: &T) -> bool {
        self(target.clone()).await
    }
}
