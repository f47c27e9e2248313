use std::{net::SocketAddr, time::Duration};

use hickory_net::{
    proto::{
        op::{DnsRequestOptions, Message, Query},
        rr::RecordType,
    },
    runtime::TokioRuntimeProvider,
    tcp::TcpClientStream,
    udp::UdpClientStream,
    xfer::{DnsExchange, DnsHandle as _, FirstAnswer as _},
};

use super::{name, soon};

const TIMEOUT: Duration = Duration::from_secs(30);

/// Asks for the address of `host` over UDP, once.
pub(crate) async fn over_udp(server: SocketAddr, host: &str) -> Message {
    let runtime = TokioRuntimeProvider::new(); // what works for the client ends with it
    let stream = UdpClientStream::builder(server, runtime.clone());
    ask(&stream.with_timeout(Some(TIMEOUT)).with_max_retries(0).exchange(), host).await
}

/// Asks for the address of `host` over TCP.
pub(crate) async fn over_tcp(server: SocketAddr, host: &str) -> Message {
    let runtime = TokioRuntimeProvider::new();
    let exchange = TcpClientStream::exchange(server, None, TIMEOUT, None, runtime.clone());
    ask(&soon("a connection", exchange).await.unwrap(), host).await
}

async fn ask(exchange: &DnsExchange<TokioRuntimeProvider>, host: &str) -> Message {
    let mut options = DnsRequestOptions::default();
    options.use_edns = true;
    let query = Query::query(name(host), RecordType::A);
    soon("an answer", exchange.lookup(query, options).first_answer()).await.unwrap().into()
}

/// A query as bytes, for tests that send it themselves.
pub(crate) fn raw_query(host: &str, id: u16) -> Vec<u8> {
    let mut query = Message::query();
    query.metadata.id = id;
    query.metadata.recursion_desired = true;
    query.add_query(Query::query(name(host), RecordType::A));
    query.to_vec().unwrap()
}
