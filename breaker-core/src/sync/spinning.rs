//! The lock of a breaker.
//!
//! It is held for the few nanoseconds in which a strategy counts a result, and let go by a plain store: on x86 half of the
//! cost of a lock that can put threads to sleep, which lets go by a second locked instruction. Whoever finds it taken
//! looks again, and gives way to other threads when that takes long, since the holder may have been put aside.

use std::{cell::Cell, hint, thread};

use spin::{RelaxStrategy, mutex::SpinMutex};

pub(crate) type Mutex<T> = SpinMutex<T, GiveWay>;

/// Between two looks. Long enough for the holder to come back several times: what moves a lock between processors costs more
/// than what it guards.
const PAUSES: u32 = 16;
/// Before the thread gives way.
const LOOKS: u32 = 32;

thread_local! {
    static LOOKED: Cell<u32> = const { Cell::new(0) };
}

#[derive(Debug)]
pub(crate) struct GiveWay;

impl RelaxStrategy for GiveWay {
    fn relax() {
        LOOKED.with(|looked| {
            looked.set(looked.get().wrapping_add(1));
            if looked.get().is_multiple_of(LOOKS) {
                thread::yield_now();
            } else {
                (0..PAUSES).for_each(|_| hint::spin_loop());
            }
        });
    }
}
