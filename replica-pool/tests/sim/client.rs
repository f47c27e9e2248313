//! A client of the pool: calls, a few in a second, and now and then many at once.

use std::{sync::Arc, time::Duration};

use fastrand::Rng;
use replica_pool::{Diagnostics, ReplicaPool};
use tokio::{runtime::Handle, task::JoinSet, time::sleep};

use crate::{
    laws::{Ledger, Pool, now},
    settings::DEADLINE,
    wire::{self, Wire, judge},
};

/// One call in so many is made as often as that, all at once.
const BURSTS: u32 = 400;
const BURST: usize = 40;

/// What a client is to do.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) ledger: Ledger,
    pub(crate) end: Duration,
    pub(crate) rng: Rng,
}

pub(crate) fn pool(ledger: &Ledger) -> Pool {
    let wire = Wire(ledger.clone());
    ReplicaPool::builder(wire.clone())
        .config(ledger.settings().config())
        .probe(wire.clone())
        .connector(wire)
        .observer(Arc::new(ledger.clone()))
        .build()
        .unwrap()
}

pub(crate) async fn call(pool: Pool, ledger: Ledger) {
    let begun = ledger.begin(&pool);
    let mut seen = Diagnostics::default();
    let request = pool.request().idempotent(true).judge(judge).diagnostics(&mut seen);
    let answer = request.call(|attempt| wire::call(*attempt.address())).await;
    ledger.end(&begun, &pool, &answer, &seen);
}

fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

pub(crate) async fn play(part: Part) -> turmoil::Result {
    let Part { ledger, end, mut rng } = part;
    let own = tasks();
    let pool = pool(&ledger);
    let mut calls = JoinSet::new();
    let mut checked = Duration::ZERO;
    while now() < end {
        let together = if rng.u32(..BURSTS) == 0 { BURST } else { 1 };
        for _ in 0..together {
            calls.spawn(call(pool.clone(), ledger.clone()));
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
    sleep(DEADLINE + Duration::from_secs(5)).await;
    ledger.check_the_end(&pool);
    drop(pool);
    sleep(Duration::from_secs(1)).await;
    if tasks() != own {
        ledger.breaks("the pool ends within a second", format_args!("{} tasks are left", tasks() - own));
    }
    Ok(())
}
