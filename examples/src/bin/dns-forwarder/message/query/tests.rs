use std::str::FromStr as _;

use hickory_proto::{
    op::{Edns, Message, MessageType, OpCode, Query as Question, ResponseCode},
    rr::{Name, RecordType},
};

use super::*;

fn asked(kind: RecordType) -> Message {
    let mut message = Message::query();
    message.metadata.id = 0x1234;
    message.metadata.recursion_desired = true;
    message.add_query(Question::query(Name::from_str("Example.org.").unwrap(), kind));
    message
}

fn answer_to(message: &[u8]) -> Message {
    let Err(Unfit::Answer(answer)) = Query::parse(message) else { panic!("it was not answered") };
    Message::from_vec(&answer).unwrap()
}

#[test]
fn a_query_is_passed_on_as_it_came_under_another_id() {
    let mut message = asked(RecordType::AAAA);
    message.set_edns(Edns::new());
    let bytes = message.to_vec().unwrap();
    let passed = Query::parse(&bytes).unwrap().with_id(0xabcd);
    assert_eq!(passed[..2], [0xab, 0xcd]);
    assert_eq!(passed[2..], bytes[2..]);
}

#[test]
fn an_answer_and_a_scrap_are_met_with_silence() {
    let mut answer = asked(RecordType::A);
    answer.metadata.message_type = MessageType::Response;
    assert_eq!(Query::parse(&answer.to_vec().unwrap()).unwrap_err(), Unfit::Silence);
    for length in 0..HEADER {
        assert_eq!(Query::parse(&vec![0; length]).unwrap_err(), Unfit::Silence);
    }
}

#[test]
fn what_is_not_understood_is_said_so() {
    let mut update = asked(RecordType::SOA);
    update.metadata.op_code = OpCode::Update;
    let answer = answer_to(&update.to_vec().unwrap());
    assert_eq!((answer.id, answer.op_code), (0x1234, OpCode::Update));
    assert_eq!(answer.response_code, ResponseCode::NotImp);
    let answer = answer_to(&asked(RecordType::AXFR).to_vec().unwrap());
    assert_eq!((answer.response_code, answer.queries.len()), (ResponseCode::NotImp, 1));
}

#[test]
fn a_question_that_is_cut_off_or_one_too_many_is_a_format_error() {
    let bytes = asked(RecordType::A).to_vec().unwrap();
    for length in HEADER..bytes.len() {
        assert_eq!(answer_to(&bytes[..length]).response_code, ResponseCode::FormErr, "{length}");
    }
    let mut two = bytes;
    two[5] = 2;
    assert_eq!(answer_to(&two).response_code, ResponseCode::FormErr);
}

#[test]
fn servfail_repeats_the_question_and_speaks_edns_with_those_who_do() {
    let plain = Query::parse(&asked(RecordType::A).to_vec().unwrap()).unwrap();
    let answer = Message::from_vec(&plain.servfail()).unwrap();
    assert_eq!((answer.id, answer.response_code), (0x1234, ResponseCode::ServFail));
    assert!(answer.recursion_desired && answer.recursion_available && !answer.truncation);
    assert_eq!(answer.queries, asked(RecordType::A).queries);
    assert!(answer.edns.is_none());

    let mut with_edns = asked(RecordType::A);
    with_edns.set_edns(Edns::new());
    let with_edns = Query::parse(&with_edns.to_vec().unwrap()).unwrap();
    let answer = Message::from_vec(&with_edns.servfail()).unwrap();
    assert_eq!(answer.edns.map(|edns| edns.max_payload()), Some(1232));
}
