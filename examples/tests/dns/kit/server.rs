use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use hickory_net::proto::op::Message;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, UdpSocket},
};

/// How a query came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    Udp,
    Tcp,
}

/// A query as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) from: SocketAddr,
    pub(crate) bytes: Vec<u8>,
}

/// An upstream server that does what its test says.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Answers each query with the messages that `answers` gives for it.
    pub(crate) async fn start(
        answers: impl Fn(&Message, Via) -> Vec<Vec<u8>> + Clone + Send + Sync + 'static,
    ) -> Self {
        let (udp, tcp) = sockets().await;
        let server = Self { address: udp.local_addr().unwrap(), seen: Arc::default() };
        tokio::spawn(server.clone().serve_udp(udp, answers.clone()));
        tokio::spawn(server.clone().serve_tcp(tcp, answers));
        server
    }

    async fn serve_udp(self, socket: UdpSocket, answers: impl Fn(&Message, Via) -> Vec<Vec<u8>>) {
        let mut buffer = vec![0; 65_535];
        loop {
            // A client that is gone says so to the next.
            let Ok((length, from)) = socket.recv_from(&mut buffer).await else { continue };
            for answer in self.take(&buffer[..length], from, Via::Udp, &answers) {
                let _ = socket.send_to(&answer, from).await;
            }
        }
    }

    async fn serve_tcp(
        self,
        listener: TcpListener,
        answers: impl Fn(&Message, Via) -> Vec<Vec<u8>> + Clone + Send + Sync + 'static,
    ) {
        while let Ok((mut stream, from)) = listener.accept().await {
            let (server, answers) = (self.clone(), answers.clone());
            tokio::spawn(async move {
                while let Ok(length) = stream.read_u16().await {
                    let mut query = vec![0; length.into()];
                    stream.read_exact(&mut query).await.unwrap();
                    for answer in server.take(&query, from, Via::Tcp, &answers) {
                        stream.write_u16(answer.len().try_into().unwrap()).await.unwrap();
                        stream.write_all(&answer).await.unwrap();
                    }
                }
            });
        }
    }

    fn take(
        &self,
        bytes: &[u8],
        from: SocketAddr,
        via: Via,
        answers: impl Fn(&Message, Via) -> Vec<Vec<u8>>,
    ) -> Vec<Vec<u8>> {
        self.seen.lock().unwrap().push(Seen { from, bytes: bytes.to_vec() });
        answers(&Message::from_vec(bytes).unwrap(), via)
    }

    /// The queries so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn sockets() -> (UdpSocket, TcpListener) {
    loop {
        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
            return (udp, tcp);
        }
    }
}

/// A server that is there and never answers.
pub(crate) async fn silent() -> Server {
    Server::start(|_, _| Vec::new()).await
}
