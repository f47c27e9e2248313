//! What a pool adds to a call: finding the partition, picking the best replica, settling the attempt.

use std::{
    future::Future,
    hint::black_box,
    io,
    pin::pin,
    task::{Context, Poll, Waker},
};

use async_trait::async_trait;
use divan::Bencher;
use replica_pool::{
    Gateway, GatewayError, KeyRange, PartitionGateway, PartitionedPool, ReplicaPool, RoutingMap, Verdict,
};
use tokio::runtime::{Builder, Runtime};

const REPLICAS: [u16; 3] = [4, 64, 1_000];
const RANGES: [u32; 3] = [4, 1_000, 100_000];

fn main() {
    divan::main();
}

/// So many replicas; or so many partitions, a thousand keys each.
struct Store {
    replicas: u16,
    partitions: u32,
}

#[async_trait]
impl<P: Sync> Gateway<u16, P> for Store {
    async fn addresses(&self, _: &P) -> Result<Vec<u16>, GatewayError> {
        Ok((0..self.replicas).collect())
    }
}

#[async_trait]
impl PartitionGateway<u32, u16, u32> for Store {
    async fn routing_map(&self) -> Result<RoutingMap<u32, u32>, GatewayError> {
        Ok(map(self.partitions))
    }
}

fn map(ranges: u32) -> RoutingMap<u32, u32> {
    let last = ranges - 1;
    let range = |number| {
        let from = (number > 0).then_some(number * 1_000);
        let to = (number < last).then_some((number + 1) * 1_000);
        (KeyRange::new(from, to), number)
    };
    RoutingMap::new(1, (0..=last).map(range)).expect("the ranges cover all keys")
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime can be built")
}

/// A pool whose replicas are all known to be well, with the usual settings.
fn healthy(runtime: &Runtime, replicas: u16) -> ReplicaPool<u16> {
    runtime.block_on(async {
        let pool = ReplicaPool::builder(Store { replicas, partitions: 1 }).build().expect("in a runtime");
        pool.ready().await.expect("the gateway answers");
        for _ in 0..20 {
            pool.select(usize::MAX).iter().for_each(|candidate| {
                candidate.begin().map(|lease| lease.finish(&Verdict::SUCCESS)).expect("it is closed");
            });
        }
        pool
    })
}

fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// A key to its partition, in a map of so many ranges.
#[divan::bench(args = RANGES)]
fn lookup(bencher: Bencher<'_, '_>, ranges: u32) {
    let (map, mut rng) = (map(ranges), fastrand::Rng::with_seed(7));
    bencher.bench_local(|| *black_box(&map).partition(&rng.u32(..ranges * 1_000)));
}

/// The best of so many, begun and settled.
#[divan::bench(args = REPLICAS, threads = [1, 2], sample_count = 20, sample_size = 2_000)]
fn pick(bencher: Bencher<'_, '_>, replicas: u16) {
    let runtime = runtime();
    let pool = healthy(&runtime, replicas);
    bencher.bench(|| {
        let lease = black_box(&pool).acquire().ok()?;
        Some(lease.finish(&Verdict::SUCCESS))
    });
}

/// The five best, in order.
#[divan::bench(args = REPLICAS)]
fn select_five(bencher: Bencher<'_, '_>, replicas: u16) {
    let runtime = runtime();
    let pool = healthy(&runtime, replicas);
    bencher.bench_local(|| pool.select(5));
}

/// A whole request whose answer is there at once.
#[divan::bench(args = REPLICAS)]
fn request(bencher: Bencher<'_, '_>, replicas: u16) {
    let runtime = runtime();
    let pool = healthy(&runtime, replicas);
    let _inside = runtime.enter();
    bencher.bench_local(|| poll_once(pool.request().call(|_| async { Ok::<_, io::Error>(black_box(7)) })));
}

/// The same, routed by its key to one of so many partitions of four replicas.
#[divan::bench(args = RANGES)]
fn routed_request(bencher: Bencher<'_, '_>, partitions: u32) {
    let (runtime, mut rng) = (runtime(), fastrand::Rng::with_seed(7));
    let used = partitions.min(1_000) * 1_000;
    let pool: PartitionedPool<u32, u32, u16> = runtime.block_on(async {
        let pool = PartitionedPool::builder(Store { replicas: 4, partitions }).build().expect("in a runtime");
        pool.ready().await.expect("the gateway answers");
        for key in (0..used).step_by(1_000) {
            let partition = pool.pool(&key).expect("there is a map");
            partition.ready().await.expect("the gateway answers");
        }
        pool
    });
    let _inside = runtime.enter();
    bencher.bench_local(|| {
        let key = rng.u32(..used);
        poll_once(pool.request(&key).call(|_| async { Ok::<_, io::Error>(black_box(7)) })).is_ready()
    });
}
