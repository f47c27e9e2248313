//! One UDP port from which one server is asked, by any number of queries at a time.

use std::{
    cell::RefCell,
    collections::{HashMap, hash_map::Entry},
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rand::RngExt as _;
use tokio::sync::oneshot;

use crate::{message::LONGEST, socket::Socket};

type Reply = io::Result<Vec<u8>>;

/// The most messages that are taken at a time, so that a flood holds nobody up.
const BATCH: usize = 32;

/// A port, connected: the operating system drops what comes from anyone but the server, and tells when the server's
/// port refuses.
///
/// Nobody reads it but those who wait for an answer: whoever finds it readable hands out what is there.
#[derive(Debug)]
pub(super) struct Port {
    socket: Socket,
    waiting: Mutex<HashMap<u16, oneshot::Sender<Reply>>>,
    /// A query went without an answer: maybe the way from this address is closed, as after a change of networks.
    worn: AtomicBool,
}

impl Port {
    pub(super) fn connect(server: SocketAddr) -> io::Result<Self> {
        let any: SocketAddr = match server {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(any)?;
        socket.connect(server)?;
        Ok(Self { socket: Socket::new(socket)?, waiting: Mutex::default(), worn: AtomicBool::new(false) })
    }

    /// Whether it should be replaced.
    pub(super) fn is_worn(&self) -> bool {
        self.worn.load(Ordering::Relaxed)
    }

    /// Sends a message under an id that no other query here has, and waits for what comes back under it.
    ///
    /// Dropped, it leaves nothing behind; an answer that comes later is dropped.
    pub(super) async fn exchange(self: Arc<Self>, message: impl FnOnce(u16) -> Vec<u8>) -> Reply {
        let (id, mut reply) = self.enter();
        let mut place = Place { port: &self, id, answered: false };
        self.send(id, &message(id)).await?;
        loop {
            tokio::select! {
                biased;
                reply = &mut reply => {
                    place.answered = true;
                    return reply.unwrap_or_else(|_| Err(io::ErrorKind::ConnectionAborted.into()));
                }
                failed = self.socket.heard() => {
                    if failed? {
                        self.tell_error();
                    }
                    self.hand_out();
                }
            }
        }
    }

    fn enter(&self) -> (u16, oneshot::Receiver<Reply>) {
        let (sender, reply) = oneshot::channel();
        let mut waiting = self.waiting();
        loop {
            if let Entry::Vacant(place) = waiting.entry(rand::rng().random()) {
                let id = *place.key();
                place.insert(sender);
                return (id, reply);
            }
        }
    }

    /// A refusal that is reported to the sender belongs to a query before.
    async fn send(&self, id: u16, message: &[u8]) -> io::Result<()> {
        if let Err(error) = self.socket.send(message).await {
            self.fail_all_but(Some(id), error.kind());
            self.socket.send(message).await?;
        }
        Ok(())
    }

    /// Gives what has arrived to those who wait for it. What nobody waits for, late or forged, is dropped.
    fn hand_out(&self) {
        thread_local! {
            static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; LONGEST].into());
        }
        // Where nobody waits any more, the port counts as read empty: what else is there can only be late or forged, and
        // is found with the next answer. That spares a system call for each.
        BUFFER.with_borrow_mut(|buffer| {
            self.socket.read(|recv| {
                for _ in 0..BATCH {
                    match recv(buffer) {
                        Ok(length) => self.deliver(&buffer[..length]),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
                        Err(error) => self.fail_all_but(None, error.kind()),
                    }
                    if self.waiting().is_empty() {
                        return Err(io::ErrorKind::WouldBlock.into());
                    }
                }
                Ok(())
            })
        });
    }

    /// Tells those who wait that the server's port refuses, or what else is wrong.
    fn tell_error(&self) {
        if let Some(error) = self.socket.take_error() {
            self.fail_all_but(None, error.kind());
        }
    }

    fn deliver(&self, message: &[u8]) {
        let Some(id) = message.first_chunk().map(|id| u16::from_be_bytes(*id)) else { return };
        if let Some(waiter) = self.waiting().remove(&id) {
            let _ = waiter.send(Ok(message.to_vec()));
        }
    }

    fn fail_all_but(&self, spared: Option<u16>, error: io::ErrorKind) {
        for (_, waiter) in self.waiting().extract_if(|id, _| Some(*id) != spared) {
            let _ = waiter.send(Err(error.into()));
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u16, oneshot::Sender<Reply>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A query's place among those who wait.
struct Place<'a> {
    port: &'a Port,
    id: u16,
    answered: bool,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.port.worn.store(true, Ordering::Relaxed);
            self.port.waiting().remove(&self.id);
        }
    }
}
