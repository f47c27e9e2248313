//! One run: a cluster of its own, a gateway, a client, the load, and what happens.

use std::sync::Arc;

use anyhow::Context as _;
use examples::transport::Transport;
use tokio::task::JoinSet;

use crate::{
    book::AddressBook,
    client::{Client, Meter, PlainClient, PoolClient, Surroundings},
    clock::RunClock,
    cluster::Cluster,
    director::{Director, Phase, PhaseChange, in_service},
    gateway::Gateway,
    keys,
    kind::RunKind,
    load,
    outcome::Outcome,
    plan::Plan,
    progress::RunBar,
    schedule::Schedule,
    settings::Settings,
    watch::Watch,
};

/// What all runs have in common.
#[derive(Debug)]
pub struct Stage {
    /// The times.
    pub plan: Plan,
    /// Requests per second.
    pub rate: u32,
    /// Decides everything that is random.
    pub seed: u64,
    /// The pools' configuration.
    pub settings: Settings,
}

impl Stage {
    /// Does one run from an empty stage to an empty stage.
    ///
    /// # Errors
    ///
    /// When a socket can't be opened or the client can't be started.
    pub async fn run(&self, kind: RunKind, bar: &RunBar) -> anyhow::Result<Outcome> {
        let clock = Arc::new(RunClock::new());
        let cluster = Cluster::start(self.plan.hosts(), self.seed, Arc::clone(&clock));
        let cluster = Arc::new(cluster.await.context("starting the cluster")?);
        let book = Arc::new(AddressBook::new(keys::even(self.plan.partitions)));
        let director = Arc::new(Director::new(Arc::clone(&cluster), Arc::clone(&book), Arc::clone(&clock)));
        director.publish_all();
        let gateway =
            Gateway::start(book, self.plan.gateway_answers).await.context("starting the gateway")?;

        let meter = Arc::new(Meter::new(Arc::clone(&cluster), Arc::clone(&clock)));
        let transport = Arc::new(Transport::watched(meter.clone()));
        let client = self.client(kind, &gateway, transport).await?;
        let schedule = Schedule::new(self.rate, self.plan.length(), self.seed);

        let first_maps = gateway.maps();
        clock.start();
        let watch = Watch::start(Arc::clone(&cluster), Arc::clone(&client), Arc::clone(&clock), bar.clone());
        let mut playing = JoinSet::new();
        if kind.disturbed() {
            let (director, script) = (Arc::clone(&director), self.plan.script());
            playing.spawn(async move { director.play(&script).await });
        }
        let samples = load::drive(&schedule, &clock, &client).await;
        while let Some(played) = playing.join_next().await {
            played.context("the script")??;
        }

        let phases = director.log();
        let in_service = in_service(cluster.hosts(), &phases);
        Ok(Outcome {
            kind,
            hosts: cluster.hosts().to_vec(),
            spread: last_known(&phases).and_then(|since| cluster.ledger().spread_after(since, &in_service)),
            phases,
            samples,
            views: watch.finish(),
            bad_attempts: meter.bad_attempts(),
            attempts: meter.attempts(),
            probes: meter.probes(),
            served: cluster.ledger().counts(),
            gateway_answers: gateway.answered(),
            maps_fetched: gateway.maps() - first_maps,
            counters: client.counters(),
        })
    }

    async fn client(
        &self,
        kind: RunKind,
        gateway: &Gateway,
        transport: Arc<Transport>,
    ) -> anyhow::Result<Arc<dyn Client>> {
        let around = Surroundings {
            gateway: gateway.address(),
            attempt_timeout: self.plan.attempt_timeout,
            seed: self.seed,
            transport,
        };
        match kind {
            RunKind::Quiet | RunKind::Plain => Ok(Arc::new(PlainClient::start(around).await?)),
            RunKind::Static | RunKind::Canary => {
                Ok(Arc::new(PoolClient::start(around, self.settings.of(kind)?).await?))
            }
        }
    }
}

/// When the gateway knew the last new address.
fn last_known(phases: &[PhaseChange]) -> Option<u64> {
    phases.iter().filter(|change| change.phase == Phase::Up).map(|change| change.at).max()
}
