//! The circuits without the task that attends to them: what happens between two of its steps.

use super::{
    line::{Hearing, News},
    *,
};

/// Circuits that hear of registrations when they are told to.
fn circuits(remotes: &Arc<Remotes>) -> (Circuits<Entry<u32>>, Hearing<Entry<u32>>) {
    let (line, hearing) = Line::new();
    let probe = Arc::new(ByTarget(Arc::clone(remotes) as Arc<dyn Probe<u32>>));
    (Circuits::new(line, probe, Spread::new(2, fastrand::Rng::with_seed(7))), hearing)
}

fn hear(circuits: &mut Circuits<Entry<u32>>, hearing: &mut Hearing<Entry<u32>>) {
    while let Ok(news) = hearing.news.try_recv() {
        match news {
            News::LookAt(owner) => circuits.look(&owner),
            News::Gone(address) => circuits.forget(address),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_verdict_of_a_round_that_was_cut_too_late_does_not_settle_the_next_round() {
    let remotes = Remotes::all(Answer::Healthy);
    let (mut circuits, mut hearing) = circuits(&remotes);
    let breaker = remotes.breaker(json!({ "canaryAttempts": 1 }));
    let registration = Registration::new(1, breaker, hearing.line.clone());
    hear(&mut circuits, &mut hearing);
    circuits.knock();
    // It ends, and nobody has taken its verdict yet.
    after(1).await;
    assert_eq!((remotes.count(), remotes.in_flight.load(Ordering::Relaxed)), (1, 0));

    remotes.set(1, Answer::Unhealthy);
    registration.breaker().reset();
    hear(&mut circuits, &mut hearing);
    circuits.knock();
    for (rounds, round) in ["the old one", "the new one"].into_iter().enumerate() {
        let ended = circuits.rounds.join_next().await.unwrap();
        circuits.end_round(ended.expect("it was not stopped"));
        assert_eq!(
            (circuit(&registration), registration.rounds()),
            (Circuit::Open, rounds as u64),
            "{round}"
        );
    }
    assert_eq!((remotes.count(), circuits.rounds.len()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn the_room_of_many_circuits_is_given_back_when_less_than_an_eighth_of_it_is_needed() {
    let remotes = Remotes::all(Answer::Never);
    let (mut circuits, mut hearing) = circuits(&remotes);
    // As after an outage of a hundred.
    circuits.known.reserve(100);
    let room = circuits.known.capacity();
    let mut registrations: Vec<_> = (0..=u32::try_from(room / 8).unwrap())
        .map(|remote| Registration::new(remote, remotes.breaker(json!({})), hearing.line.clone()))
        .collect();
    hear(&mut circuits, &mut hearing);

    registrations.pop();
    hear(&mut circuits, &mut hearing);
    assert_eq!((circuits.known.len(), circuits.known.capacity()), (room / 8, room));

    registrations.pop();
    hear(&mut circuits, &mut hearing);
    assert_eq!(circuits.known.len(), room / 8 - 1);
    assert!(circuits.known.capacity() < room / 2, "{} of {room}", circuits.known.capacity());
}
