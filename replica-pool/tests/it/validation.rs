//! Section 8 of the rules: connections that are opened to find out whether a replica is there.

use std::{
    sync::{Arc, Mutex, Weak},
    thread::available_parallelism,
};

use async_trait::async_trait;
use replica_pool::{Connector, HealthStatus, ReplicaPool, Verdict, config::Config};
use tokio::{
    sync::oneshot,
    time::{advance, sleep},
};

use crate::kit::{Addr, Answer, Bench, Registry, Remote, millis, secs, settle};

const VALIDATING: &str = r#"{ "replicaPool": { "order": "listed", "validation": { "enabled": true } } }"#;
const PATIENT: &str = r#"{ "replicaPool": { "order": "listed", "validation": { "enabled": true }, "attemptTimeout": "PT10M" } }"#;
const OFF: &str = r#"{ "replicaPool": { "order": "listed" } }"#;

#[tokio::test(start_paused = true)]
async fn only_what_failed_and_was_named_again_is_opened() {
    let bench = Bench::new(&["R1", "R2", "R3", "R4"], VALIDATING).await;
    bench.call().await.unwrap();
    bench.mark("R2");
    bench.mark("R4");
    bench.gateway.names(&["R1", "R2", "R3"]);
    settle().await;
    assert_eq!(bench.health("R1"), HealthStatus::Connected);
    assert_eq!(bench.health("R3"), HealthStatus::Unknown);
    assert_eq!(bench.world.opened(), ["R2"], "R4 left");
    assert_eq!(bench.health("R2"), HealthStatus::Connected);
    bench.pool.refresh().await.unwrap();
    settle().await;
    assert_eq!(bench.world.opened().len(), 1, "an answer alone is no reason");
}

