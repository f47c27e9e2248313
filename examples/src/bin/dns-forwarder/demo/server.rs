use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
};

use super::zone;
use crate::{frame, listen, message::LONGEST, socket::Socket};

/// A server that knows every name, over UDP and TCP, until it is told to be deaf.
#[derive(Clone, Debug)]
pub(crate) struct Server(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    number: u8,
    address: SocketAddr,
    udp: Socket,
    tcp: TcpListener,
    hears: AtomicBool,
}

impl Server {
    pub(crate) async fn bind(address: SocketAddr, number: u8) -> io::Result<Self> {
        let (address, udp, tcp) = listen::sockets(address).await?;
        Ok(Self(Arc::new(Inner { number, address, udp, tcp, hears: AtomicBool::new(true) })))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.address
    }

    /// Whether it takes notice of what it is sent.
    pub(crate) fn hear(&self, hears: bool) {
        self.0.hears.store(hears, Ordering::Relaxed);
    }

    /// Serves until the runtime ends.
    pub(crate) fn serve(self) {
        let over_tcp = self.clone();
        tokio::spawn(async move { self.serve_udp().await });
        tokio::spawn(async move {
            while let Ok((stream, _)) = over_tcp.0.tcp.accept().await {
                let server = over_tcp.clone();
                tokio::spawn(async move { server.converse(stream).await });
            }
        });
    }

    fn answer(&self, query: &[u8]) -> Option<Vec<u8>> {
        if self.0.hears.load(Ordering::Relaxed) { zone::answer(query, self.0.number) } else { None }
    }

    async fn serve_udp(&self) {
        let mut buffer = vec![0; LONGEST];
        while let Ok((length, client)) = self.0.udp.recv_from(&mut buffer).await {
            if let Some(answer) = self.answer(&buffer[..length]) {
                let _ = self.0.udp.send_to(&answer, client).await;
            }
        }
    }

    async fn converse(&self, mut stream: TcpStream) {
        while let Ok(Some(query)) = frame::read(&mut stream).await {
            let Some(answer) = self.answer(&query) else { continue };
            if stream.write_all(&frame::framed(&answer)).await.is_err() {
                return;
            }
        }
    }
}
