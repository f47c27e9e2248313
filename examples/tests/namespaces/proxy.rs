//! Stands before a replica and holds its answers back.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    time::sleep,
};

/// Passes everything on, each answer after a time.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    delay: watch::Sender<Duration>,
}

impl Proxy {
    /// One before `replica` that holds nothing back.
    pub(crate) async fn start(replica: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (delay, seen) = watch::channel(Duration::ZERO);
        tokio::spawn(async move {
            loop {
                let Ok((client, _)) = listener.accept().await else { continue };
                let Ok(replica) = TcpStream::connect(replica).await else { continue };
                let ((from_client, to_client), (from_replica, to_replica)) =
                    (client.into_split(), replica.into_split());
                tokio::spawn(pass(from_client, to_replica, watch::channel(Duration::ZERO).1));
                tokio::spawn(pass(from_replica, to_client, seen.clone()));
            }
        });
        Self { address, delay }
    }

    pub(crate) fn hold_back(&self, delay: Duration) {
        self.delay.send_replace(delay);
    }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, delay: watch::Receiver<Duration>) {
    let mut buffer = [0; 1_024];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let delay = *delay.borrow();
        sleep(delay).await;
        if to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}
