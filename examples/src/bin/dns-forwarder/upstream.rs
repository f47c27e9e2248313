//! An upstream server: queries go to it over UDP or TCP, each under an id of its own.

mod port;
mod tcp;
mod udp;

use std::net::SocketAddr;

use arc_swap::ArcSwapOption;
use breaker_core::Outcome;

use crate::{
    message::{Answer, Query, Unanswered},
    report::Tally,
};
use udp::Ports;

/// How a query came and goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Udp,
    Tcp,
}

/// One server.
#[derive(Debug)]
pub(crate) struct Upstream {
    address: SocketAddr,
    /// Absent until they are needed, or while they can't be had.
    ports: ArcSwapOption<Ports>,
    pub(crate) tally: Tally,
}

impl Upstream {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, ports: ArcSwapOption::empty(), tally: Tally::default() }
    }

    /// Sends the query, and waits for the answer for as long as it is polled.
    pub(crate) async fn ask(&self, query: &Query, transport: Transport) -> Result<Answer, Unanswered> {
        let attempt = self.tally.attempt();
        let result = match transport {
            Transport::Udp => match self.ports() {
                Ok(ports) => ports.ask(query).await,
                Err(error) => Err(error.into()),
            },
            Transport::Tcp => tcp::ask(self.address, query).await,
        };
        attempt.end(if result.is_ok() { Outcome::Success } else { Outcome::Failure });
        result
    }

    /// Takes the ports from which it is asked, if that was not done.
    pub(crate) fn ports(&self) -> std::io::Result<std::sync::Arc<Ports>> {
        if let Some(ports) = self.ports.load_full() {
            return Ok(ports);
        }
        let ports = std::sync::Arc::new(Ports::to(self.address)?);
        self.ports.store(Some(ports.clone()));
        Ok(ports)
    }
}
