//! What people send who mean harm, or know no better. Nobody else is to notice.

use std::net::SocketAddr;

use hickory_net::proto::op::{Message, ResponseCode};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, UdpSocket},
};

use crate::kit::{Program, Server, address, last_of, over_tcp, over_udp, raw_query, silent, soon};

async fn good(last: u8) -> Server {
    Server::start(move |query, _| vec![address(query, last)]).await
}

/// Messages that are wrong in many ways, the same in each run.
fn malformed() -> Vec<Vec<u8>> {
    let query = raw_query("example.org.", 1);
    let cut = (0..query.len()).map(|length| query[..length].to_vec());
    let mut random = 1_u32;
    let mut byte = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 24) as u8
    };
    let noise: Vec<_> = (0..300).map(|length| (0..length).map(|_| byte()).collect()).collect();
    let loops = [&query[..12], &[0xc0, 12, 0, 1, 0, 1]].concat();
    let endless = [&query[..12], &[63; 400]].concat();
    cut.chain(noise).chain([loops, endless, vec![0xff; 9_000]]).collect()
}

#[tokio::test]
async fn malformed_messages_hurt_nobody() {
    let server = good(1).await;
    let mut program = Program::with(&[server.address], "", &[]).await;
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    for message in malformed() {
        socket.send_to(&message, program.address).await.unwrap();
        let mut stream = TcpStream::connect(program.address).await.unwrap();
        stream.write_u16(message.len() as u16).await.unwrap();
        stream.write_all(&message).await.unwrap();
    }
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(1));
    assert_eq!(last_of(&over_tcp(program.address, "example.org.").await), Some(1));
    #[cfg(unix)]
    program.end().await;
}

#[tokio::test]
async fn a_question_that_can_not_be_read_is_a_format_error_and_an_answer_is_not_answered() {
    let server = good(1).await;
    let program = Program::with(&[server.address], "", &[]).await;
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let mut answer = raw_query("example.org.", 1);
    answer[2] |= 0x80;
    socket.send_to(&answer, program.address).await.unwrap();
    socket.send_to(&raw_query("example.org.", 2)[..14], program.address).await.unwrap();
    let mut buffer = [0; 1_000];
    let length = soon("an answer", socket.recv(&mut buffer)).await.unwrap();
    let answer = Message::from_vec(&buffer[..length]).unwrap();
    assert_eq!((answer.id, answer.response_code), (2, ResponseCode::FormErr));
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn answers_under_wrong_ids_are_dropped_however_many_they_are() {
    let server = Server::start(|query, _| {
        let answer = |id: u16, last| {
            let mut query = query.clone();
            query.metadata.id = id;
            address(&query, last)
        };
        (1..=150).map(|step| answer(query.id.wrapping_add(step), 66)).chain([answer(query.id, 1)]).collect()
    })
    .await;
    let program =
        Program::with(&[server.address], "", &["--attempt-timeout", "30s", "--deadline", "30s"]).await;
    for _ in 0..5 {
        assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(1));
    }
}

#[tokio::test]
async fn an_answer_to_another_question_is_a_failure_and_the_next_server_is_asked() {
    let first = Server::start(|query, _| {
        let mut other = query.clone();
        other.queries[0].set_name(crate::kit::name("other.example.org."));
        vec![address(&other, 66)]
    })
    .await;
    let second = good(2).await;
    let blocks = r#""circuitBreaker": { "failureThreshold": 1, "testDelay": "PT1H" },
                    "replicaPool": { "attemptTimeout": "1h", "hedgeAfter": "1h", "deadline": "1h" }"#;
    let mut program = Program::with(&[first.address, second.address], blocks, &[]).await;
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(2));
    program.says(&format!("{} over UDP: closed -> open", first.address)).await;
    assert_eq!(last_of(&over_tcp(program.address, "example.org.").await), Some(2));
    program.says(&format!("{} over TCP: closed -> open", first.address)).await;
}

#[tokio::test]
async fn an_answer_from_a_stranger_is_dropped() {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let stranger = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let program = Program::with(&[server.local_addr().unwrap()], "", &["--attempt-timeout", "30s"]).await;
    let client = tokio::spawn(over_udp(program.address, "example.org."));
    let mut buffer = [0; 1_000];
    let (length, forwarder) = soon("a query", server.recv_from(&mut buffer)).await.unwrap();
    let query = Message::from_vec(&buffer[..length]).unwrap();
    stranger.send_to(&address(&query, 66), forwarder).await.unwrap();
    server.send_to(&address(&query, 1), forwarder).await.unwrap();
    assert_eq!(last_of(&client.await.unwrap()), Some(1));
}

