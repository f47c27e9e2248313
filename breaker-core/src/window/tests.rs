use std::num::NonZeroU32;

use proptest::prelude::*;

use super::{bits::Bits, *};
use crate::Timestamp;

fn of(size: u32) -> NonZeroU32 {
    NonZeroU32::new(size).unwrap()
}

fn counts(calls: u32, failures: u32, slow: u32) -> Tally {
    Tally { calls, failures, slow }
}

fn sample(age_secs: u64, calls: u32, failures: u32, slow: u32) -> Sample {
    Sample { age_secs, tally: counts(calls, failures, slow) }
}

#[test]
fn the_oldest_result_leaves_when_a_full_count_window_gets_another() {
    let mut window = CountWindow::new(of(3));
    for failed in [true, false, true] {
        window.record(failed, false);
    }
    assert_eq!((window.tally(), window.calls(), window.is_full()), (counts(3, 2, 0), 3, true));
    window.record(false, false);
    assert_eq!(window.tally(), counts(3, 1, 0));
}

#[test]
fn a_count_window_without_slow_calls_counts_none() {
    let mut window = CountWindow::new(of(3));
    window.record(true, true);
    assert_eq!(window.tally(), counts(1, 1, 0));
}

#[test]
fn a_count_window_is_steady_once_it_is_full_of_quick_successes() {
    let mut window = CountWindow::with_slow_calls(of(2));
    window.record(false, false);
    assert!(!window.is_steady(), "not full");
    window.record(false, true);
    assert!(!window.is_steady(), "holds a slow call");
    window.record(false, false);
    assert!(!window.is_steady(), "still holds it");
    window.record(false, false);
    assert!(window.is_steady());
    window.record(true, false);
    assert!(!window.is_steady(), "holds a failure");
}

#[test]
fn a_count_window_tells_its_runs_oldest_first() {
    let mut window = CountWindow::with_slow_calls(of(5));
    for (failed, slow) in
        [(true, true), (false, false), (false, false), (true, false), (true, true), (true, true)]
    {
        window.record(failed, slow);
    }
    assert_eq!(window.samples(), [sample(0, 2, 0, 0), sample(0, 1, 1, 0), sample(0, 2, 2, 2)]);
}

#[test]
fn a_count_window_takes_the_failures_of_a_mixed_sample_as_the_latest() {
    let mut window = CountWindow::with_slow_calls(of(4));
    window.adopt(&[sample(7, 6, 2, 1)]);
    assert_eq!(window.samples(), [sample(0, 2, 0, 0), sample(0, 1, 1, 0), sample(0, 1, 1, 1)]);
}

#[test]
fn adopting_a_huge_or_impossible_sample_costs_no_more_than_the_window() {
    let mut window = CountWindow::new(of(4));
    window.adopt(&[sample(0, u32::MAX, 1, 9), sample(0, 1, 5, 5)]);
    assert_eq!(window.tally(), counts(4, 2, 0));
    let mut window = TimeWindow::new(of(2));
    window.adopt(&[sample(0, 1, 5, 5), sample(1, 7, 7, 7), sample(u64::MAX, 9, 9, 9)], Timestamp::ZERO);
    assert_eq!(window.tally(Timestamp::ZERO), counts(8, 8, 8));
}

#[test]
fn a_small_count_window_needs_no_heap_and_little_room() {
    assert!(matches!(Bits::new(128), Bits::Few(_)));
    assert!(matches!(Bits::new(129), Bits::Many(_)));
    assert!(size_of::<CountWindow>() <= 48, "{}", size_of::<CountWindow>());
    assert!(size_of::<Window>() <= 48, "{}", size_of::<Window>());
    assert!(size_of::<TimeWindow>() <= 64, "{}", size_of::<TimeWindow>());
}

#[test]
fn a_time_window_covers_the_present_second_and_those_before_it() {
    let mut window = TimeWindow::new(of(3));
    window.record(true, false, Timestamp::from_millis(999));
    window.record(false, true, Timestamp::from_millis(1_000));
    assert_eq!(window.tally(Timestamp::from_millis(2_999)), counts(2, 1, 1));
    assert_eq!(window.tally(Timestamp::from_millis(3_000)), counts(1, 0, 1));
    assert_eq!(window.tally(Timestamp::from_millis(3_999)), counts(1, 0, 1));
    assert_eq!(window.tally(Timestamp::from_millis(4_000)), counts(0, 0, 0));
}

