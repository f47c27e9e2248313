//! UDP sockets that are waited for only to read.
//!
//! Who waits for a socket to be writable too, as tokio's own UDP socket does from its start, is woken whenever a datagram
//! that went out was taken in: twice for each query, for nothing.

#[cfg_attr(not(unix), path = "socket/portable.rs")]
mod waited;

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    time::Duration,
};

use tokio::{io::Interest, time::sleep};

use waited::{Raw, Waited};

/// Until the next try where there is no room for what is to be sent.
const PAUSE: Duration = Duration::from_millis(1);

/// A UDP socket.
#[derive(Debug)]
pub(crate) struct Socket(Waited);

impl Socket {
    /// Takes over a bound socket.
    pub(crate) fn new(socket: UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Waited::new(socket).map(Self)
    }

    /// Where it is bound.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.raw().local_addr()
    }

    /// Waits for a message. Cancel safe.
    pub(crate) async fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.0.read(|raw| waited::recv_from(raw, buffer)).await
    }

    /// Sends a message, or waits until there is room for it.
    pub(crate) async fn send_to(&self, message: &[u8], to: SocketAddr) -> io::Result<()> {
        Self::insist(|| self.try_send_to(message, to)).await
    }

    /// Sends a message if there is room for it.
    pub(crate) fn try_send_to(&self, message: &[u8], to: SocketAddr) -> io::Result<()> {
        waited::send_to(self.0.raw(), message, to).map(drop)
    }

    /// Sends a message to whom the socket is connected, or waits until there is room for it.
    pub(crate) async fn send(&self, message: &[u8]) -> io::Result<()> {
        Self::insist(|| waited::send(self.0.raw(), message).map(drop)).await
    }

    async fn insist(mut send: impl FnMut() -> io::Result<()>) -> io::Result<()> {
        loop {
            match send() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(PAUSE).await,
                sent => return sent,
            }
        }
    }

    /// Waits until there is a message or an error; says whether there is an error. Cancel safe.
    pub(crate) async fn heard(&self) -> io::Result<bool> {
        Ok(self.0.ready(Interest::READABLE | Interest::ERROR).await?.is_error())
    }

    /// Takes messages by the function that is given to `take`, if there may be any. When `take` says that it would block,
    /// the socket counts as read empty.
    pub(crate) fn read(
        &self,
        take: impl FnOnce(&mut dyn FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<()>,
    ) {
        let _ = self.0.try_io(Interest::READABLE, |raw| take(&mut |buffer| waited::recv(raw, buffer)));
    }

    /// The error that there was, once.
    pub(crate) fn take_error(&self) -> Option<io::Error> {
        let mut error = None;
        let take = |raw: &Raw| {
            error = raw.take_error()?;
            Err::<(), _>(io::ErrorKind::WouldBlock.into())
        };
        let _ = self.0.try_io(Interest::ERROR, take);
        error
    }
}
