//! Where a socket is a file that can be waited for as one likes.

use std::{io, net::SocketAddr};

use tokio::io::{Interest, Ready, unix::AsyncFd};

pub(super) type Raw = std::net::UdpSocket;

#[derive(Debug)]
pub(super) struct Waited(AsyncFd<Raw>);

impl Waited {
    pub(super) fn new(socket: Raw) -> io::Result<Self> {
        #[expect(
            deprecated,
            reason = "its successor is unsafe, for types whose descriptor may change; this one's does not"
        )]
        AsyncFd::with_interest(socket, Interest::READABLE).map(Self)
    }

    pub(super) fn raw(&self) -> &Raw {
        self.0.get_ref()
    }

    pub(super) async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        Ok(self.0.ready(interest).await?.ready())
    }

    pub(super) async fn read<T>(&self, read: impl FnMut(&Raw) -> io::Result<T>) -> io::Result<T> {
        self.0.async_io(Interest::READABLE, read).await
    }

    pub(super) fn try_io<T>(
        &self,
        interest: Interest,
        work: impl FnOnce(&Raw) -> io::Result<T>,
    ) -> io::Result<T> {
        self.0.try_io(interest, work)
    }
}

pub(super) fn recv(socket: &Raw, buffer: &mut [u8]) -> io::Result<usize> {
    socket.recv(buffer)
}

pub(super) fn recv_from(socket: &Raw, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
    socket.recv_from(buffer)
}

pub(super) fn send(socket: &Raw, message: &[u8]) -> io::Result<usize> {
    socket.send(message)
}

pub(super) fn send_to(socket: &Raw, message: &[u8], to: SocketAddr) -> io::Result<usize> {
    socket.send_to(message, to)
}
