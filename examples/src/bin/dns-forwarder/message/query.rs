//! What a client asks.

use super::{HEADER, flag, rcode, walk};

const OPT: usize = 41;
/// Zone transfers: their answers have many messages.
const TRANSFERS: [usize; 2] = [251, 252];
/// An OPT record that says that EDNS is understood: root, type, 1232 bytes over UDP, no flags, no options.
const EDNS: [u8; 11] = [0, 0, OPT as u8, 0x04, 0xd0, 0, 0, 0, 0, 0, 0];

/// A query that can be forwarded, as the client sent it.
#[derive(Debug)]
pub(crate) struct Query {
    bytes: Box<[u8]>,
    /// Where the question ends.
    question: usize,
}

/// A message that can't be forwarded, and the answer that it deserves.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// None: it is no query. To answer an answer would start an endless exchange.
    Silence,
    /// This one.
    Answer(Vec<u8>),
}

impl Query {
    /// The query in a message.
    pub(crate) fn parse(message: &[u8]) -> Result<Self, Unfit> {
        if message.len() < HEADER || message[2] & flag::RESPONSE != 0 {
            return Err(Unfit::Silence);
        }
        let unfit = |code| Err(Unfit::Answer(refusal(message, None, code)));
        if message[2] & flag::OPCODE != 0 {
            return unfit(rcode::NOTIMP);
        }
        let question = walk::full_name(message, HEADER).filter(|end| end + 4 <= message.len());
        let (Some(name), Some(1)) = (question, walk::number(message, 4)) else {
            return unfit(rcode::FORMERR);
        };
        if walk::number(message, name).is_some_and(|kind| TRANSFERS.contains(&kind)) {
            return Err(Unfit::Answer(refusal(message, Some(name + 4), rcode::NOTIMP)));
        }
        Ok(Self { bytes: message.into(), question: name + 4 })
    }

    /// The same query under another id.
    pub(crate) fn with_id(&self, id: u16) -> Vec<u8> {
        let mut bytes = self.bytes.to_vec();
        bytes[..2].copy_from_slice(&id.to_be_bytes());
        bytes
    }

    /// The client's id.
    pub(crate) fn id(&self) -> [u8; 2] {
        [self.bytes[0], self.bytes[1]]
    }

    /// Name, type and class, as written.
    pub(super) fn question(&self) -> &[u8] {
        &self.bytes[HEADER..self.question]
    }

    /// The answer that nobody had one.
    pub(crate) fn servfail(&self) -> Vec<u8> {
        refusal(&self.bytes, Some(self.question), rcode::SERVFAIL)
    }
}

/// An answer without records, with the question (up to `question`) where there is a good one.
fn refusal(query: &[u8], question: Option<usize>, code: u8) -> Vec<u8> {
    let mut answer = query[..question.unwrap_or(HEADER)].to_vec();
    answer[2] = flag::RESPONSE | query[2] & (flag::OPCODE | flag::RECURSION_DESIRED);
    answer[3] = flag::RECURSION_AVAILABLE | code;
    answer[4..HEADER].fill(0);
    answer[5] = u8::from(question.is_some());
    if question.is_some_and(|question| has_edns(query, question)) {
        answer[11] = 1;
        answer.extend_from_slice(&EDNS);
    }
    answer
}

/// Whether there is an OPT record behind the question.
fn has_edns(query: &[u8], question: usize) -> bool {
    let count = |at| walk::number(query, at).unwrap_or(0);
    let mut at = question;
    for _ in 0..count(6) + count(8) + count(10) {
        match walk::record(query, at) {
            Some(record) if record.kind == OPT => return true,
            Some(record) => at = record.end,
            None => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests;
