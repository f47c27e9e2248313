//! What an upstream server answers.

use std::io;

use super::{HEADER, Query, flag, rcode, walk};

/// An answer to the query that was asked, as the upstream server sent it.
#[derive(Debug)]
pub(crate) struct Answer(Vec<u8>);

/// Why an upstream server gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    /// The way there is broken: the port refuses, the network is down.
    #[error(transparent)]
    Network(#[from] io::Error),
    /// It sent something that is no DNS answer.
    #[error("the answer is malformed")]
    Malformed,
    /// It answered what nobody asked.
    #[error("the answer is to another question")]
    Mismatched,
}

impl Answer {
    /// Takes `message` for the answer to `query` if it is that. The ids were compared before.
    pub(crate) fn to(query: &Query, message: Vec<u8>) -> Result<Self, Unanswered> {
        if message.len() < HEADER {
            return Err(Unanswered::Malformed);
        }
        if message[2] & flag::RESPONSE == 0 || message[2] & flag::OPCODE != 0 {
            return Err(Unanswered::Mismatched);
        }
        let answer = Self(message);
        match walk::number(&answer.0, 4) {
            // Some servers don't repeat the question that they refuse.
            Some(0) if answer.is_refusal() => {}
            Some(1) => answer.repeats(query.question())?,
            _ => return Err(Unanswered::Mismatched),
        }
        Ok(answer)
    }

    fn repeats(&self, asked: &[u8]) -> Result<(), Unanswered> {
        let message = &self.0[..];
        let end = walk::full_name(message, HEADER).map(|name| name + 4).filter(|end| *end <= message.len());
        let question = end.and_then(|end| message.get(HEADER..end)).ok_or(Unanswered::Malformed)?;
        // Upper and lower case are the same; type and class have no letters that could be confused by it.
        if !same_question(question, asked) {
            return Err(Unanswered::Mismatched);
        }
        let cut = message[2] & flag::TRUNCATED != 0;
        if cut || self.records_are_whole(HEADER + question.len()) {
            Ok(())
        } else {
            Err(Unanswered::Malformed)
        }
    }

    fn records_are_whole(&self, mut at: usize) -> bool {
        let count = |at| walk::number(&self.0, at).unwrap_or(0);
        for _ in 0..count(6) + count(8) + count(10) {
            match walk::record(&self.0, at) {
                Some(record) => at = record.end,
                None => return false,
            }
        }
        true
    }

    /// What kind of answer it is.
    pub(crate) fn rcode(&self) -> u8 {
        self.0[3] & flag::RCODE
    }

    /// Whether the server would not, or could not, say: another one may.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self.rcode(), rcode::FORMERR | rcode::SERVFAIL | rcode::NOTIMP | rcode::REFUSED)
    }

    /// The answer under the client's id.
    pub(crate) fn under(mut self, id: [u8; 2]) -> Vec<u8> {
        self.0[..2].copy_from_slice(&id);
        self.0
    }
}

/// Whether two questions ask the same: names whatever their case, type and class as they are.
fn same_question(one: &[u8], other: &[u8]) -> bool {
    let (Some((name, rest)), Some((other_name, other_rest))) =
        (one.split_last_chunk::<4>(), other.split_last_chunk::<4>())
    else {
        return false;
    };
    rest == other_rest && name.eq_ignore_ascii_case(other_name)
}

#[cfg(test)]
mod tests;
