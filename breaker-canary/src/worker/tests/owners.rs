//! Circuits with owners of their own.

use breaker_core::Attendant;

use super::*;

/// The owner of a circuit.
struct Owner {
    breaker: Breaker,
    notes: Notes,
    line: Line<Self>,
}

impl Attended for Owner {
    fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    fn notes(&self) -> &Notes {
        &self.notes
    }
}

impl Attendant for Owner {
    fn circuit_changed(self: Arc<Self>) {
        self.line.changed(Arc::clone(&self));
    }
}

/// Says that everybody is well, or that nobody is, and counts how often it was asked.
#[derive(Default)]
struct Opinion {
    healthy: std::sync::atomic::AtomicBool,
    asked: AtomicUsize,
}

#[async_trait]
impl Probe<Owner> for Opinion {
    async fn probe(&self, _: &Owner) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.healthy.load(Ordering::Relaxed)
    }
}

impl Opinion {
    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

fn owner(line: &Line<Owner>, block: Value) -> Arc<Owner> {
    let config = CanaryRateThreshold::from_keys(serde_json::from_value(block).unwrap()).unwrap();
    let breaker = Breaker::builder(config).clock(Arc::new(TokioClock::new())).probed().build().unwrap();
    let owner = Arc::new(Owner { breaker, notes: Notes::new(), line: line.clone() });
    let attendant: std::sync::Weak<Owner> = Arc::downgrade(&owner);
    owner.breaker.attend(attendant);
    owner
}

fn is(owner: &Owner, circuit: Circuit) -> bool {
    owner.breaker.state().circuit() == circuit
}

fn trip(owner: &Owner) {
    while let Ok(permit) = owner.breaker.acquire() {
        permit.settle(Outcome::Failure);
    }
    assert!(is(owner, Circuit::Open));
}

#[tokio::test(start_paused = true)]
async fn an_owner_is_probed_from_when_it_is_attended_to_until_it_is_dismissed() {
    let opinion = Arc::new(Opinion::default());
    let worker = Attendance::spawn(Arc::clone(&opinion) as Arc<dyn Probe<Owner>>);
    let owner = owner(worker.line(), json!({ "canaryAttempts": 1 }));
    after(10_000).await;
    assert_eq!(opinion.asked(), 0, "nobody asked for it");
    assert!(worker.line().first_round_done(&owner), "there is none to wait for");

    worker.line().attend(&owner);
    assert!(!worker.line().first_round_done(&owner));
    worker.line().first_round(&owner).await;
    assert_eq!(opinion.asked(), 1, "open from the start: probed at once");

    worker.line().dismiss(&owner);
    after(10_000).await;
    assert_eq!(opinion.asked(), 1);

    worker.line().attend(&owner);
    opinion.healthy.store(true, Ordering::Relaxed);
    worker.line().first_round(&owner).await;
    assert_eq!(
        (opinion.asked(), is(&owner, Circuit::HalfOpen)),
        (2, true),
        "found anew, open: probed at once"
    );
}

#[tokio::test(start_paused = true)]
async fn what_happens_to_a_dismissed_circuit_is_nobodys_business() {
    let opinion = Arc::new(Opinion::default());
    let worker = Attendance::spawn(Arc::clone(&opinion) as Arc<dyn Probe<Owner>>);
    let owner = owner(worker.line(), json!({ "initialState": "closed" }));
    worker.line().attend(&owner);
    worker.line().first_round(&owner).await;
    // It opens, and the worker is told but does not get to look before it is dismissed.
    trip(&owner);
    worker.line().dismiss(&owner);
    after(10_000).await;
    // News of it that was on its way meanwhile comes too late.
    worker.line().tell(line::News::LookAt(Arc::clone(&owner)));
    after(10_000).await;
    // And once more when nobody attends any more.
    owner.breaker.reset();
    trip(&owner);
    after(10_000).await;
    assert_eq!(opinion.asked(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_is_gone_is_not_kept() {
    let opinion = Arc::new(Opinion::default());
    let worker = Attendance::spawn(Arc::clone(&opinion) as Arc<dyn Probe<Owner>>);
    let owner = owner(worker.line(), json!({ "canaryAttempts": 1 }));
    worker.line().attend(&owner);
    worker.line().first_round(&owner).await;
    let gone = Arc::downgrade(&owner);
    drop(owner);
    assert!(gone.upgrade().is_none(), "the worker holds it only while it probes");
    after(10_000).await;
    assert_eq!(opinion.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_worker_that_is_gone() {
    let worker = Attendance::spawn(Arc::new(Opinion::default()) as Arc<dyn Probe<Owner>>);
    let line = worker.line().clone();
    let owner = owner(&line, json!({}));
    line.attend(&owner);
    drop(worker);
    assert!(timeout(Duration::from_secs(1), line.first_round(&owner)).await.is_ok());
    line.attend(&owner);
    assert!(line.first_round_done(&owner));
}

#[test]
fn the_notes_about_a_circuit_take_four_bytes() {
    assert_eq!(size_of::<Notes>(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_worker_and_its_line_show_what_they_are() {
    let worker = Attendance::spawn(Arc::new(Opinion::default()) as Arc<dyn Probe<Owner>>);
    let shown = format!("{worker:?}");
    assert!(shown.starts_with("Attendance { owner: \"") && shown.contains("Owner\""), "{shown}");
    let line = worker.line().clone();
    assert_eq!(format!("{line:?}"), "Line { ended: false, .. }");
    drop(worker);
    tokio::task::yield_now().await;
    assert_eq!(format!("{line:?}"), "Line { ended: true, .. }");
}
