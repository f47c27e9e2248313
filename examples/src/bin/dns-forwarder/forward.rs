//! From a client's query to the answer for it.

use std::{
    collections::HashMap,
    fmt,
    net::SocketAddr,
    sync::{Arc, LazyLock},
};

use arc_swap::ArcSwap;
use breaker_core::Event;
use replica_pool::{BuildError, FixedList, ReplicaPool};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    config::Settings,
    message::{Query, Unanswered},
    report::{Journal, Stats},
    upstream::{Transport, Upstream},
    verdict,
};

/// Answers queries by asking upstream servers.
#[derive(Debug)]
pub(crate) struct Forwarder {
    route: ArcSwap<Route>,
    places: Arc<Semaphore>,
    pub(crate) stats: Stats,
}

impl Forwarder {
    /// One that has at most `most` queries in flight.
    pub(crate) fn new(route: Route, most: usize) -> Self {
        Self {
            route: ArcSwap::from_pointee(route),
            places: Arc::new(Semaphore::new(most)),
            stats: Stats::default(),
        }
    }

    /// A place for a query, if there is one.
    pub(crate) fn admit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// The answer to `query`, as it goes to the client. When nobody has one, that is `SERVFAIL`.
    pub(crate) async fn answer(&self, query: &Query, transport: Transport) -> Vec<u8> {
        let begun = self.stats.begin();
        let route = self.route.load_full();
        let request = route.pool(transport).request().idempotent(true).judge(verdict::on);
        let result = request.call(|attempt| route.ask(*attempt.address(), query, transport)).await;
        match result {
            Ok(answer) => {
                self.stats.answered(begun);
                answer.under(query.id())
            }
            Err(_) => {
                self.stats.unanswered();
                query.servfail()
            }
        }
    }

    /// Queries go this way from now on; those under way stay on theirs.
    pub(crate) fn reroute(&self, route: Route) {
        self.route.store(Arc::new(route));
    }

    pub(crate) fn route(&self) -> Arc<Route> {
        self.route.load_full()
    }
}

type Servers = Arc<HashMap<SocketAddr, Arc<Upstream>>>;

/// The upstream servers, with a pool for each transport: a server that does not speak TCP may be a good one.
pub(crate) struct Route {
    pub(crate) settings: Settings,
    servers: Servers,
    udp: ReplicaPool<SocketAddr>,
    tcp: ReplicaPool<SocketAddr>,
}

impl Route {
    /// The way that `settings` describe. What there is of the servers that were on the one `before` is kept.
    pub(crate) fn new(
        settings: Settings,
        before: Option<&Self>,
        journal: &Arc<Journal>,
    ) -> Result<Self, BuildError> {
        let known = |address| before.and_then(|before| before.servers.get(address)).cloned();
        let servers = settings.servers.iter().map(|address| {
            let server = known(address).unwrap_or_else(|| Arc::new(Upstream::new(*address)));
            (*address, server)
        });
        let servers: Servers = Arc::new(servers.collect());
        for (address, server) in &*servers {
            if let Err(error) = server.bind() {
                journal.note(format_args!("no way to {address} for now: {error}"));
            }
        }
        let pool = |transport| pool(&settings, &servers, transport, journal);
        let (udp, tcp) = (pool(Transport::Udp)?, pool(Transport::Tcp)?);
        Ok(Self { settings, servers, udp, tcp })
    }

    pub(crate) fn pool(&self, transport: Transport) -> &ReplicaPool<SocketAddr> {
        match transport {
            Transport::Udp => &self.udp,
            Transport::Tcp => &self.tcp,
        }
    }

    /// The servers in their order.
    pub(crate) fn servers(&self) -> impl Iterator<Item = (SocketAddr, &Arc<Upstream>)> {
        self.settings.servers.iter().filter_map(|address| Some((*address, self.servers.get(address)?)))
    }

    async fn ask(
        &self,
        address: SocketAddr,
        query: &Query,
        transport: Transport,
    ) -> Result<crate::message::Answer, Unanswered> {
        let Some(server) = self.servers.get(&address) else {
            return Err(Unanswered::Network(std::io::ErrorKind::AddrNotAvailable.into()));
        };
        let attempt = server.tally.begin();
        let result = server.ask(query, transport).await;
        attempt.end(result.is_ok());
        result
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Route").field("settings", &self.settings).finish_non_exhaustive()
    }
}

fn pool(
    settings: &Settings,
    servers: &Servers,
    transport: Transport,
    journal: &Arc<Journal>,
) -> Result<ReplicaPool<SocketAddr>, BuildError> {
    let (servers, journal) = (Arc::clone(servers), Arc::clone(journal));
    ReplicaPool::builder(FixedList::new(settings.servers.iter().copied()))
        .strategy(settings.breaker.clone())
        .pool_config(settings.pool.clone())
        .probe(move |address| is_well(Arc::clone(&servers), address, transport))
        .observer(Arc::new(move |event: &Event| journal.event(event, transport)))
        .build()
}

/// The canary: a query that every resolver can answer, over the transport that real ones take. Any answer will do, as it
/// does for those.
async fn is_well(servers: Servers, address: SocketAddr, transport: Transport) -> bool {
    /// The name servers of the root.
    static CANARY: LazyLock<Option<Query>> =
        LazyLock::new(|| Query::parse(&[0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1]).ok());
    match (servers.get(&address), &*CANARY) {
        (Some(server), Some(query)) => server.ask(query, transport).await.is_ok(),
        _ => false,
    }
}
