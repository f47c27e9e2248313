//! An upstream server: queries go to it over UDP or TCP, each under a random id of its own.

mod port;
mod tcp;
mod udp;

use std::{io, net::SocketAddr, sync::Arc};

use arc_swap::ArcSwapOption;

use crate::{
    message::{Answer, Query, Unanswered},
    report::Tally,
};
use udp::Ports;

/// How a query came, and how it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Udp,
    Tcp,
}

impl Transport {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
        }
    }
}

/// One server.
#[derive(Debug)]
pub(crate) struct Upstream {
    address: SocketAddr,
    /// Absent until they are needed, and while they can't be had.
    ports: ArcSwapOption<Ports>,
    pub(crate) tally: Tally,
}

impl Upstream {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, ports: ArcSwapOption::empty(), tally: Tally::default() }
    }

    /// Sends the query and waits for the answer, without end. Cancel safe.
    pub(crate) async fn ask(&self, query: &Query, transport: Transport) -> Result<Answer, Unanswered> {
        match transport {
            Transport::Udp => self.ports()?.ask(query).await,
            Transport::Tcp => tcp::ask(self.address, query).await,
        }
    }

    /// Takes the ports from which it is asked over UDP, if that was not done.
    pub(crate) fn bind(&self) -> io::Result<()> {
        self.ports().map(|_| ())
    }

    fn ports(&self) -> io::Result<Arc<Ports>> {
        if let Some(ports) = self.ports.load_full() {
            return Ok(ports);
        }
        let ports = Arc::new(Ports::to(self.address)?);
        self.ports.store(Some(Arc::clone(&ports)));
        Ok(ports)
    }
}
