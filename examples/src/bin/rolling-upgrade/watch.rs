//! Looks at the client every 50 ms: how it sees each replica, and how far the run is.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use breaker_core::Circuit;
use replica_pool::HealthStatus;
use tokio::task::AbortHandle;

use crate::{
    client::{Client, ReplicaView},
    clock::RunClock,
    cluster::{Cluster, HostId},
    progress::RunBar,
};

/// How often the watch looks.
pub const PERIOD: Duration = Duration::from_millis(50);

/// How the client saw one replica at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewSample {
    /// When, in microseconds.
    pub at: u64,
    /// Which replica.
    pub host: HostId,
    /// Its circuit.
    pub circuit: Circuit,
    /// Its health.
    pub health: HealthStatus,
}

/// The look-out of one run.
#[derive(Debug)]
pub struct Watch {
    seen: Arc<Mutex<Vec<ViewSample>>>,
    looking: AbortHandle,
}

impl Watch {
    /// Looks until [`Watch::finish`].
    pub fn start(cluster: Arc<Cluster>, client: Arc<dyn Client>, clock: Arc<RunClock>, bar: RunBar) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let looking = tokio::spawn(look(Arc::clone(&seen), cluster, client, clock, bar)).abort_handle();
        Self { seen, looking }
    }

    /// Everything seen, in order of time.
    pub fn finish(self) -> Vec<ViewSample> {
        self.looking.abort();
        std::mem::take(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn look(
    seen: Arc<Mutex<Vec<ViewSample>>>,
    cluster: Arc<Cluster>,
    client: Arc<dyn Client>,
    clock: Arc<RunClock>,
    bar: RunBar,
) {
    let mut tick = tokio::time::interval(PERIOD);
    loop {
        tick.tick().await;
        let at = clock.micros();
        bar.at(at);
        let samples = client.states().into_iter().filter_map(|view| sample(&cluster, view, at));
        seen.lock().unwrap_or_else(PoisonError::into_inner).extend(samples);
    }
}

/// The client knows addresses, the picture shows replicas.
fn sample(cluster: &Cluster, view: ReplicaView, at: u64) -> Option<ViewSample> {
    let (host, _) = cluster.truth().of(view.address)?;
    Some(ViewSample { at, host, circuit: view.circuit, health: view.health })
}
