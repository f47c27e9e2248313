//! Every future of the pool, dropped at each point at which it can wait: nothing of it is left behind, and others
//! who wait for the same thing still get it.

mod calls;
mod partitioned;
mod questions;
mod shutdown;

use std::{
    future::{Future, poll_fn},
    sync::Arc,
    task::Poll,
};

use breaker_core::{Circuit, Settlement};
use futures::{FutureExt, future::BoxFuture};
use replica_pool::{CallError, Diagnostics, HealthStatus, Verdict};
use tokio::{
    runtime::Handle,
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::kit::{Addr, Bench, Remote, Trouble, judge, secs, settle};

/// How often a future is polled before it is dropped, and when that is.
#[derive(Clone, Copy, Debug)]
struct Cut {
    polls: u32,
    moment: Moment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// As soon as it waits.
    WhenItWaits,
    /// When it was woken: with whatever it waited for in its hands.
    WhenItIsWoken,
}

impl Cut {
    /// What `future` brings; `None` when it was dropped before.
    async fn short<F: Future>(self, future: F) -> Option<F::Output> {
        let (mut future, mut left) = (Box::pin(future), self.polls);
        let output = poll_fn(|cx| {
            if left == 0 {
                return Poll::Ready(None);
            }
            left -= 1;
            match future.as_mut().poll(cx) {
                Poll::Ready(output) => Poll::Ready(Some(output)),
                Poll::Pending if left == 0 && self.moment == Moment::WhenItWaits => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        })
        .await;
        let before = tasks();
        drop(future);
        // An attempt that was left waiting for too long is a failure, of which the gateway is asked.
        assert!(tasks() <= before + 1, "{self:?}: dropping it starts {} tasks", tasks() - before);
        output
    }
}

/// Plays `case` with every cut, until its future completes. It waits at `points` points at least.
async fn at_every_await(points: u32, case: impl AsyncFn(Cut) -> bool) {
    for moment in [Moment::WhenItWaits, Moment::WhenItIsWoken] {
        let mut polls = 0;
        let play = async |polls| {
            let ended = timeout(secs(3_600), case(Cut { polls, moment })).await;
            ended.unwrap_or_else(|_| panic!("somebody waits for good after {polls} polls"))
        };
        while !play(polls).await {
            polls += 1;
            assert!(polls < 100, "it never completes");
            // What was under way, such as a timer, is cut when the pool is dropped, and ends when its turn comes.
            settle().await;
            assert_eq!(tasks(), 0, "tasks are left after {polls} polls");
        }
        assert!(polls > points, "{polls} polls to the end");
    }
}

fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

type Answer = Result<Addr, CallError<Trouble>>;

/// An idempotent call that can be sent elsewhere.
fn call(bench: &Bench) -> BoxFuture<'static, Answer> {
    let (pool, body) = (bench.pool.clone(), bench.body());
    async move { pool.request().idempotent(true).judge(judge).call(body).await }.boxed()
}

/// The same, and what tells whether any of its attempts is at work: whoever is holds one more of it.
fn watched_call(bench: &Bench) -> (BoxFuture<'static, Answer>, Arc<()>) {
    let (pool, mut body, held) = (bench.pool.clone(), bench.body(), Arc::new(()));
    let mine = Arc::clone(&held);
    let body = move |attempt| {
        let (answer, held) = (body(attempt), Arc::clone(&held));
        async move {
            let answer = answer.await;
            drop(held);
            answer
        }
    };
    (async move { pool.request().idempotent(true).judge(judge).call(body).await }.boxed(), mine)
}

fn spawn_call(bench: &Bench) -> JoinHandle<Answer> {
    tokio::spawn(call(bench))
}

/// Half-open places of a circuit, all told. Settled results take places for good where the strategy counts in total.
#[derive(Clone, Copy, Debug)]
enum Places {
    InFlight(u32),
    InTotal(u32),
}

/// That a half-open circuit has all of its places.
fn all_places_are_free(bench: &Bench, places: Places) {
    for replica in bench.pool.replicas().replicas() {
        let breaker = replica.breaker();
        if breaker.state().circuit() != Circuit::HalfOpen {
            continue;
        }
        let expected = match places {
            Places::InFlight(places) => places,
            Places::InTotal(places) => places - breaker.snapshot().tally.calls,
        };
        let free: Vec<_> = std::iter::from_fn(|| breaker.acquire().ok()).take(100).collect();
        assert_eq!(free.len(), expected as usize, "places of {}", replica.address());
    }
}

/// That nobody is thought to wait for an answer. The settings have `suspectAfter`, and it has passed.
async fn nobody_waits(bench: &Bench) {
    let mut seen = Diagnostics::default();
    let request = bench.pool.request().idempotent(true).judge(judge).diagnostics(&mut seen);
    let _ = request.call(bench.body()).await;
    let list = seen.replica_status_list;
    for status in list.attempting.iter().chain(&list.ignoring) {
        let replica = bench.replica(bench.addresses().into_iter().find(|a| *a == status.replica).unwrap());
        let suspected =
            status.health == HealthStatus::Unhealthy && replica.health() != HealthStatus::Unhealthy;
        assert!(!suspected, "somebody is thought to wait for {}", status.replica);
    }
}

/// What must hold once a call was dropped somewhere, and those beside it have ended. `all` are whom the gateway names.
async fn nothing_is_left(bench: Bench, places: Places, all: &[Addr]) {
    // Attempts that were overtaken are kept in mind for as long as an attempt may take: a second here.
    sleep(secs(2)).await;
    all_places_are_free(&bench, places);
    bench.gateway.names(all);
    bench.gateway.takes(secs(0));
    bench.gateway.release();
    for address in all {
        bench.world.set(address, Remote::Well);
    }
    sleep(secs(2)).await;
    nobody_waits(&bench).await;
    bench.pool.refresh().await.unwrap();
    // No lock is held: everybody can be asked, and every result counts.
    bench.calls(20).await;
    for address in all {
        let lease = bench.begin_when_admitted(address).await;
        assert_eq!(lease.finish(&Verdict::SUCCESS), Settlement::Counted, "{address}");
    }
    sleep(secs(120)).await;
    assert_eq!(bench.pool.snapshot().background_tasks, 0);
    drop(bench);
    settle().await;
}

impl Bench {
    /// An attempt at `address`, as soon as its circuit admits one.
    async fn begin_when_admitted(&self, address: Addr) -> replica_pool::Lease<Addr> {
        let replica = self.replica(address);
        timeout(secs(10), replica.breaker().ready(sleep)).await.unwrap();
        self.begin(address)
    }
}
