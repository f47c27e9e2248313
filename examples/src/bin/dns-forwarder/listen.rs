//! Where clients ask.

mod seats;
mod tcp;
mod udp;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use socket2::{Domain, Protocol, Type};
use tokio::net::TcpListener;

use crate::{forward::Forwarder, socket::Socket};
use seats::Seats;

/// What clients may do over TCP.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) connections: usize,
    pub(crate) idle_timeout: Duration,
}

/// The sockets for one address.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    udp: Socket,
    tcp: TcpListener,
}

impl Listener {
    /// Takes the address for UDP and TCP. Port 0 stands for any that is free for both.
    pub(crate) async fn bind(address: SocketAddr) -> io::Result<Self> {
        let (address, udp, tcp) = sockets(address).await?;
        Ok(Self { address, udp, tcp })
    }

    /// Serves clients until the runtime ends.
    pub(crate) fn serve(self, forwarder: &Arc<Forwarder>, limits: &Limits) {
        let seats = Seats::new(limits.connections);
        tokio::spawn(udp::serve(Arc::new(self.udp), Arc::clone(forwarder)));
        tokio::spawn(tcp::serve(self.tcp, Arc::clone(forwarder), seats, limits.idle_timeout));
    }
}

/// The sockets for `address`, and the address that they have.
pub(crate) async fn sockets(address: SocketAddr) -> io::Result<(SocketAddr, Socket, TcpListener)> {
    let mut tries = if address.port() == 0 { 16 } else { 1 };
    loop {
        let udp = udp_socket(address)?;
        let bound = udp.local_addr()?;
        tries -= 1;
        match TcpListener::bind(bound).await {
            Ok(tcp) => return Ok((bound, udp, tcp)),
            Err(error) if tries == 0 => return Err(error),
            Err(_) => {}
        }
    }
}

/// A socket that holds bursts of some thousand queries, where the system allows it.
fn udp_socket(address: SocketAddr) -> io::Result<Socket> {
    const BUFFER: usize = 4 << 20;
    let socket = socket2::Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    let _ = socket.set_recv_buffer_size(BUFFER);
    let _ = socket.set_send_buffer_size(BUFFER);
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&address.into())?;
    Socket::new(socket.into())
}
