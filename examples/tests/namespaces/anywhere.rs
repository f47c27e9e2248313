//! Faults that need no rights: a listener whose backlog is full, so that connecting hangs, and a UDP socket that nobody
//! reads.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpStream as StdStream, UdpSocket as StdUdp},
    time::Duration,
};

use breaker_core::Circuit;
use examples::sockets::reserve;
use replica_pool::{FixedList, ReplicaPool, config::Config};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

const LOCAL: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// In the order of the list, so that the faulty one is asked first for as long as its circuit lets it.
const SETTINGS: &str = r#"{ "circuitBreaker": { "failureThreshold": 3, "testDelay": "1h" },
    "replicaPool": { "order": "listed", "attemptTimeout": "500ms", "deadline": "30s" } }"#;

fn pool(addresses: [SocketAddr; 2]) -> ReplicaPool<SocketAddr> {
    let config = Config::from_text("settings", SETTINGS).unwrap();
    ReplicaPool::builder(FixedList::new(addresses)).config(config).build().unwrap()
}

/// The first three requests find out, and the circuit knows for the rest.
async fn is_avoided_after_three_attempts(
    addresses: [SocketAddr; 2],
    attempt: impl AsyncFn(SocketAddr) -> io::Result<()>,
) {
    let pool = pool(addresses);
    let asked = std::cell::Cell::new(0);
    for _ in 0..20 {
        let call = pool.request().idempotent(true).call(|candidate| {
            let address = *candidate.address();
            asked.set(asked.get() + u32::from(address == addresses[0]));
            attempt(address)
        });
        call.await.unwrap();
    }
    assert_eq!(asked.get(), 3);
    assert_eq!(pool.replicas().replicas()[0].breaker().status().circuit, Circuit::Open);
}

#[tokio::test]
async fn a_listener_whose_backlog_is_full_is_left_alone() {
    // It takes one connection, or a few; then connecting hangs.
    let full = reserve(LOCAL.into()).unwrap().listen(0).unwrap();
    let hangs = full.local_addr().unwrap();
    let mut held = Vec::new();
    while let Ok(stream) = StdStream::connect_timeout(&hangs, Duration::from_millis(500)) {
        held.push(stream);
        assert!(held.len() < 100, "the backlog does not fill");
    }
    let good = TcpListener::bind(LOCAL).await.unwrap();
    let addresses = [hangs, good.local_addr().unwrap()];
    is_avoided_after_three_attempts(addresses, async |address| TcpStream::connect(address).await.map(drop))
        .await;
}

#[tokio::test]
async fn a_udp_socket_that_nobody_reads_is_left_alone() {
    let silent = StdUdp::bind(LOCAL).unwrap();
    let good = UdpSocket::bind(LOCAL).await.unwrap();
    let addresses = [silent.local_addr().unwrap(), good.local_addr().unwrap()];
    tokio::spawn(async move {
        let mut buffer = [0; 16];
        while let Ok((length, client)) = good.recv_from(&mut buffer).await {
            let _ = good.send_to(&buffer[..length], client).await;
        }
    });
    let ask = async |address| {
        let socket = UdpSocket::bind(LOCAL).await?;
        socket.connect(address).await?;
        socket.send(b"?").await?;
        socket.recv(&mut [0; 16]).await.map(drop)
    };
    is_avoided_after_three_attempts(addresses, ask).await;
}