#[test]
fn reading_a_time_window_later_does_not_change_it() {
    let mut window = TimeWindow::new(of(2));
    window.record(true, false, Timestamp::from_secs(5));
    assert_eq!(window.tally(Timestamp::from_secs(50)), counts(0, 0, 0));
    assert_eq!(window.tally(Timestamp::from_secs(5)), counts(1, 1, 0));
}

#[test]
fn an_instant_before_the_latest_counts_as_the_latest() {
    let mut window = TimeWindow::new(of(2));
    window.record(true, false, Timestamp::from_secs(5));
    window.record(true, false, Timestamp::from_secs(1));
    assert_eq!(window.tally(Timestamp::from_secs(1)), counts(2, 2, 0));
    assert_eq!(window.tally(Timestamp::from_secs(6)), counts(2, 2, 0));
    assert_eq!(window.tally(Timestamp::from_secs(7)), counts(0, 0, 0));
}

#[test]
fn a_gap_of_centuries_empties_a_time_window_at_once() {
    let mut window = TimeWindow::new(of(60));
    window.record(true, false, Timestamp::ZERO);
    window.record(false, false, Timestamp::MAX);
    assert_eq!(window.tally(Timestamp::MAX), counts(1, 0, 0));
}

#[test]
fn a_time_window_stops_counting_at_the_end_of_u32_and_stays_whole() {
    let mut window = TimeWindow::new(of(2));
    let full = sample(0, u32::MAX, 1, 1);
    window.adopt(&[full, full], Timestamp::ZERO);
    window.record(true, false, Timestamp::ZERO);
    assert_eq!(window.tally(Timestamp::ZERO), counts(u32::MAX, 3, 2));
    window.adopt(&[full], Timestamp::from_secs(1));
    assert_eq!(window.tally(Timestamp::from_secs(1)), counts(u32::MAX, 4, 3));
    assert_eq!(window.tally(Timestamp::from_secs(2)), counts(u32::MAX, 1, 1));
}

#[test]
fn a_time_window_tells_each_second_with_its_age_and_takes_it_back_in_another_process() {
    let mut window = TimeWindow::new(of(10));
    window.record(true, false, Timestamp::from_secs(100));
    window.record(false, true, Timestamp::from_secs(103));
    let samples = window.samples(Timestamp::from_millis(105_900));
    assert_eq!(samples, [sample(5, 1, 1, 0), sample(2, 1, 0, 1)]);
    assert_eq!(window.samples(Timestamp::from_secs(110)), [sample(7, 1, 0, 1)], "10 s old is too old");

    // The other process has a clock of its own, which has only just begun.
    let mut other = TimeWindow::new(of(10));
    other.adopt(&samples, Timestamp::from_secs(1));
    assert_eq!(other.tally(Timestamp::from_secs(5)), counts(2, 1, 1));
    assert_eq!(other.tally(Timestamp::from_secs(6)), counts(1, 0, 1));
    assert_eq!(other.tally(Timestamp::from_secs(9)), counts(0, 0, 0));
}

#[test]
fn a_result_as_old_as_a_time_window_is_long_is_not_taken_back() {
    let mut window = TimeWindow::new(of(2));
    window.adopt(&[sample(2, 5, 4, 3), sample(1, 1, 0, 0)], Timestamp::from_secs(9));
    assert_eq!(window.tally(Timestamp::from_secs(9)), counts(1, 0, 0));
}

#[test]
fn a_window_knows_its_size() {
    assert_eq!((CountWindow::new(of(7)).size(), TimeWindow::new(of(7)).seconds()), (of(7), 7));
}

