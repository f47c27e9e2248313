//! Connections to replicas: kept open and used again, as real clients do.

use std::{
    collections::HashMap,
    fmt, io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::net::TcpStream;

use crate::wire::{Ask, Purpose, Reply};

/// Is told of attempts.
pub trait Watcher: fmt::Debug + Send + Sync {
    /// An attempt at `address` starts.
    fn starts(&self, address: SocketAddr, purpose: Purpose);
}

/// Idle connections by address. A request takes one or opens a new one, and gives it back when its reply
/// has come; one that failed, or was given up, is closed. So a connection to a replica that died breaks
/// under the next request that takes it.
#[derive(Debug, Default)]
pub struct Transport {
    idle: Mutex<HashMap<SocketAddr, Vec<TcpStream>>>,
    watcher: Option<Arc<dyn Watcher>>,
}

impl Transport {
    /// No connections yet; `watcher` is told of every attempt.
    pub fn watched(watcher: Arc<dyn Watcher>) -> Self {
        Self { idle: Mutex::default(), watcher: Some(watcher) }
    }

    /// Closes the connections that nobody uses.
    pub fn close_idle(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Closes those to `address`: where one broke, the others may have broken too.
    pub fn close_idle_to(&self, address: SocketAddr) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
    }

    /// One attempt: sends `ask` to `address` and waits for the reply, however long it takes.
    ///
    /// # Errors
    ///
    /// When the connection is refused or breaks.
    pub async fn exchange(&self, address: SocketAddr, ask: Ask) -> io::Result<Reply> {
        self.tell(address, ask.purpose);
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
        self.tell(address, ask.purpose);
        self.over(connect(address).await?, address, ask).await
    }

    async fn over(&self, mut stream: TcpStream, address: SocketAddr, ask: Ask) -> io::Result<Reply> {
        ask.send(&mut stream).await?;
        let reply = Reply::receive(&mut stream, ask.request.id).await?;
        self.give_back(address, stream);
        Ok(reply)
    }

    fn tell(&self, address: SocketAddr, purpose: Purpose) {
        if let Some(watcher) = &self.watcher {
            watcher.starts(address, purpose);
        }
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
