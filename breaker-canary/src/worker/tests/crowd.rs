//! Many circuits at a time.

use super::*;

fn register(
    worker: &CanaryWorker<u32>,
    remotes: &Remotes,
    count: u32,
    block: &Value,
) -> Vec<Registration<u32>> {
    (0..count).map(|remote| worker.register(remote, remotes.breaker(block.clone()))).collect()
}

#[tokio::test(start_paused = true)]
async fn two_circuits_are_both_tried_within_a_moment_of_the_start() {
    let remotes = Remotes::all(Answer::Healthy);
    let worker = worker(&remotes);
    let both = register(&worker, &remotes, 2, &json!({}));
    after(17).await;
    assert_eq!([circuit(&both[0]), circuit(&both[1])], [Circuit::HalfOpen; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_crowd_that_starts_open_is_spread_and_capped() {
    let remotes = Remotes::all(Answer::HealthyAfter(Duration::from_millis(40)));
    let probe = Arc::clone(&remotes) as Arc<dyn Probe<u32>>;
    let worker = CanaryWorker::builder(probe).rounds_at_once(16).seed(1).spawn();
    let all = register(&worker, &remotes, 200, &json!({}));
    after(1_500).await;
    assert!(all.iter().all(|registration| circuit(registration) == Circuit::HalfOpen));
    let probes = remotes.probes.lock().unwrap();
    assert_eq!(probes.len(), 200);
    assert!(probes.last().unwrap().1 - probes[0].1 >= Duration::from_millis(800));
    assert!((2..=16).contains(&remotes.most_in_flight.load(Ordering::Relaxed)));
}

#[tokio::test(start_paused = true)]
async fn a_crowd_of_hung_remotes_never_has_more_probes_out_than_the_cap() {
    let remotes = Remotes::all(Answer::Never);
    let worker = worker(&remotes);
    let _all = register(&worker, &remotes, 200, &json!({}));
    after(60_000).await;
    assert_eq!(remotes.most_in_flight.load(Ordering::Relaxed), ROUNDS_AT_ONCE);
    // 64 slots, a probe a second in each; nobody is starved.
    assert!((0..200).all(|remote| remotes.probed(remote).len() >= 9));
}

#[tokio::test(start_paused = true)]
async fn two_workers_without_a_seed_do_not_knock_in_step() {
    let mut instants = Vec::new();
    for _ in 0..2 {
        let remotes = Remotes::all(Answer::Unhealthy);
        let worker = CanaryWorker::spawn(Arc::clone(&remotes) as Arc<dyn Probe<u32>>);
        let _all = register(&worker, &remotes, 20, &json!({}));
        after(5_000).await;
        instants.push((0..20).map(|remote| remotes.probed(remote)).collect::<Vec<_>>());
    }
    assert_ne!(instants[0], instants[1]);
}

#[tokio::test(start_paused = true)]
async fn two_workers_with_one_seed_do() {
    let mut instants = Vec::new();
    for _ in 0..2 {
        let remotes = Remotes::all(Answer::Unhealthy);
        let worker = worker(&remotes);
        let _all = register(&worker, &remotes, 20, &json!({}));
        after(5_000).await;
        instants.push((0..20).map(|remote| remotes.probed(remote)).collect::<Vec<_>>());
    }
    assert_eq!(instants[0], instants[1]);
}

#[tokio::test(start_paused = true)]
async fn thirteen_remotes_that_were_away_for_ten_minutes_are_all_back_within_two_intervals() {
    let remotes = Remotes::all(Answer::Unhealthy);
    let worker = worker(&remotes);
    let all = register(&worker, &remotes, 13, &json!({ "permittedNumberOfCallsInHalfOpenState": 1 }));
    after(600_000).await;
    assert!(all.iter().all(|registration| circuit(registration) == Circuit::Open));
    (0..13).for_each(|remote| remotes.set(remote, Answer::Healthy));
    after(2_000).await;
    assert!(all.iter().all(|registration| circuit(registration) == Circuit::HalfOpen));
    // Clients call only the first of them, which is no reason for the others to stay open.
    calls(all[0].breaker(), Outcome::Success, 1);
    assert_eq!(circuit(&all[0]), Circuit::Closed);
}

#[test]
fn the_more_there_are_to_try_at_once_the_later_each_may_be() {
    let mut spread = Spread::new(4, fastrand::Rng::with_seed(1));
    let second = Duration::from_secs(1);
    // The latest of a thousand who come and go.
    let latest = |spread: &mut Spread| {
        let try_one = |_| {
            let delay = spread.join_fresh(second);
            spread.leave_fresh();
            delay.as_millis()
        };
        (0..1_000).map(try_one).max().unwrap()
    };
    assert_eq!(latest(&mut spread), 0, "the only one");
    spread.join_fresh(second);
    assert!((240..=250).contains(&latest(&mut spread)), "one of four");
    (0..8).for_each(|_| _ = spread.join_fresh(second));
    assert!((960..=1_000).contains(&latest(&mut spread)), "more than may be tried at a time");
    (0..9).for_each(|_| spread.leave_fresh());
    assert_eq!(latest(&mut spread), 0, "all have been tried");
}
