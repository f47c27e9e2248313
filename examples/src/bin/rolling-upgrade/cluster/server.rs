//! One listener of a replica, and how it behaves once the replica has stopped.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use examples::sockets::reserve;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{AbortHandle, JoinSet},
};

use super::{Condition, HostInfo, Truth, Way};
use crate::{
    clock::RunClock,
    keys,
    ledger::Ledger,
    schedule::scramble,
    wire::{Ask, Gone, Purpose, Reply, Status},
};

/// What all listeners of a cluster share.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) seed: u64,
    pub(super) clock: Arc<RunClock>,
    pub(super) truth: Truth,
    pub(super) ledger: Ledger,
}

impl Service {
    /// What serving request `id` takes: 1 to 3 ms, decided by the seed.
    fn time_for(&self, id: u64) -> Duration {
        Duration::from_micros(1_000 + scramble(scramble(self.seed) ^ id) % 2_001)
    }
}

/// A listener with its connections. Dropping it closes them all.
#[derive(Debug)]
pub(super) struct Server {
    address: SocketAddr,
    condition: watch::Sender<Condition>,
    accepting: AbortHandle,
}

impl Server {
    /// Listens at a free port of the loopback device.
    pub(super) async fn open(host: &HostInfo, service: Arc<Service>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        service.truth.declare(address, host.id);
        let (condition, seen) = watch::channel(Condition::Serving);
        let host = Arc::new(host.clone());
        let accepting = tokio::spawn(accept(listener, address, host, service, seen)).abort_handle();
        Ok(Self { address, condition, accepting })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The replica has left; what comes here from now on is treated this way.
    pub(super) fn stop(&self, way: Way) {
        self.condition.send_replace(Condition::Stopped(way));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(
    listener: TcpListener,
    address: SocketAddr,
    host: Arc<HostInfo>,
    service: Arc<Service>,
    condition: watch::Receiver<Condition>,
) {
    let mut connections = JoinSet::new();
    let mut refusing = condition.clone();
    loop {
        tokio::select! {
            biased;
            () = refuses(&mut refusing) => break,
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                connections.spawn(connection(stream, Arc::clone(&host), Arc::clone(&service), condition.clone()));
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    // A bound socket that does not listen: connections are refused, and nobody else is given the port.
    let _reserved = reserve(address);
    while connections.join_next().await.is_some() {}
    std::future::pending::<()>().await;
}

async fn refuses(condition: &mut watch::Receiver<Condition>) {
    let dropped = condition.wait_for(|now| *now == Condition::Stopped(Way::Refuse)).await.is_err();
    if dropped {
        std::future::pending::<()>().await;
    }
}

async fn connection(
    mut stream: TcpStream,
    host: Arc<HostInfo>,
    service: Arc<Service>,
    mut condition: watch::Receiver<Condition>,
) {
    let mut refusing = condition.clone();
    tokio::select! {
        biased;
        () = refuses(&mut refusing) => {}
        // The client closed the connection, or it broke: nothing to do but to close it too.
        _ = converse(&mut stream, &host, &service, &mut condition) => return,
    }
    // Reset rather than closed in good order, as by a process that was killed.
    let _ = stream.set_zero_linger();
}

async fn converse(
    stream: &mut TcpStream,
    host: &HostInfo,
    service: &Service,
    condition: &mut watch::Receiver<Condition>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    loop {
        let ask = Ask::receive(stream).await?;
        if *condition.borrow() == Condition::Serving {
            // tokio's timer rounds up to a whole millisecond: half of one on average.
            tokio::time::sleep(service.time_for(ask.request.id).saturating_sub(Duration::from_micros(500)))
                .await;
        }
        // A replica that stopped while it worked does not answer any better than one that had stopped before.
        let now = *condition.borrow();
        let status = match now {
            // Whoever looks for a key where it does not live has an old map.
            Condition::Serving
                if ask.purpose == Purpose::Ordinary && !keys::holds(&host.keys, ask.request.key) =>
            {
                Status::Gone(Gone::Partition)
            }
            Condition::Serving => Status::Served,
            Condition::Stopped(Way::Answer(gone)) => Status::Gone(gone),
            Condition::Stopped(Way::Hang | Way::Refuse) => std::future::pending().await,
        };
        Reply { id: ask.request.id, status }.send(stream).await?;
        if status == Status::Served && ask.purpose == Purpose::Ordinary {
            service.ledger.served(host.id, service.clock.micros());
        }
    }
}
