//! The gate alone: a reader gets a word with the deadline that was written for it.

use std::sync::Arc;

use loom::thread;

use super::kit::explore;
use crate::{
    Mode, State, Timestamp,
    breaker::gate::{Gate, Start, Word},
};

fn published(epoch: u64, state: State, full: bool) -> (Word, State) {
    (Word::new(epoch, Mode::Automatic, state.circuit()).full(full), state)
}

fn half_open(secs: Option<u64>) -> State {
    State::HalfOpen { until: secs.map(Timestamp::from_secs) }
}

/// One thread goes through `story`, and another one looks twice meanwhile.
fn read_while_written(story: Vec<(Word, State)>) {
    explore(move || {
        let (first, then) = story.split_first().unwrap();
        let gate = Arc::new(Gate::new(first.0, first.1, Start::Coarsely));
        let (other, then) = (gate.clone(), then.to_vec());
        let writer =
            thread::spawn(move || then.iter().for_each(|(word, state)| other.publish(*word, *state)));
        for _ in 0..2 {
            if let Some((word, deadline)) = gate.read() {
                let fits =
                    |(of, state): &(Word, State)| of.plain() == word.plain() && state.until() == deadline;
                assert!(story.iter().any(fits), "{word:?} with {deadline:?}");
            }
        }
        writer.join().unwrap();
        let last = story.last().unwrap();
        let read = gate.read().map(|(word, deadline)| (word.plain(), deadline));
        assert_eq!(read, Some((last.0.plain(), last.1.until())));
    });
}

#[test]
fn from_closed_to_open_to_half_open() {
    read_while_written(vec![
        published(1, State::Closed, false),
        published(2, State::Open { until: Some(Timestamp::from_secs(10)) }, false),
        published(3, half_open(None), false),
    ]);
}

#[test]
fn a_place_that_is_taken_given_back_and_taken_again_in_one_epoch() {
    read_while_written(vec![
        published(3, half_open(Some(70)), true),
        published(3, half_open(None), false),
        published(3, half_open(Some(80)), true),
    ]);
}
