//! Who follows a partition, who does not, and who hears late that it is elsewhere.

use std::{future::ready, time::Duration};

use async_trait::async_trait;
use futures::future::join_all;
use replica_pool::{
    CallError, Gateway, GatewayError, Gone, PartitionGateway, PartitionedPool, RoutingMap, Verdict,
};
use tokio::time::sleep;

use super::{
    MS_200, split_low,
    store::{Bench, Id, No, Pool, Store, Truth, judge},
};
use crate::kit::{Addr, settle, stopwatch};

/// How a caller has one attempt that finds its partition gone.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Once {
    /// It may make no more attempts.
    Limited,
    /// It may have been sent, and may not be sent twice.
    Sent,
    /// It has a lease of its own.
    Leased,
    /// It keeps to the pool of one partition.
    Pooled,
}

/// A caller that does not follow its partition has found out all the same: the next one goes where that is.
#[tokio::test(start_paused = true)]
async fn who_does_not_follow_a_partition_has_the_next_one_know_better() {
    for once in [Once::Limited, Once::Sent, Once::Leased, Once::Pooled] {
        let most = if once == Once::Limited { r#""maxAttempts": 1"# } else { "" };
        let bench = Bench::new(&format!(r#"{{ "replicaPool": {{ {most} }} }}"#)).await;
        bench.call(1).await.unwrap();
        let maps = bench.asked().0;
        split_low(&bench);
        bench.gateway_takes(MS_200);
        let elapsed = stopwatch();
        match once {
            Once::Limited => assert_eq!(bench.unavailable(1).await.sub_status(), 21_002),
            Once::Sent => {
                let sent = |result: &Result<Addr, No>| judge(result).sent(true);
                bench.pool.request(&1).judge(sent).call(bench.body(1)).await.unwrap_err();
            }
            Once::Leased => {
                bench.pool.acquire(&1).unwrap().finish(&Verdict::PARTITION_GONE);
            }
            Once::Pooled => {
                let pool = bench.pool.pool(&1).unwrap();
                pool.request().judge(judge).call(bench.body(1)).await.unwrap_err();
            }
        }
        if once != Once::Pooled {
            assert_eq!(elapsed(), Duration::ZERO, "{once:?}: nobody waits for it");
        }
        sleep(Duration::from_secs(1)).await;
        assert_eq!(bench.asked().0, maps + 1, "{once:?}: the map is asked for in the background");
        bench.visits();
        assert!(["e", "f"].contains(&bench.call(1).await.unwrap()));
        assert_eq!(bench.visits().len(), 1, "{once:?}: straight to the new one");
    }
}

/// The same where it only migrates: its addresses are asked for too. And who hears of it late asks for nothing.
#[tokio::test(start_paused = true)]
async fn a_lease_that_finds_its_partition_on_the_move_asks_for_map_and_addresses() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    let (maps, addresses) = bench.asked();
    let [first, late] = [(); 2].map(|()| bench.pool.acquire(&1).unwrap());
    first.finish(&Verdict::MIGRATING);
    settle().await;
    assert_eq!(bench.asked(), (maps + 1, addresses + 1));
    split_low(&bench);
    bench.pool.refresh().await.unwrap();
    let (maps, addresses) = bench.asked();
    late.finish(&Verdict::MIGRATING);
    settle().await;
    assert_eq!(bench.asked(), (maps, addresses), "the partition of the lease is no more");
}

/// Be it that the newer map leads its key elsewhere, or only others.
#[tokio::test(start_paused = true)]
async fn who_finds_out_late_is_served_by_the_newer_map() {
    find_out_late(1, &["e", "f"]).await;
    find_out_late(100, &["c", "d"]).await;
}

async fn find_out_late(key: u32, served_by: &[Addr]) {
    let bench = Bench::new("{}").await;
    bench.call(key).await.unwrap();
    let (tell, told) = tokio::sync::oneshot::channel();
    let (mut told, serve) = (Some(told), bench.body(key));
    let late = bench.pool.request(&key).judge(judge).call(|attempt| {
        let (told, answer) = (told.take(), serve(attempt));
        async move {
            match told {
                Some(told) => told.await.unwrap(),
                None => answer.await,
            }
        }
    });
    tokio::pin!(late);
    assert!(futures::poll!(&mut late).is_pending());
    split_low(&bench);
    bench.call(1).await.unwrap();
    let (maps, _) = bench.asked();
    tell.send(Err(No::Gone(Gone::Splitting))).unwrap();
    assert!(served_by.contains(&late.await.unwrap()));
    assert_eq!(bench.asked().0, maps, "the map is newer than the one that led astray");
}

/// Two who find it splitting at once: one asks, the other joins.
#[tokio::test(start_paused = true)]
async fn who_joins_the_question_for_a_map_asks_no_other() {
    let bench = Bench::new(r#"{ "replicaPool": { "deadline": "PT0.5S" } }"#).await;
    bench.call(1).await.unwrap();
    bench.change(|truth| truth.says.extend([("a", Gone::Splitting), ("b", Gone::Splitting)]));
    bench.gateway_takes(MS_200);
    let (maps, _) = bench.asked();
    let both = join_all([bench.unavailable(1), bench.unavailable(1)]).await;
    assert!(both.iter().all(|error| error.sub_status() == 21_003), "{both:?}");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(bench.asked().0, maps + 1);
}

/// A map that has come is good, whatever became of the question after it.
#[tokio::test(start_paused = true)]
async fn who_waits_for_the_first_map_goes_by_it_although_the_next_question_failed() {
    let store = Store::default();
    *store.0.truth.lock().unwrap() = Truth {
        version: 1,
        starts: vec![(0, "all")],
        addresses: [("all", vec!["a"])].into(),
        ..Default::default()
    };
    let pool: Pool = PartitionedPool::builder(store.clone()).build().unwrap();
    let call = pool.request(&1).judge(judge).call(|attempt| ready(Ok(*attempt.address())));
    tokio::pin!(call);
    assert!(futures::poll!(&mut call).is_pending());
    settle().await;
    assert!(pool.routing_map().is_some());
    *store.0.fails.lock().unwrap() = true;
    pool.refresh().await.unwrap_err();
    *store.0.fails.lock().unwrap() = false;
    assert_eq!(call.await.unwrap(), "a");
}

/// A partition that was walked in vain is not yet one whose addresses were asked for.
#[tokio::test(start_paused = true)]
async fn the_addresses_are_asked_for_also_when_the_partition_was_splitting_before() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.change(|truth| {
        truth.down.extend(["a", "b"]);
        truth.addresses.insert("low", vec!["e", "f"]);
    });
    let serve = bench.body(1);
    let request = bench.pool.request(&1).idempotent(true).judge(judge);
    let served = request.call(|attempt| {
        let first = attempt.number() == 1;
        let answer = serve(attempt);
        async move { if first { Err(No::Gone(Gone::Splitting)) } else { answer.await } }
    });
    assert!(["e", "f"].contains(&served.await.unwrap()));
}

/// A gateway may know the addresses of its partitions for good.
#[tokio::test(start_paused = true)]
async fn fixed_addresses_of_partitions_are_never_asked_for() {
    struct Shards;

    #[async_trait]
    impl Gateway<Addr, Id> for Shards {
        async fn addresses(&self, _: &Id) -> Result<Vec<Addr>, GatewayError> {
            unreachable!("they are fixed")
        }

        fn fixed(&self, partition: &Id) -> Option<Vec<Addr>> {
            Some(vec![if *partition == "low" { "a" } else { "b" }])
        }
    }

    #[async_trait]
    impl PartitionGateway<u32, Addr, Id> for Shards {
        async fn routing_map(&self) -> Result<RoutingMap<u32, Id>, GatewayError> {
            Ok(Truth { version: 1, starts: vec![(0, "low"), (100, "high")], ..Default::default() }.map())
        }
    }

    let pool: Pool = PartitionedPool::builder(Shards).build().unwrap();
    for (key, served_by) in [(1, "a"), (100, "b")] {
        let request = pool.request(&key).judge(judge);
        let served = request.call(|attempt| ready(Ok(*attempt.address()))).await;
        assert_eq!(served.unwrap(), served_by);
    }
}

/// What may have been sent is not sent twice, be its replica gone or its partition.
#[tokio::test(start_paused = true)]
async fn what_was_sent_to_a_replica_that_is_gone_is_not_sent_again() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.visits();
    bench.change(|truth| truth.says.extend([("a", Gone::Replica), ("b", Gone::Replica)]));
    let sent = |result: &Result<Addr, No>| judge(result).sent(true);
    let failed = bench.pool.request(&1).judge(sent).call(bench.body(1)).await.unwrap_err();
    assert!(matches!(&failed, CallError::Unavailable(error) if error.sub_status() == 21_005), "{failed:?}");
    assert_eq!(bench.visits().len(), 1);
}

/// There is no time to go anywhere else.
#[tokio::test(start_paused = true)]
async fn no_map_is_asked_for_when_replicas_are_gone_and_the_time_is_over() {
    let bench = Bench::new(r#"{ "replicaPool": { "deadline": "PT0S" } }"#).await;
    bench.change(|truth| {
        truth.addresses.insert("low", vec!["a"]);
        truth.says.insert("a", Gone::Replica);
    });
    bench.pool.pool(&1).unwrap().ready().await.unwrap();
    let (maps, _) = bench.asked();
    assert_eq!(bench.unavailable(1).await.sub_status(), 21_005);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(bench.asked().0, maps);
}

/// Whatever the number of the set.
#[tokio::test(start_paused = true)]
async fn a_migration_asks_for_the_addresses_of_a_set_that_has_changed_before() {
    let bench = Bench::new("{}").await;
    for addresses in [["a", "e"], ["a", "f"], ["a", "b"]] {
        bench.change(|truth| drop(truth.addresses.insert("low", addresses.to_vec())));
        bench.pool.pool(&1).unwrap().refresh().await.unwrap();
    }
    sleep(Duration::from_secs(60)).await;
    let (_, asked) = bench.asked();
    let serve = bench.body(1);
    let request = bench.pool.request(&1).idempotent(true).judge(judge);
    let served = request.call(|attempt| {
        let (first, answer) = (attempt.number() == 1, serve(attempt));
        async move { if first { Err(No::Gone(Gone::Migrating)) } else { answer.await } }
    });
    assert!(["a", "b"].contains(&served.await.unwrap()));
    assert_eq!(bench.asked().1, asked + 1);
}

/// A gateway that fails has not said that there is no such partition.
#[tokio::test(start_paused = true)]
async fn a_partition_whose_addresses_can_not_be_had_is_not_gone() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    bench.change(|truth| truth.down.extend(["a", "b"]));
    *bench.store.0.fails.lock().unwrap() = true;
    let (maps, _) = bench.asked();
    let failed = bench.pool.request(&1).idempotent(true).judge(judge).call(bench.body(1)).await.unwrap_err();
    assert!(matches!(failed, CallError::Exhausted { attempts: 4, .. }), "{failed:?}");
    assert_eq!(bench.asked().0, maps);
}

/// The gateway may be the only one left who can say so.
#[tokio::test(start_paused = true)]
async fn a_partition_whose_replicas_are_dead_is_followed_when_the_gateway_knows_it_no_more() {
    let bench = Bench::new("{}").await;
    bench.call(1).await.unwrap();
    split_low(&bench);
    bench.change(|truth| truth.down.extend(["a", "b"]));
    let served = bench.pool.request(&1).idempotent(true).judge(judge).call(bench.body(1)).await;
    assert!(["e", "f"].contains(&served.unwrap()));
}

/// Those that follow a partition in use look for their replicas at once; its neighbours' followers do not.
#[tokio::test(start_paused = true)]
async fn followers_of_a_partition_that_nobody_uses_get_no_head_start() {
    let bench = Bench::new("{}").await;
    bench.call(100).await.unwrap();
    let (_, addresses) = bench.asked();
    split_low(&bench);
    bench.pool.refresh().await.unwrap();
    settle().await;
    assert_eq!((bench.asked().1, bench.pool.used().len()), (addresses, 1));
}
