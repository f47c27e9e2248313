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
}
