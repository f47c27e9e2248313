//! Ports that are kept.

use std::{io, net::SocketAddr};

use tokio::net::TcpSocket;

/// A bound socket that does not listen: connections to `address` are refused, and nobody else is given the port.
///
/// # Errors
///
/// When the address can't be had.
pub fn reserve(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}
