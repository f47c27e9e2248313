//! Where tokio alone knows how to wait for a socket.

use std::{io, net::SocketAddr};

use tokio::io::{Interest, Ready};

pub(super) type Raw = tokio::net::UdpSocket;

#[derive(Debug)]
pub(super) struct Waited(Raw);

impl Waited {
    pub(super) fn new(socket: std::net::UdpSocket) -> io::Result<Self> {
        Raw::from_std(socket).map(Self)
    }

    pub(super) fn raw(&self) -> &Raw {
        &self.0
    }

    pub(super) async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        self.0.ready(interest).await
    }

    pub(super) async fn read<T>(&self, mut read: impl FnMut(&Raw) -> io::Result<T>) -> io::Result<T> {
        self.0.async_io(Interest::READABLE, || read(&self.0)).await
    }

    pub(super) fn try_io<T>(
        &self,
        interest: Interest,
        work: impl FnOnce(&Raw) -> io::Result<T>,
    ) -> io::Result<T> {
        self.0.try_io(interest, || work(&self.0))
    }
}

pub(super) fn recv(socket: &Raw, buffer: &mut [u8]) -> io::Result<usize> {
    socket.try_recv(buffer)
}

pub(super) fn recv_from(socket: &Raw, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
    socket.try_recv_from(buffer)
}

pub(super) fn send(socket: &Raw, message: &[u8]) -> io::Result<usize> {
    socket.try_send(message)
}

pub(super) fn send_to(socket: &Raw, message: &[u8], to: SocketAddr) -> io::Result<usize> {
    socket.try_send_to(message, to)
}
