//! The program, its clients and its servers.

mod client;
mod program;
mod server;

use std::{future::Future, str::FromStr as _, time::Duration};

use hickory_net::proto::{
    op::{Message, ResponseCode},
    rr::{Name, RData, Record, rdata::A},
};

pub(crate) use client::{over_tcp, over_udp, raw_query};
pub(crate) use program::{Program, fresh_file};
pub(crate) use server::{Server, Via, silent};

/// What has not happened by then will not happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits for what must come.
pub(crate) async fn soon<T>(what: &str, event: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, event).await.unwrap_or_else(|_| panic!("{what}: it did not come"))
}

pub(crate) fn name(text: &str) -> Name {
    Name::from_str(text).unwrap()
}

/// The answer to a query for an address.
pub(crate) fn address(query: &Message, last: u8) -> Vec<u8> {
    let mut answer = query.clone().into_response();
    let data = RData::A(A::new(192, 0, 2, last));
    answer.add_answer(Record::from_rdata(query.queries[0].name().clone(), 60, data));
    answer.to_vec().unwrap()
}

/// An answer without records.
pub(crate) fn code(query: &Message, code: ResponseCode) -> Vec<u8> {
    let mut answer = query.clone().into_response();
    answer.metadata.response_code = code;
    answer.to_vec().unwrap()
}

/// The last byte of the address that an answer holds.
pub(crate) fn last_of(answer: &Message) -> Option<u8> {
    match &answer.answers.first()?.data {
        RData::A(address) => Some(address.octets()[3]),
        _ => None,
    }
}
