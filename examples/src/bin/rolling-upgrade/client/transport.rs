//! Connections to replicas: kept open and used again, as real clients do.

mod meter;

pub use meter::Meter;

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{Mutex, PoisonError},
};

use tokio::net::TcpStream;

use crate::wire::{Ask, Reply};

/// Idle connections by address. A request takes one or opens a new one, and gives it back when its reply
/// has come; one that failed, or was given up, is closed. So a connection to a replica that died breaks
/// under the next request that takes it.
#[derive(Debug)]
pub struct Transport {
    idle: Mutex<HashMap<SocketAddr, Vec<TcpStream>>>,
    meter: Meter,
}

impl Transport {
    /// No connections yet; every attempt is counted by `meter`.
    pub fn new(meter: Meter) -> Self {
        Self { idle: Mutex::default(), meter }
    }

    /// What was counted.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// One attempt: sends `ask` to `address` and waits for the reply, however long it takes.
    ///
    /// # Errors
    ///
    /// When the connection is refused or breaks.
    pub async fn exchange(&self, address: SocketAddr, ask: Ask) -> io::Result<Reply> {
        self.meter.starts(address, ask.purpose);
        let stream = match self.take(address) {
            Some(stream) => stream,
            None => connect(address).await?,
        };
        self.over(stream, address, ask).await
    }

    /// As [`Transport::exchange`], always over a new connection, which is kept for later requests.
    ///
    /// # Errors
    ///
    /// When the connection is refused or breaks.
    pub async fn knock(&self, address: SocketAddr, ask: Ask) -> io::Result<Reply> {
        self.meter.starts(address, ask.purpose);
        self.over(connect(address).await?, address, ask).await
    }

    async fn over(&self, mut stream: TcpStream, address: SocketAddr, ask: Ask) -> io::Result<Reply> {
        ask.send(&mut stream).await?;
        let reply = Reply::receive(&mut stream, ask.request.id).await?;
        self.give_back(address, stream);
        Ok(reply)
    }

    fn take(&self, address: SocketAddr) -> Option<TcpStream> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.get_mut(&address)?.pop()
    }

    fn give_back(&self, address: SocketAddr, stream: TcpStream) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.entry(address).or_default().push(stream);
    }
}

async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