#[tokio::test]
async fn messages_of_64_kib_pass_over_tcp() {
    let server = Server::start(|query, _| {
        let mut answer = query.clone().into_response();
        answer.edns = None;
        vec![padded(answer.to_vec().unwrap())]
    })
    .await;
    let program = Program::with(&[server.address], "", &[]).await;
    let query = padded(raw_query("example.org.", 9));
    let mut stream = TcpStream::connect(program.address).await.unwrap();
    stream.write_u16(65_535).await.unwrap();
    stream.write_all(&query).await.unwrap();
    let length = soon("an answer", stream.read_u16()).await.unwrap();
    let mut answer = vec![0; length.into()];
    soon("the rest of it", stream.read_exact(&mut answer)).await.unwrap();
    assert_eq!((answer.len(), &answer[..2]), (65_535, &query[..2]));
    assert_eq!(server.seen()[0].bytes[2..], query[2..]);
}

/// The message with an EDNS record that fills it up to 64 KiB.
fn padded(mut message: Vec<u8>) -> Vec<u8> {
    message[11] = 1;
    let options = 65_535 - message.len() - 11;
    message.extend_from_slice(&[0, 0, 41, 4, 0xd0, 0, 0, 0, 0]);
    message.extend_from_slice(&(options as u16).to_be_bytes());
    message.extend_from_slice(&[0, 12]);
    message.extend_from_slice(&(options as u16 - 4).to_be_bytes());
    message.resize(65_535, 0);
    message
}

#[tokio::test]
async fn clients_that_send_a_byte_and_wait_keep_nobody_out() {
    let server = good(1).await;
    let program = Program::with(&[server.address], "", &["--connections", "2", "--idle-timeout", "1h"]).await;
    let mut waiting = Vec::new();
    for _ in 0..3 {
        waiting.push(one_byte(program.address).await);
    }
    assert_eq!(last_of(&over_tcp(program.address, "example.org.").await), Some(1));
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(1));
    assert_closed(&mut waiting[0]).await;
    assert_closed(&mut waiting[1]).await;
}

#[tokio::test]
async fn a_client_that_sends_a_byte_and_waits_is_let_go() {
    let server = good(1).await;
    let program = Program::with(&[server.address], "", &["--idle-timeout", "0.1s"]).await;
    let mut client = one_byte(program.address).await;
    assert_closed(&mut client).await;
}

async fn one_byte(program: SocketAddr) -> TcpStream {
    let mut client = TcpStream::connect(program).await.unwrap();
    client.write_all(&[0]).await.unwrap();
    client
}

async fn assert_closed(client: &mut TcpStream) {
    let read = soon("the end of the connection", client.read(&mut [0; 10])).await;
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
}

#[tokio::test]
async fn many_queries_come_over_one_connection_and_a_client_that_reads_none_of_the_answers_is_not_in_the_way()
{
    let server = good(1).await;
    let program = Program::with(&[server.address], "", &[]).await;
    let mut stream = TcpStream::connect(program.address).await.unwrap();
    let mut queries = Vec::new();
    for id in 0..100_u16 {
        let query = raw_query("example.org.", id);
        queries.extend_from_slice(&(query.len() as u16).to_be_bytes());
        queries.extend_from_slice(&query);
    }
    stream.write_all(&queries).await.unwrap();
    assert_eq!(last_of(&over_tcp(program.address, "example.org.").await), Some(1));
    let mut ids = Vec::new();
    for _ in 0..100 {
        let mut answer = vec![0; soon("an answer", stream.read_u16()).await.unwrap().into()];
        stream.read_exact(&mut answer).await.unwrap();
        ids.push(u16::from_be_bytes([answer[0], answer[1]]));
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..100).collect::<Vec<_>>());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn queries_that_nobody_answers_leave_nothing_behind() {
    let server = silent().await;
    let arguments = ["--attempt-timeout", "20ms", "--deadline", "20ms"];
    let blocks = r#""circuitBreaker": { "strategy": "NON_RESILIENT" }"#;
    let program = Program::with(&[server.address], blocks, &arguments).await;
    let round = async || {
        let queries = (0..300).map(|_| over_udp(program.address, "example.org."));
        for answer in futures::future::join_all(queries).await {
            assert_eq!(answer.response_code, ResponseCode::ServFail);
        }
        program.open_files()
    };
    let before = round().await;
    let after = round().await;
    // A socket lives for as long as one of its queries: some of the last ones may be ending.
    assert!(after <= before + 32, "{before} files were open, and {after} are");
}
