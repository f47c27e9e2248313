//! DNS messages as bytes. A forwarder needs the header and the question; the rest passes through as it came, so that
//! nothing is lost that this program does not know.

mod answer;
mod query;
mod walk;

pub(crate) use answer::{Answer, Unanswered};
pub(crate) use query::{Query, Unfit};

/// The length of a header.
pub(crate) const HEADER: usize = 12;

/// The longest message: over TCP its length is sent in two bytes.
pub(crate) const LONGEST: usize = u16::MAX as usize;

/// Response codes, as a header has them.
pub(crate) mod rcode {
    pub(crate) const FORMERR: u8 = 1;
    pub(crate) const SERVFAIL: u8 = 2;
    pub(crate) const NOTIMP: u8 = 4;
    pub(crate) const REFUSED: u8 = 5;
}

/// The bits of a header's third and fourth byte.
mod flag {
    /// Third byte: it is an answer.
    pub(super) const RESPONSE: u8 = 0x80;
    /// Third byte: the kind of question.
    pub(super) const OPCODE: u8 = 0x78;
    /// Third byte: it was cut.
    pub(super) const TRUNCATED: u8 = 0x02;
    /// Third byte: recursion is desired.
    pub(super) const RECURSION_DESIRED: u8 = 0x01;
    /// Fourth byte: recursion is available.
    pub(super) const RECURSION_AVAILABLE: u8 = 0x80;
    /// Fourth byte: the response code.
    pub(super) const RCODE: u8 = 0x0f;
}
