//! The gate alone: a reader gets a word with the deadline that was written for it.

use std::sync::Arc;

use loom::thread;

use super::kit::explore_bounded;
use crate::{
    Mode, State, Timestamp,
    breaker::gate::{Gate, Word},
};

fn published(epoch: u64, state: State, full: bool) -> (Word, State) {
    (Word::new(epoch, Mode::Automatic, state.circuit()).full(full), state)
}

fn half_open(secs: Option<u64>) -> State {
    State::HalfOpen { until: secs.map(Timestamp::from_secs) }
}

/// One writer goes through `story`; two readers look meanwhile.
fn read_while_written(story: Vec<(Word, State)>) {
    explore_bounded(3, move || {
        let (first, then) = story.split_first().unwrap();
        let gate = Arc::new(Gate::new(first.0, first.1));
        let read = |gate: Arc<Gate>, story: Vec<(Word, State)>| {
            if let Some((word, deadline)) = gate.read() {
                let fits =
                    |(of, state): &(Word, State)| of.plain() == word.plain() && state.until() == deadline;
                assert!(story.iter().any(fits), "{word:?} with {deadline:?}");
            }
        };
        let other = (gate.clone(), story.clone());
        let reader = thread::spawn(move || read(other.0, other.1));
        let other = gate.clone();
        let then = then.to_vec();
        let writer =
            thread::spawn(move || then.iter().for_each(|(word, state)| other.publish(*word, *state)));
        read(gate.clone(), story.clone());
        reader.join().unwrap();
        writer.join().unwrap();
        let last = story.last().unwrap();
        assert!(
            gate.read()
                .is_some_and(|(word, deadline)| last.0.plain() == word.plain() && last.1.until() == deadline)
        );
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
