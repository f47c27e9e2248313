//! A guarded future is little larger than the future that it guards. What a task holds while it waits is paid for by
//! every call in flight.

use std::{future::Future, mem::size_of_val};

use breaker_core::{Breaker, Outcome};
use breaker_static::StaticThreshold;

/// A future of at least so many bytes, all of which live across its await.
async fn carrying<const N: usize>() -> Result<[u8; N], ()> {
    let load = [7; N];
    std::future::ready(()).await;
    Ok(load)
}

fn added(bare: &impl Future, guarded: &impl Future) -> usize {
    size_of_val(guarded) - size_of_val(bare)
}

/// References to the breaker and the classifier, and the permit: a few words.
const MOST: usize = 48;

#[test]
fn a_guard_adds_a_few_words_to_a_future_and_no_copy_of_it() {
    let breaker = Breaker::builder(StaticThreshold::default()).build().unwrap();
    let classify = |result: &Result<[u8; 4_096], ()>| match result {
        Ok(_) => Outcome::Success,
        Err(()) => Outcome::Failure,
    };
    assert!(added(&carrying::<0>(), &breaker.call(carrying::<0>())) <= MOST);
    assert!(added(&carrying::<4_096>(), &breaker.call(carrying::<4_096>())) <= MOST);
    assert!(added(&carrying::<4_096>(), &breaker.call_with(&classify, carrying::<4_096>())) <= MOST);
}
