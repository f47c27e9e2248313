//! From a sequence that breaks a law to a short one that does.

use super::plan::Move;

/// So many attempts at most.
const ATTEMPTS: usize = 3_000;

/// Leaves out, then makes smaller, whatever `still_fails` without; it is told every attempt.
pub(super) fn shrink(plan: &[Move], mut still_fails: impl FnMut(&[Move]) -> bool) {
    let mut attempts = 0;
    let mut fails = |candidate: &[Move]| {
        attempts += 1;
        attempts <= ATTEMPTS && still_fails(candidate)
    };
    let mut plan = plan.to_vec();
    loop {
        let before = plan.clone();
        leave_out(&mut plan, &mut fails);
        make_smaller(&mut plan, &mut fails);
        if plan == before {
            return;
        }
    }
}

fn leave_out(plan: &mut Vec<Move>, fails: &mut impl FnMut(&[Move]) -> bool) {
    let mut size = plan.len();
    while size > 0 {
        let mut at = 0;
        while at < plan.len() {
            let mut candidate = plan.clone();
            candidate.drain(at..(at + size).min(plan.len()));
            if fails(&candidate) {
                *plan = candidate;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
}

fn make_smaller(plan: &mut [Move], fails: &mut impl FnMut(&[Move]) -> bool) {
    for at in 0..plan.len() {
        while let Some(smaller) = smaller(plan[at]).into_iter().find(|smaller| {
            let mut candidate = plan.to_vec();
            candidate[at] = *smaller;
            fails(&candidate)
        }) {
            plan[at] = smaller;
        }
    }
}

/// Simpler choices, the simplest first.
fn smaller(chosen: Move) -> Vec<Move> {
    match chosen {
        Move::Calls { count, outcome, millis } => {
            let counts = [1, count / 2, count - 1].into_iter().filter(|fewer| (1..count).contains(fewer));
            let fewer = counts.map(|count| Move::Calls { count, outcome, millis });
            let shorter = down(millis).map(|millis| Move::Calls { count, outcome, millis });
            fewer.chain(shorter).collect()
        }
        Move::End { nth, outcome, millis } => {
            let first = (nth > 0).then_some(Move::End { nth: 0, outcome, millis });
            first.into_iter().chain(down(millis).map(|millis| Move::End { nth, outcome, millis })).collect()
        }
        Move::Wait { millis } => down(millis).map(|millis| Move::Wait { millis }).collect(),
        Move::WaitForDeadline { less_millis: 1 } => vec![Move::WaitForDeadline { less_millis: 0 }],
        _ => Vec::new(),
    }
}

fn down(number: u64) -> impl Iterator<Item = u64> {
    [0, number / 2, number.saturating_sub(number % 1_000), number.saturating_sub(1)]
        .into_iter()
        .filter(move |less| *less < number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    #[test]
    fn what_does_not_matter_is_left_out_and_what_matters_is_made_small() {
        let waits = (0..40).map(|nth| Move::Wait { millis: 1_000 * nth });
        let plan: Vec<Move> = waits.chain([Move::Probe(true), Move::Reset]).collect();
        let mut shortest = plan.clone();
        shrink(&plan, |candidate| {
            let waited =
                candidate.iter().any(|chosen| matches!(chosen, Move::Wait { millis } if *millis >= 7_500));
            let fails = waited && candidate.contains(&Move::Reset);
            if fails {
                shortest = candidate.to_vec();
            }
            fails
        });
        assert_eq!(shortest, [Move::Wait { millis: 7_500 }, Move::Reset]);
    }

    #[test]
    fn a_choice_is_made_simpler_in_steps_the_simplest_first() {
        let calls = |count, millis| Move::Calls { count, outcome: Outcome::Failure, millis };
        assert_eq!(smaller(calls(10, 0)), [calls(1, 0), calls(5, 0), calls(9, 0)]);
        assert_eq!(smaller(calls(1, 1)), [calls(1, 0); 4]);
        let end = |nth, millis| Move::End { nth, outcome: Outcome::Success, millis };
        assert_eq!(smaller(end(3, 0)), [end(0, 0)]);
        assert_eq!(smaller(end(0, 0)), []);
        let waits = [0, 1_250, 2_000, 2_499].map(|millis| Move::Wait { millis });
        assert_eq!(smaller(Move::Wait { millis: 2_500 }), waits);
        assert_eq!(
            smaller(Move::WaitForDeadline { less_millis: 1 }),
            [Move::WaitForDeadline { less_millis: 0 }]
        );
        assert_eq!(smaller(Move::WaitForDeadline { less_millis: 0 }), []);
        assert_eq!(smaller(Move::Begin), []);
    }

    #[test]
    fn it_gives_up_after_some_thousands_of_attempts() {
        let mut attempts = 0;
        shrink(&[Move::Begin; 4_000], |_| {
            attempts += 1;
            false
        });
        assert_eq!(attempts, 3_000);
    }

    #[test]
    fn what_is_left_out_by_halves_is_tried_in_every_place() {
        let plan: Vec<Move> = (0..5).map(|millis| Move::Wait { millis }).collect();
        let mut tried = Vec::new();
        leave_out(&mut plan.clone(), &mut |candidate: &[Move]| {
            tried.push(candidate.len());
            false
        });
        // Five, then two at a time, of which the last is alone, then each.
        assert_eq!(tried, [0, 3, 3, 4, 4, 4, 4, 4, 4]);
    }
}
