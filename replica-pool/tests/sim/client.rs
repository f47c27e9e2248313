//! A client of a pool: calls, a few in a second, and now and then many at once.

use std::{future::Future, sync::Arc, time::Duration};

use fastrand::Rng;
use replica_pool::{Diagnostics, PartitionedPool, PoolBuilder, ReplicaPool};
use tokio::{runtime::Handle, task::JoinSet, time::sleep};

use crate::{
    laws::{Answer, Ledger, now},
    store::{KEYS, PartId},
    truth::Node,
    wire::{self, Trouble, Wire, judge},
};

/// One call in so many is made as often as that, all at once, and so is the first one after a change.
const BURSTS: u32 = 400;
const BURST: usize = 40;

pub(crate) type Whole = ReplicaPool<Node>;
pub(crate) type Divided = PartitionedPool<u8, PartId, Node>;

/// A pool that a client uses.
pub(crate) trait Pooled: Clone + Send + 'static {
    fn build(ledger: &Ledger) -> Self;

    /// The partitions in use.
    fn parts(&self) -> Vec<(PartId, Whole)>;

    /// A call for `key`.
    fn call(self, ledger: Ledger, key: u8) -> impl Future<Output = ()> + Send;

    /// What else must hold at the end.
    fn check_the_end(&self, _: &Ledger) {}
}

/// The settings of the world, and its wire for whatever goes over one.
fn furnished<S>(builder: PoolBuilder<Node, (), S>, ledger: &Ledger) -> PoolBuilder<Node, (), S> {
    let wire = Wire(ledger.clone());
    builder
        .config(ledger.settings().config())
        .probe(wire.clone())
        .connector(wire)
        .observer(Arc::new(ledger.clone()))
}

impl Pooled for Whole {
    fn build(ledger: &Ledger) -> Self {
        furnished(Self::builder(Wire(ledger.clone())), ledger).build().unwrap()
    }

    fn parts(&self) -> Vec<(PartId, Whole)> {
        vec![(PartId::WHOLE, self.clone())]
    }

    async fn call(self, ledger: Ledger, _: u8) {
        let begun = ledger.begin(&self);
        let mut seen = Diagnostics::default();
        let request = self.request().idempotent(true).judge(judge).diagnostics(&mut seen);
        let answer = request.call(|attempt| wire::call(*attempt.address(), PartId::WHOLE)).await;
        ledger.end(&begun, &self, &answer, &seen);
    }
}

impl Pooled for Divided {
    fn build(ledger: &Ledger) -> Self {
        furnished(Self::builder(Wire(ledger.clone())), ledger).build().unwrap()
    }

    fn parts(&self) -> Vec<(PartId, Whole)> {
        self.used()
    }

    async fn call(self, ledger: Ledger, key: u8) {
        let begun = ledger.begin_routed(&self, key);
        let mut seen = Diagnostics::default();
        let answer = routed(&self, key, &mut seen).await;
        ledger.end_routed(&begun, &self, &answer, &seen);
    }

    fn check_the_end(&self, ledger: &Ledger) {
        ledger.check_the_map(self);
    }
}

/// A call for `key`. It says which partition it is meant for, as far as its sender knows.
pub(crate) async fn routed(pool: &Divided, key: u8, seen: &mut Diagnostics) -> Answer {
    let body = |attempt: replica_pool::Attempt<Node>| {
        let part = pool.routing_map().map(|map| *map.partition(&key));
        async move {
            match part {
                Some(part) => wire::call(*attempt.address(), part).await,
                None => Err(Trouble::Overloaded),
            }
        }
    };
    pool.request(&key).idempotent(true).judge(judge).diagnostics(seen).call(body).await
}

/// What a client is to do.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) ledger: Ledger,
    pub(crate) end: Duration,
    pub(crate) rng: Rng,
}

fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

pub(crate) async fn play<P: Pooled>(part: Part) -> turmoil::Result {
    let Part { ledger, end, mut rng } = part;
    let own = tasks();
    let pool = P::build(&ledger);
    let mut calls = JoinSet::new();
    let (mut checked, mut changes) = (Duration::ZERO, 0);
    while now() < end {
        let before = std::mem::replace(&mut changes, ledger.truth.lock().changes());
        let together = if before != changes || rng.u32(..BURSTS) == 0 { BURST } else { 1 };
        for _ in 0..together {
            calls.spawn(pool.clone().call(ledger.clone(), rng.u8(..KEYS)));
        }
        while let Some(ended) = calls.try_join_next() {
            ended?;
        }
        sleep(Duration::from_millis(rng.u64(100..400))).await;
        if now() >= checked + Duration::from_secs(1) {
            checked = now();
            ledger.check(&pool);
        }
    }
    while let Some(ended) = calls.join_next().await {
        ended?;
    }
    // Attempts that were overtaken may be kept in mind, and a question may be under way.
    sleep(ledger.settings().deadline + Duration::from_secs(5)).await;
    ledger.check_the_end(&pool);
    pool.check_the_end(&ledger);
    drop(pool);
    sleep(Duration::from_secs(1)).await;
    if tasks() != own {
        ledger.breaks("the pool ends within a second", format_args!("{} tasks are left", tasks() - own));
    }
    Ok(())
}
