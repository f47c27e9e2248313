//! What servers do, and what becomes of them.

use std::{
    collections::HashSet,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hickory_net::proto::op::ResponseCode;
use tokio::net::UdpSocket;

use crate::kit::{Program, Server, address, code, last_of, over_tcp, over_udp, silent};

/// One failure opens a circuit.
const STRICT: &str = r#""circuitBreaker": { "failureThreshold": 1, "testDelay": "PT1H" }"#;

async fn good(last: u8) -> Server {
    Server::start(move |query, _| vec![address(query, last)]).await
}

#[tokio::test]
async fn the_first_query_is_answered_although_the_first_server_is_dead() {
    let (dead, well) = (silent().await, good(2).await);
    for strategy in ["STATIC_THRESHOLD", "CANARY_RATE_THRESHOLD"] {
        let blocks = format!(r#""circuitBreaker": {{ "strategy": "{strategy}" }}"#);
        let servers = [dead.address, well.address];
        let program = Program::with(&servers, &blocks, &["--attempt-timeout", "300ms"]).await;
        assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(2), "{strategy}");
        let program = Program::with(&servers, &blocks, &["--attempt-timeout", "300ms"]).await;
        assert_eq!(last_of(&over_tcp(program.address, "example.org.").await), Some(2), "{strategy}");
    }
}

#[tokio::test]
async fn a_refusal_goes_to_the_next_server_and_is_no_evidence() {
    for refusal in [ResponseCode::ServFail, ResponseCode::Refused, ResponseCode::NotImp] {
        let first = Server::start(move |query, _| vec![code(query, refusal)]).await;
        let second = good(2).await;
        let mut program = Program::with(&[first.address, second.address], STRICT, &[]).await;
        for _ in 0..5 {
            assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(2));
        }
        assert_eq!(first.seen().len(), 5, "its circuit is closed, it is asked first");
        assert!(!program.said().iter().any(|line| line.contains("->")));
    }
}

#[tokio::test]
async fn the_refusal_of_all_servers_is_passed_on() {
    let refuse = |query: &_, _| vec![code(query, ResponseCode::Refused)];
    let servers = [Server::start(refuse).await, Server::start(refuse).await];
    let program = Program::with(&servers.each_ref().map(|server| server.address), STRICT, &[]).await;
    let answer = over_udp(program.address, "example.org.").await;
    assert_eq!(answer.response_code, ResponseCode::Refused);
    assert_eq!(servers.map(|server| server.seen().len()), [1, 1]);
}

#[tokio::test]
async fn a_port_that_refuses_is_a_failure_and_is_noticed_at_once() {
    let (refusing, _held) = refusing_port().await;
    let well = good(2).await;
    let patient = ["--attempt-timeout", "1h", "--deadline", "1h"];
    let blocks = format!(r#"{STRICT}, "replicaPool": {{ "hedgeAfter": "1h" }}"#);
    let mut program = Program::with(&[refusing, well.address], &blocks, &patient).await;
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(2));
    program.says(&format!("{refusing} over UDP: closed -> open")).await;
    assert_eq!(last_of(&over_tcp(program.address, "example.org.").await), Some(2));
    program.says(&format!("{refusing} over TCP: closed -> open")).await;
}

#[tokio::test]
async fn a_server_without_tcp_keeps_its_place_over_udp() {
    let first = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let first_address = first.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 1_000];
        while let Ok((length, client)) = first.recv_from(&mut buffer).await {
            let query = hickory_net::proto::op::Message::from_vec(&buffer[..length]).unwrap();
            first.send_to(&address(&query, 1), client).await.unwrap();
        }
    });
    let second = good(2).await;
    let mut program = Program::with(&[first_address, second.address], STRICT, &[]).await;
    assert_eq!(last_of(&over_tcp(program.address, "example.org.").await), Some(2));
    program.says(&format!("{first_address} over TCP: closed -> open")).await;
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(1));
}

#[tokio::test]
async fn a_server_that_recovers_gets_its_traffic_back_after_a_query_over_the_real_transport() {
    let well = Arc::new(AtomicBool::new(false));
    let state = Arc::clone(&well);
    let first =
        Server::start(
            move |query, _| {
                if state.load(Ordering::Relaxed) { vec![address(query, 1)] } else { Vec::new() }
            },
        )
        .await;
    let second = good(2).await;
    let blocks = r#""circuitBreaker": { "strategy": "CANARY_RATE_THRESHOLD", "canaryInterval": "0.1s",
                                        "canaryTimeout": "0.1s", "canaryAttempts": 1 }"#;
    let mut program = Program::with(&[first.address, second.address], blocks, &[]).await;
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(2));
    well.store(true, Ordering::Relaxed);
    program
        .says(&format!("{} over UDP: open -> half_open: a probe found the remote healthy", first.address))
        .await;
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(1));
    let canary = first.seen().into_iter().find(|seen| seen.bytes.len() == 17);
    assert!(canary.is_some(), "it was asked for the name servers of the root");
}

#[tokio::test]
async fn the_only_server_is_asked_although_its_circuit_is_open() {
    let well = Arc::new(AtomicBool::new(false));
    let state = Arc::clone(&well);
    let server = Server::start(move |query, _| {
        let answer = address(query, 1);
        // At first it breaks off.
        vec![if state.load(Ordering::Relaxed) { answer } else { answer[..20].to_vec() }]
    })
    .await;
    let mut program = Program::with(&[server.address], STRICT, &[]).await;
    let answer = over_udp(program.address, "example.org.").await;
    assert_eq!(answer.response_code, ResponseCode::ServFail);
    program.says("closed -> open").await;
    well.store(true, Ordering::Relaxed);
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(1));
}

#[tokio::test]
async fn each_query_goes_from_a_random_port_under_a_random_id() {
    let server = good(1).await;
    let program = Program::with(&[server.address], "", &[]).await;
    for _ in 0..200 {
        over_udp(program.address, "example.org.").await;
    }
    let seen = server.seen();
    let ports: HashSet<_> = seen.iter().map(|seen| seen.from.port()).collect();
    let ids: HashSet<_> = seen.iter().map(|seen| [seen.bytes[0], seen.bytes[1]]).collect();
    // Of 256 ports, 200 draws find 139 on average; fewer than 100 come less often than once in 10^15 runs.
    assert!(ports.len() >= 100, "{} ports", ports.len());
    assert!(ids.len() >= 190, "{} ids", ids.len());
}

/// A port that refuses, held so that nobody else takes it: it belongs to a socket that talks with another.
async fn refusing_port() -> (SocketAddr, UdpSocket) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.connect("127.0.0.1:9").await.unwrap();
    (socket.local_addr().unwrap(), socket)
}