#[tokio::test(start_paused = true)]
async fn it_is_off_unless_it_is_on() {
    let bench = Bench::new(&["R1", "R2"], OFF).await;
    bench.mark("R1");
    settle().await;
    assert_eq!(bench.health("R1"), HealthStatus::Unknown);
    assert!(bench.world.opened().is_empty());
    assert!(!bench.pool.snapshot().validation_enabled);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_are_opened_no_more_at_a_time_than_there_are_cores() {
    let names: Vec<Addr> = (0..1_000).map(|i| &*Box::leak(format!("R{i}").into_boxed_str())).collect();
    let bench = Bench::new(&names, VALIDATING).await;
    bench.gateway.hold();
    for lease in bench.pool.select(1_000).iter().map(|candidate| candidate.begin().unwrap()) {
        bench.world.set(lease.replica().address(), Remote::Slow(millis(10)));
        lease.finish(&Verdict::UNREACHABLE);
    }
    settle().await;
    bench.gateway.answer(Answer::Names(names.clone()));
    bench.gateway.release();
    while bench.pool.replicas().replicas().iter().any(|r| r.health() != HealthStatus::Connected) {
        sleep(millis(10)).await;
    }
    let cores = available_parallelism().unwrap().get();
    assert_eq!((bench.world.opened().len(), bench.world.most_opening()), (1_000, cores));
}

#[tokio::test(start_paused = true)]
async fn one_that_can_not_be_opened_is_unhealthy_and_asked_about_again() {
    let bench = Bench::new(&["R1", "R2"], VALIDATING).await;
    bench.world.set("R1", Remote::Refuses);
    bench.mark("R1");
    settle().await;
    assert_eq!((bench.world.opened(), bench.health("R1")), (vec!["R1"], HealthStatus::Unhealthy));
    bench.world.set("R1", Remote::Well);
    sleep(secs(2)).await;
    assert_eq!(bench.gateway.asked(), 3, "at the start, for the mark, and for the validation");
    assert_eq!((bench.world.opened().len(), bench.health("R1")), (2, HealthStatus::Connected));
}

#[tokio::test(start_paused = true)]
async fn an_opening_that_hangs_is_given_up_after_the_time_of_an_attempt() {
    let bench = Bench::new(&["R1", "R2"], VALIDATING).await;
    bench.world.set("R1", Remote::Hangs);
    bench.mark("R1");
    bench.gateway.answer(Answer::Names(vec!["R1", "R2"]));
    sleep(millis(4_990)).await;
    assert_eq!(bench.health("R1"), HealthStatus::UnhealthyPending);
    bench.gateway.answer(Answer::Hangs);
    sleep(millis(20)).await;
    assert_eq!(bench.health("R1"), HealthStatus::Unhealthy);
}

#[tokio::test(start_paused = true)]
async fn a_connector_that_panics_hurts_nobody_and_is_asked_again() {
    let bench = Bench::new(&["R1", "R2", "R3"], VALIDATING).await;
    bench.world.set("R1", Remote::Panics);
    bench.world.set("R2", Remote::Panics);
    bench.mark("R1");
    bench.mark("R2");
    settle().await;
    assert_eq!([bench.health("R1"), bench.health("R2")], [HealthStatus::Unhealthy; 2]);
    bench.world.set("R1", Remote::Well);
    bench.world.set("R2", Remote::Well);
    sleep(secs(2)).await;
    assert_eq!([bench.health("R1"), bench.health("R2")], [HealthStatus::Connected; 2]);
}

#[tokio::test(start_paused = true)]
async fn look_ups_and_calls_do_not_wait_for_it() {
    let bench = Bench::new(&["R1", "R2"], PATIENT).await;
    bench.world.set("R1", Remote::Hangs);
    bench.mark("R1");
    settle().await;
    let elapsed = crate::kit::stopwatch();
    assert_eq!(bench.order(), ["R2", "R1"]);
    assert_eq!(bench.call().await.unwrap(), "R2");
    assert_eq!(elapsed(), secs(0));
    assert_eq!(bench.health("R1"), HealthStatus::UnhealthyPending);
}

#[tokio::test(start_paused = true)]
async fn a_failing_validation_does_not_undo_a_success_that_came_first() {
    let bench = Bench::new(&["R1", "R2"], VALIDATING).await;
    bench.world.set("R1", Remote::Hangs);
    bench.mark("R1");
    settle().await;
    assert_eq!(bench.health("R1"), HealthStatus::UnhealthyPending);
    bench.begin("R1").finish(&Verdict::SUCCESS);
    assert_eq!(bench.health("R1"), HealthStatus::Connected);
    sleep(secs(30)).await;
    assert_eq!(bench.world.opened(), ["R1"], "it was given up after 5 s");
    assert_eq!(bench.health("R1"), HealthStatus::Connected);
    assert_eq!(bench.gateway.asked(), 2, "and asked nothing");
}

#[tokio::test(start_paused = true)]
async fn a_validation_that_succeeds_after_a_call_did_changes_nothing() {
    let bench = Bench::new(&["R1", "R2"], VALIDATING).await;
    bench.world.set("R1", Remote::Slow(secs(2)));
    bench.mark("R1");
    settle().await;
    bench.begin("R1").finish(&Verdict::SUCCESS);
    sleep(secs(3)).await;
    assert_eq!(bench.health("R1"), HealthStatus::Connected);
}

#[tokio::test(start_paused = true)]
async fn a_validation_of_before_a_mark_does_not_lift_it() {
    let bench = Bench::new(&["R1", "R2"], VALIDATING).await;
    bench.world.set("R1", Remote::Slow(secs(2)));
    bench.mark("R1");
    settle().await;
    bench.gateway.answer(Answer::Hangs);
    bench.mark("R1");
    sleep(secs(3)).await;
    assert_eq!(bench.world.opened(), ["R1"]);
    assert_eq!(bench.health("R1"), HealthStatus::Unhealthy);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_is_pending_again_while_it_is_opened_is_opened_again() {
    let bench = Bench::new(&["R1", "R2"], VALIDATING).await;
    bench.world.set("R1", Remote::Hangs);
    bench.mark("R1");
    settle().await;
    bench.mark("R1");
    sleep(secs(2)).await;
    assert_eq!(bench.gateway.asked(), 3);
    assert_eq!((bench.health("R1"), bench.world.opened().len()), (HealthStatus::UnhealthyPending, 1));
    bench.world.set("R1", Remote::Well);
    sleep(secs(4)).await;
    assert_eq!(bench.world.opened(), ["R1", "R1"], "once the first was given up");
    assert_eq!(bench.health("R1"), HealthStatus::Connected);
}

#[tokio::test(start_paused = true)]
async fn warming_up_opens_those_of_unknown_health_and_tells_how_many_it_could() {
    let bench = Bench::new(&["R1", "R2", "R3", "R4"], OFF).await;
    bench.gateway.hold();
    bench.call().await.unwrap();
    bench.mark("R2");
    bench.world.set("R3", Remote::Refuses);
    assert_eq!(bench.pool.warm_up().await, 1);
    assert_eq!(bench.world.opened(), ["R3", "R4"]);
    let healths = ["R1", "R2", "R3", "R4"].map(|address| bench.health(address));
    use HealthStatus::{Connected, Unhealthy};
    assert_eq!(healths, [Connected, Unhealthy, Unhealthy, Connected]);
    assert_eq!(bench.pool.warm_up().await, 0);
}

#[tokio::test(start_paused = true)]
async fn two_who_warm_up_open_each_replica_once() {
    let bench = Bench::new(&["R1", "R2"], OFF).await;
    for slow in ["R1", "R2"] {
        bench.world.set(slow, Remote::Slow(secs(1)));
    }
    let (first, second) = futures::join!(bench.pool.warm_up(), bench.pool.warm_up());
    assert_eq!((first + second, bench.world.opened().len()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_warm_up_that_is_dropped_can_be_begun_again() {
    let bench = Bench::new(&["R1"], OFF).await;
    bench.world.set("R1", Remote::Hangs);
    tokio::time::timeout(secs(1), bench.pool.warm_up()).await.unwrap_err();
    assert_eq!(bench.health("R1"), HealthStatus::Unknown);
    bench.world.set("R1", Remote::Well);
    assert_eq!(bench.pool.warm_up().await, 1);
}

/// A connection that its owner can watch.
#[derive(Debug)]
struct Line(usize);

/// Opens lines, each when it is told to.
#[derive(Clone, Debug, Default)]
struct Exchange(Arc<Mutex<Vec<oneshot::Sender<Line>>>>);

impl Exchange {
    async fn open(&self, number: usize) {
        settle().await;
        let waiting = self.0.lock().unwrap().remove(0);
        waiting.send(Line(number)).unwrap();
        settle().await;
    }
}

#[async_trait]
impl Connector<Addr, Line> for Exchange {
    async fn connect(&self, _: &Addr) -> Result<Line, Box<dyn std::error::Error + Send + Sync>> {
        let (sender, line) = oneshot::channel();
        self.0.lock().unwrap().push(sender);
        Ok(line.await?)
    }
}

struct Lines {
    gateway: Registry,
    exchange: Exchange,
    pool: ReplicaPool<Addr, Line>,
}

impl Lines {
    async fn new(settings: &str) -> Self {
        let (gateway, exchange) = (Registry::naming(&["R1"]), Exchange::default());
        let pool = ReplicaPool::builder(gateway.clone())
            .config(Config::from_text("test.json", settings).unwrap())
            .connector(exchange.clone())
            .build()
            .unwrap();
        pool.ready().await.unwrap();
        Self { gateway, exchange, pool }
    }

    fn mark(&self) {
        self.pool.select(1)[0].begin().unwrap().finish(&Verdict::UNREACHABLE);
    }

    fn line(&self) -> Option<usize> {
        self.pool.replicas().replicas()[0].handle().map(|line| line.0)
    }

    /// The line that an attempt gets.
    async fn call(&self) -> Option<usize> {
        let call = self
            .pool
            .call(|attempt| async move { Ok::<_, std::io::Error>(attempt.handle().map(|line| line.0)) });
        call.await.unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_connector_opens_is_kept_given_to_attempts_and_dropped_with_a_mark() {
    let lines = Lines::new(VALIDATING).await;
    assert_eq!(lines.call().await, None);
    lines.mark();
    lines.exchange.open(1).await;
    assert_eq!(lines.call().await, Some(1));
    let line: Weak<Line> = Arc::downgrade(&lines.pool.replicas().replicas()[0].handle().unwrap());
    lines.gateway.hold();
    lines.mark();
    assert!(line.upgrade().is_none(), "nobody holds it any more");
    assert_eq!(lines.call().await, None);
}

#[tokio::test(start_paused = true)]
async fn what_a_connector_opens_too_late_is_not_kept() {
    let lines = Lines::new(VALIDATING).await;
    lines.mark();
    settle().await;
    lines.gateway.hold();
    lines.mark();
    lines.exchange.open(1).await;
    assert_eq!(lines.line(), None);
    assert_eq!(lines.pool.replicas().replicas()[0].health(), HealthStatus::Unhealthy);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_leaves_keeps_no_connection() {
    let lines = Lines::new(OFF).await;
    let warm_up = async { lines.pool.warm_up().await };
    let (opened, ()) = futures::join!(warm_up, lines.exchange.open(1));
    assert_eq!((opened, lines.line()), (1, Some(1)));
    let left = Arc::clone(&lines.pool.replicas().replicas()[0]);
    lines.gateway.names(&["R2"]);
    lines.pool.refresh().await.unwrap();
    assert!(left.handle().is_none());
    advance(secs(1)).await;
    lines.gateway.names(&["R1"]);
    lines.pool.refresh().await.unwrap();
    assert!(Arc::ptr_eq(&left, &lines.pool.replicas().replicas()[0]));
    assert_eq!(lines.line(), None);
}

/// As many replicas as there are cores take a connection and never answer; one more waits for its turn to be opened.
async fn with_one_too_many() -> (Bench, Addr) {
    let cores = available_parallelism().unwrap().get();
    let names: Vec<Addr> = (0..=cores).map(|i| &*Box::leak(format!("R{i}").into_boxed_str())).collect();
    let bench = Bench::new(&names, VALIDATING).await;
    for name in &names[..cores] {
        bench.world.set(name, Remote::Hangs);
    }
    (bench, names[cores])
}

/// It finds that its replica was marked and named again.
#[tokio::test(start_paused = true)]
async fn a_replica_that_is_pending_when_its_warm_up_comes_to_it_is_validated() {
    let (bench, last) = with_one_too_many().await;
    let warm_up = bench.pool.warm_up();
    tokio::pin!(warm_up);
    assert!(futures::poll!(&mut warm_up).is_pending());
    bench.mark(last);
    settle().await;
    assert_eq!(bench.health(last), HealthStatus::UnhealthyPending);
    assert!(!bench.world.opened().contains(&last));
    assert_eq!(warm_up.await, 0);
    settle().await;
    assert_eq!(bench.health(last), HealthStatus::Connected);
    assert_eq!(bench.world.opened().iter().filter(|opened| **opened == last).count(), 1);
}

/// Or it was given up while it waited.
#[tokio::test(start_paused = true)]
async fn a_replica_that_is_pending_when_its_warm_up_is_dropped_is_validated() {
    let (bench, last) = with_one_too_many().await;
    let mut warm_up = Box::pin(bench.pool.warm_up());
    assert!(futures::poll!(&mut warm_up).is_pending());
    bench.mark(last);
    settle().await;
    drop(warm_up);
    settle().await;
    assert_eq!(bench.health(last), HealthStatus::Connected);
}
