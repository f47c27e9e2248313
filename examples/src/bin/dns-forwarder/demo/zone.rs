//! What the small servers know: an address for every name, and who answered.

use hickory_proto::{
    op::{Edns, Message, MessageType, ResponseCode},
    rr::{
        RData, Record, RecordType,
        rdata::{A, TXT},
    },
};

const TTL: u32 = 60;

/// The answer of server `number`: for any name the address 192.0.2.*number*, a text with the number, and nothing of other
/// types. Names that begin with `nx` don't exist.
pub(super) fn answer(query: &[u8], number: u8) -> Option<Vec<u8>> {
    let query = Message::from_vec(query).ok()?;
    if query.message_type != MessageType::Query {
        return None;
    }
    let mut answer = Message::response(query.id, query.op_code);
    answer.metadata.recursion_desired = query.recursion_desired;
    answer.metadata.recursion_available = true;
    if query.edns.is_some() {
        let mut edns = Edns::new();
        edns.set_max_payload(1232);
        answer.set_edns(edns);
    }
    let [question] = query.queries.as_slice() else { return None };
    answer.add_query(question.clone());
    let data = match question.query_type() {
        _ if question.name().iter().next().is_some_and(|label| label == b"nx") => {
            answer.metadata.response_code = ResponseCode::NXDomain;
            None
        }
        RecordType::A => Some(RData::A(A::new(192, 0, 2, number))),
        RecordType::TXT => Some(RData::TXT(TXT::new(vec![format!("server {number} answers")]))),
        _ => None,
    };
    if let Some(data) = data {
        answer.add_answer(Record::from_rdata(question.name().clone(), TTL, data));
    }
    answer.to_vec().ok()
}
