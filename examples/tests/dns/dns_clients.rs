//! What clients get.

use hickory_net::proto::op::{Message, ResponseCode};
use tokio::net::UdpSocket;

use crate::kit::{Program, Server, Via, address, code, last_of, over_tcp, over_udp, raw_query, soon};

#[tokio::test]
async fn a_client_is_served_over_the_transport_that_it_asks_over() {
    let server = Server::start(|query, via| vec![address(query, if via == Via::Udp { 1 } else { 2 })]).await;
    let program = Program::with(&[server.address], "", &[]).await;
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(1));
    assert_eq!(last_of(&over_tcp(program.address, "example.org.").await), Some(2));
}

#[tokio::test]
async fn an_answer_that_was_cut_is_passed_on_and_is_whole_over_tcp() {
    let server = Server::start(|query, via| {
        if via == Via::Tcp {
            return vec![address(query, 7)];
        }
        let mut cut = query.clone().into_response();
        cut.metadata.truncation = true;
        vec![cut.to_vec().unwrap()]
    })
    .await;
    let program = Program::with(&[server.address], "", &[]).await;
    let answer = over_udp(program.address, "example.org.").await;
    assert!(answer.truncation && answer.answers.is_empty());
    let answer = over_tcp(program.address, "example.org.").await;
    assert_eq!((answer.truncation, last_of(&answer)), (false, Some(7)));
}

#[tokio::test]
async fn no_such_name_is_the_answer_and_nobody_else_is_asked() {
    let first = Server::start(|query, _| vec![code(query, ResponseCode::NXDomain)]).await;
    let second = Server::start(|query, _| vec![address(query, 2)]).await;
    let blocks = r#""circuitBreaker": { "failureThreshold": 1 }, "replicaPool": { "hedgeAfter": "20s" }"#;
    let program =
        Program::with(&[first.address, second.address], blocks, &["--attempt-timeout", "30s"]).await;
    for _ in 0..5 {
        let answer = over_udp(program.address, "nx.example.org.").await;
        assert_eq!(answer.response_code, ResponseCode::NXDomain);
    }
    assert_eq!((first.seen().len(), second.seen().len()), (5, 0));
}

#[tokio::test]
async fn queries_and_answers_pass_untouched_but_for_their_ids() {
    let server = Server::start(|query, _| vec![address(query, 1)]).await;
    let program = Program::with(&[server.address], "", &[]).await;
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    // An EDNS record with an option that nobody knows, and upper case.
    let mut query = raw_query("ExAmple.org.", 4711);
    query[11] = 1;
    query.extend_from_slice(&[0, 0, 41, 4, 0xd0, 0, 0, 0x80, 0, 0, 8, 0xff, 0xaa, 0, 4, 1, 2, 3, 4]);
    socket.send_to(&query, program.address).await.unwrap();
    let mut buffer = [0; 1_000];
    let length = soon("an answer", socket.recv(&mut buffer)).await.unwrap();
    assert_eq!(server.seen()[0].bytes[2..], query[2..]);
    let answer = address(&Message::from_vec(&query).unwrap(), 1);
    assert_eq!(buffer[..length], answer);
    assert_eq!(Message::from_vec(&answer).unwrap().id, 4711);
}

#[tokio::test]
async fn when_nobody_answers_the_answer_is_servfail() {
    let server = crate::kit::silent().await;
    let program =
        Program::with(&[server.address], "", &["--attempt-timeout", "50ms", "--deadline", "100ms"]).await;
    for answer in
        [over_udp(program.address, "example.org.").await, over_tcp(program.address, "example.org.").await]
    {
        assert_eq!(answer.response_code, ResponseCode::ServFail);
        assert!(answer.recursion_available && answer.edns.is_some());
    }
}

#[tokio::test]
async fn more_queries_than_may_be_in_flight_are_answered_with_servfail_at_once() {
    let (hold, held) = tokio::sync::watch::channel(true);
    let server = Server::start(move |query, _| {
        // Late enough: it is sent when the test says so, by the next query.
        if *held.borrow() { Vec::new() } else { vec![address(query, 1)] }
    })
    .await;
    let patient = ["--in-flight", "1", "--attempt-timeout", "30s", "--deadline", "30s"];
    let program = Program::with(&[server.address], "", &patient).await;
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.send_to(&raw_query("held.example.org.", 1), program.address).await.unwrap();
    let arrived = async {
        while server.seen().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    soon("the first query", arrived).await;
    for answer in
        [over_udp(program.address, "example.org.").await, over_tcp(program.address, "example.org.").await]
    {
        assert_eq!(answer.response_code, ResponseCode::ServFail);
    }
    assert_eq!(server.seen().len(), 1, "no server was bothered with them");
    hold.send(false).unwrap();
}
