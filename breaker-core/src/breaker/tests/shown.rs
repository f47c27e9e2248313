//! What the parts of a breaker show of themselves.

use super::*;

#[test]
fn a_breaker_and_its_parts_show_what_they_are_about() {
    let builder = Breaker::builder(TwoStrikes { probed: false }).name("db-1");
    assert_eq!(
        format!("{builder:?}"),
        r#"BreakerBuilder { blueprint: TwoStrikes { probed: false }, name: Some("db-1"), .. }"#
    );
    let breaker = Arc::new(builder.build().unwrap());
    let shown = format!("{breaker:?}");
    assert!(shown.starts_with(r#"Breaker { name: Some("db-1"), "#), "{shown}");
    let permit = breaker.acquire().unwrap();
    assert!(format!("{permit:?}").starts_with("Permit { ticket: "), "{permit:?}");
    let owned = breaker.acquire_owned().unwrap();
    assert!(format!("{owned:?}").starts_with("OwnedPermit { ticket: "), "{owned:?}");
}

/// Who owns many circuits, and knows what they are called.
struct Owner;

impl Attendant for Owner {
    fn circuit_changed(self: Arc<Self>) {}

    fn name(&self) -> Option<Arc<str>> {
        Some("of the owner".into())
    }
}

#[test]
fn a_breaker_without_a_name_is_called_what_its_attendant_calls_it() {
    let bench = Bench::new();
    assert_eq!(bench.breaker.name(), None);
    let owner: Arc<dyn Attendant> = Arc::new(Owner);
    bench.breaker.attend(Arc::downgrade(&owner));
    assert_eq!(bench.breaker.name().as_deref(), Some("of the owner"));
    assert_eq!(bench.breaker.snapshot().name.as_deref(), Some("of the owner"));
    bench.breaker.force_open();
    assert_eq!(bench.seen.lock().unwrap()[0].name.as_deref(), Some("of the owner"));
    drop(owner);
    assert_eq!(bench.breaker.name(), None, "nobody is left to tell");

    let named = Breaker::builder(TwoStrikes { probed: false }).name("its own").build().unwrap();
    let owner: Arc<dyn Attendant> = Arc::new(Owner);
    named.attend(Arc::downgrade(&owner));
    assert_eq!(named.name().as_deref(), Some("its own"));
}

#[test]
fn a_breaker_takes_little_room() {
    assert!(size_of::<Breaker>() <= 112, "{}", size_of::<Breaker>());
}
