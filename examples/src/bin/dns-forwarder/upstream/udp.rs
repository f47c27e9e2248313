//! The UDP ports from which one server is asked.
//!
//! A forger who can't see the traffic must guess the id and the port of a query. Both are random: 16 bits
//! of id, and one of [`COUNT`] ports that the operating system chose.

use std::{io, net::SocketAddr, sync::Arc};

use arc_swap::ArcSwap;
use rand::RngExt as _;

use super::port::Port;
use crate::message::{Answer, Query, Unanswered};

/// How many ports there are for each server.
pub(crate) const COUNT: usize = 256;

/// Ports bound for the traffic with one server.
#[derive(Debug)]
pub(crate) struct Ports {
    server: SocketAddr,
    ports: Box<[ArcSwap<Port>]>,
}

impl Ports {
    pub(super) fn to(server: SocketAddr) -> io::Result<Self> {
        let port = |_| Port::connect(server).map(ArcSwap::from_pointee);
        Ok(Self { server, ports: (0..COUNT).map(port).collect::<io::Result<_>>()? })
    }

    /// Sends the query from a random port under a random id, and waits for its answer.
    pub(super) async fn ask(&self, query: &Query) -> Result<Answer, Unanswered> {
        let message = self.pick()?.exchange(|id| query.with_id(id)).await?;
        Answer::to(query, message)
    }

    fn pick(&self) -> io::Result<Arc<Port>> {
        let place = &self.ports[rand::rng().random_range(..self.ports.len())];
        let port = place.load_full();
        if !port.is_worn() {
            return Ok(port);
        }
        let fresh = Arc::new(Port::connect(self.server)?);
        place.store(Arc::clone(&fresh));
        Ok(fresh)
    }
}
