//! The worker's future, and the one of whoever waits for it, dropped at each point at which they can wait.

use std::{
    future::{Future, poll_fn},
    task::Poll,
};

use tokio::runtime::Handle;

use super::*;

/// Polls `future` so many times, whenever it is woken, and drops it then. Says whether it completed.
async fn polled(future: impl Future<Output = ()>, mut polls: u32) -> bool {
    let mut future = Box::pin(future);
    poll_fn(|cx| {
        if polls == 0 {
            return Poll::Ready(false);
        }
        polls -= 1;
        future.as_mut().poll(cx).map(|()| true)
    })
    .await
}

fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// A worker, dropped after each of its polls while its probes hang, fail, or succeed a little later: no probe is left in
/// flight, who waits for a first round waits no more, and another worker takes over.
#[tokio::test(start_paused = true)]
async fn a_worker_dropped_at_any_point_leaves_nothing_behind() {
    for answer in [Answer::Never, Answer::Unhealthy, Answer::HealthyAfter(Duration::from_millis(300))] {
        for polls in 0..30 {
            let remotes = Remotes::all(answer);
            let probe = Arc::new(ByTarget(Arc::clone(&remotes) as Arc<dyn Probe<u32>>));
            let (line, hearing) = Line::new();
            let circuits = Circuits::new(line.clone(), probe, Spread::new(1, fastrand::Rng::with_seed(7)));
            let registrations: Vec<_> = (0..3)
                .map(|remote| Registration::new(remote, remotes.breaker(json!({})), line.clone()))
                .collect();
            // Its work never ends by itself, but there may be nothing left to wake it for.
            let work =
                tokio::time::timeout(Duration::from_secs(60), polled(attend(circuits, hearing), polls));
            assert!(matches!(work.await, Err(_) | Ok(false)));
            after(1).await;
            assert_eq!((remotes.in_flight.load(Ordering::Relaxed), tasks()), (0, 0), "{polls} polls");
            for registration in &registrations {
                let waits = tokio::time::timeout(Duration::from_millis(1), registration.first_round());
                waits.await.expect("nobody will knock any more");
            }
            // Circuits can be probed, and verdicts count.
            let healthy = Remotes::all(Answer::Healthy);
            let next = worker(&healthy);
            for registration in &registrations {
                let breaker = Arc::clone(registration.breaker());
                let again = next.register(*registration.target(), breaker);
                again.first_round().await;
                assert_eq!(circuit(&again), Circuit::HalfOpen);
            }
            drop(next);
            after(1).await;
            assert_eq!(tasks(), 0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_a_first_round_can_leave_at_any_point() {
    for polls in 0.. {
        let remotes = Remotes::all(Answer::HealthyAfter(Duration::from_millis(300)));
        let worker = worker(&remotes);
        let registration = Arc::new(worker.register(1, remotes.breaker(json!({}))));
        let other = Arc::clone(&registration);
        let other = tokio::spawn(async move { other.first_round().await });
        let completed = polled(registration.first_round(), polls).await;
        tokio::time::timeout(Duration::from_secs(1), other).await.unwrap().unwrap();
        assert_eq!(circuit(&registration), Circuit::HalfOpen);
        drop(worker);
        after(1).await;
        assert_eq!(tasks(), 0);
        if completed {
            assert!(polls >= 2, "it waited");
            break;
        }
    }
}

/// In each second of its life, with probes that hang or are about to answer.
#[tokio::test(start_paused = true)]
async fn a_worker_ends_at_once_whatever_it_is_doing() {
    for answer in [Answer::Never, Answer::Unhealthy, Answer::HealthyAfter(Duration::from_millis(300))] {
        for millis in (0..6_000).step_by(250) {
            let remotes = Remotes::all(answer);
            let worker = worker(&remotes);
            let registrations: Vec<_> =
                (0..3).map(|remote| worker.register(remote, remotes.breaker(json!({})))).collect();
            after(millis).await;
            drop(worker);
            after(1).await;
            assert_eq!((remotes.in_flight.load(Ordering::Relaxed), tasks()), (0, 0), "at {millis} ms");
            drop(registrations);
        }
    }
}
