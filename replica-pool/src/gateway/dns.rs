use std::net::SocketAddr;

use async_trait::async_trait;

use super::{Gateway, GatewayError};

/// A host name that is looked up again whenever the pool refreshes, so that a service whose addresses all
/// change at once is found again. Uses the system's resolver.
#[derive(Clone, Debug)]
pub struct DnsName {
    host: String,
    port: u16,
}

impl DnsName {
    /// Every address of `host`, at `port`.
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self { host: host.into(), port }
    }
}

#[async_trait]
impl<P: Sync> Gateway<SocketAddr, P> for DnsName {
    async fn addresses(&self, _: &P) -> Result<Vec<SocketAddr>, GatewayError> {
        let found = tokio::net::lookup_host((self.host.as_str(), self.port)).await;
        Ok(found.map_err(GatewayError::failed)?.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn localhost_is_found_at_the_port() {
        let found = Gateway::<_, ()>::addresses(&DnsName::new("localhost", 4711), &()).await.unwrap();
        assert!(!found.is_empty());
        assert!(found.iter().all(|address| address.ip().is_loopback() && address.port() == 4711));
    }

    #[tokio::test]
    async fn a_name_that_cannot_be_is_a_failure_and_not_an_empty_set() {
        let error =
            Gateway::<_, ()>::addresses(&DnsName::new("no host has blanks", 1), &()).await.unwrap_err();
        assert!(matches!(error, GatewayError::Failed(_)), "{error}");
    }
}
