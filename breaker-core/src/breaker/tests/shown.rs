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