#[test]
fn a_window_of_either_kind_counts_as_its_kind_does() {
    let at = |millis| Now::from(Timestamp::from_millis(millis));
    let (mut count, mut time) = (Window::from(CountWindow::new(of(2))), Window::from(TimeWindow::new(of(2))));
    for window in [&mut count, &mut time] {
        window.record(true, false, &at(500));
        window.record(false, false, &at(1_500));
    }
    assert_eq!((count.tally(&at(2_500)), count.is_steady()), (counts(2, 1, 0), false));
    assert_eq!(count.samples(&at(2_500)), [sample(0, 1, 1, 0), sample(0, 1, 0, 0)]);
    assert_eq!(time.tally(&at(2_500)), counts(1, 0, 0));
    assert_eq!(time.samples(&at(1_999)), [sample(1, 1, 1, 0), sample(0, 1, 0, 0)]);
    for window in [&mut count, &mut time] {
        window.clear();
        assert_eq!(window.tally(&at(1_999)), Tally::default());
        window.adopt(&[sample(0, 2, 0, 0)], &at(1_999));
        assert_eq!(window.tally(&at(1_999)), counts(2, 0, 0));
    }
    assert_eq!((count.is_steady(), time.is_steady()), (true, false), "a second that passes is news");
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Record { failed: bool, slow: bool },
    Advance { millis: u64 },
    Clear,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        20 => (any::<bool>(), any::<bool>()).prop_map(|(failed, slow)| Op::Record { failed, slow }),
        5 => (0_u64..1_500).prop_map(|millis| Op::Advance { millis }),
        1 => (0_u64..100_000).prop_map(|millis| Op::Advance { millis }),
        1 => Just(Op::Clear),
    ];
    proptest::collection::vec(op, 0..300)
}

/// Keeps every result with its second, and counts when asked.
#[derive(Default)]
struct Naive(Vec<(u64, bool, bool)>);

impl Naive {
    fn tally<'a>(results: impl Iterator<Item = &'a (u64, bool, bool)>) -> Tally {
        results.fold(Tally::default(), |sum, (_, failed, slow)| Tally {
            calls: sum.calls + 1,
            failures: sum.failures + u32::from(*failed),
            slow: sum.slow + u32::from(*slow),
        })
    }

    fn last(&self, n: usize) -> Tally {
        Self::tally(self.0.iter().rev().take(n))
    }

    fn since(&self, second: u64) -> Tally {
        Self::tally(self.0.iter().filter(|(at, ..)| *at >= second))
    }
}

proptest! {
    #[test]
    fn windows_count_like_one_that_keeps_everything(ops in ops(), size in 1_u32..150) {
        let (mut count, mut time) = (CountWindow::with_slow_calls(of(size)), TimeWindow::new(of(size)));
        let (mut naive, mut now) = (Naive::default(), Timestamp::ZERO);
        for op in ops {
            match op {
                Op::Record { failed, slow } => {
                    count.record(failed, slow);
                    time.record(failed, slow, now);
                    naive.0.push((now.as_secs(), failed, slow));
                }
                Op::Advance { millis } => now = now + std::time::Duration::from_millis(millis),
                Op::Clear => {
                    count.clear();
                    time.clear();
                    naive.0.clear();
                }
            }
            prop_assert_eq!(count.tally(), naive.last(size as usize));
            prop_assert_eq!(time.tally(now), naive.since((now.as_secs() + 1).saturating_sub(size.into())));
        }
    }

    #[test]
    fn adopted_samples_make_the_same_window(ops in ops(), size in 1_u32..150, more in ops()) {
        let (mut count, mut time) = (CountWindow::with_slow_calls(of(size)), TimeWindow::new(of(size)));
        let mut now = Timestamp::ZERO;
        let apply = |count: &mut CountWindow, time: &mut TimeWindow, op: &Op, from: &mut Timestamp| match op {
            Op::Record { failed, slow } => {
                count.record(*failed, *slow);
                time.record(*failed, *slow, *from);
            }
            Op::Advance { millis } => *from = *from + std::time::Duration::from_millis(*millis),
            Op::Clear => {}
        };
        ops.iter().for_each(|op| apply(&mut count, &mut time, op, &mut now));
        let (mut count2, mut time2) = (CountWindow::with_slow_calls(of(size)), TimeWindow::new(of(size)));
        count2.adopt(&count.samples());
        time2.adopt(&time.samples(now), now);
        prop_assert_eq!(count2.tally(), count.tally());
        prop_assert_eq!(time2.tally(now), time.tally(now));
        let mut now2 = now;
        for op in &more {
            apply(&mut count, &mut time, op, &mut now);
            apply(&mut count2, &mut time2, op, &mut now2);
            prop_assert_eq!(count2.tally(), count.tally());
            prop_assert_eq!(time2.tally(now), time.tally(now));
        }
    }
}
