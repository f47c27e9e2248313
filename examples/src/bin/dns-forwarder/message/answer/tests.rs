use std::str::FromStr as _;

use hickory_proto::{
    op::{Message, Query as Question},
    rr::{Name, RData, Record, RecordType, rdata::A},
};

use super::*;

fn asked(name: &str) -> Message {
    let mut message = Message::query();
    message.add_query(Question::query(Name::from_str(name).unwrap(), RecordType::A));
    message
}

fn answer(name: &str) -> Vec<u8> {
    let mut message = asked(name).into_response();
    let record = Record::from_rdata(Name::from_str(name).unwrap(), 60, RData::A(A::new(192, 0, 2, 1)));
    message.add_answer(record);
    message.to_vec().unwrap()
}

fn take(message: Vec<u8>) -> Result<Answer, Unanswered> {
    let query = Query::parse(&asked("example.org.").to_vec().unwrap()).unwrap();
    Answer::to(&query, message)
}

#[test]
fn an_answer_is_passed_on_as_it_came_under_the_clients_id() {
    let bytes = answer("Example.ORG.");
    let passed = take(bytes.clone()).unwrap().under([0x12, 0x34]);
    assert_eq!((&passed[..2], &passed[2..]), (&[0x12, 0x34][..], &bytes[2..]));
}

#[test]
fn an_answer_to_another_question_is_none() {
    assert!(matches!(take(answer("example.net.")), Err(Unanswered::Mismatched)));
    let query = asked("example.org.").to_vec().unwrap();
    assert!(matches!(take(query), Err(Unanswered::Mismatched)));
    let mut another_type = answer("example.org.");
    another_type[HEADER + 14] = 28;
    assert!(matches!(take(another_type), Err(Unanswered::Mismatched)));
}

#[test]
fn an_answer_that_breaks_off_is_malformed_unless_it_says_so() {
    let whole = answer("example.org.");
    for length in 0..whole.len() {
        let cut = whole[..length].to_vec();
        assert!(take(cut).is_err_and(|error| matches!(error, Unanswered::Malformed)), "{length}");
    }
    let mut cut = whole[..whole.len() - 2].to_vec();
    cut[2] |= flag::TRUNCATED;
    assert!(take(cut).is_ok());
}

#[test]
fn only_a_refusal_may_go_without_the_question() {
    let bare = |code| take(vec![0, 0, flag::RESPONSE, code, 0, 0, 0, 0, 0, 0, 0, 0]);
    for code in [rcode::FORMERR, rcode::SERVFAIL, rcode::NOTIMP, rcode::REFUSED] {
        assert!(bare(code).is_ok_and(|answer| answer.is_refusal()));
    }
    assert!(matches!(bare(0), Err(Unanswered::Mismatched)));
    assert!(matches!(bare(3), Err(Unanswered::Mismatched)));
}
