//! A replica: a listener on the loopback device that can stop, hang, answer late, and come back at its address.

use std::{io, net::SocketAddr, time::Duration};

use examples::{
    sockets::reserve,
    wire::{Ask, Reply, Status},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{AbortHandle, JoinSet},
    time::sleep,
};

/// How a replica is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It answers at once.
    Well,
    /// It answers after this time.
    Slow(Duration),
    /// It accepts connections and answers nothing.
    Hanging,
    /// It has stopped: connections are refused, and open ones end.
    Refusing,
}

const BACKLOG: u32 = 1_024;

/// Until the next try to take the port back.
const PAUSE: Duration = Duration::from_millis(10);

/// One replica. Dropping it closes its sockets.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    condition: watch::Sender<Condition>,
    serving: AbortHandle,
}

impl Server {
    /// Listens at a free port.
    pub fn open() -> io::Result<Self> {
        let socket = reserve(([127, 0, 0, 1], 0).into())?;
        let address = socket.local_addr()?;
        let listener = socket.listen(BACKLOG)?;
        let (condition, seen) = watch::channel(Condition::Well);
        Ok(Self { address, condition, serving: tokio::spawn(live(listener, address, seen)).abort_handle() })
    }

    /// Where it lives.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes how it is.
    pub fn turn(&self, condition: Condition) {
        self.condition.send_replace(condition);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn live(mut listener: TcpListener, address: SocketAddr, mut condition: watch::Receiver<Condition>) {
    loop {
        serve(listener, condition.clone()).await;
        // A bound socket that does not listen: connections are refused, and nobody else is given the port.
        let reserved = loop {
            match reserve(address) {
                Ok(socket) => break socket,
                Err(_) => sleep(PAUSE).await,
            }
        };
        if condition.wait_for(|now| *now != Condition::Refusing).await.is_err() {
            return;
        }
        listener = match reserved.listen(BACKLOG) {
            Ok(listener) => listener,
            Err(error) => unreachable!("a bound socket can listen: {error}"),
        };
    }
}

/// Until it stops.
async fn serve(listener: TcpListener, mut condition: watch::Receiver<Condition>) {
    let seen = condition.clone();
    let mut connections = JoinSet::new();
    let stopped = condition.wait_for(|now| *now == Condition::Refusing);
    tokio::pin!(stopped);
    loop {
        tokio::select! {
            _ = &mut stopped => return,
            Ok((stream, _)) = listener.accept() => {
                connections.spawn(converse(stream, seen.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn converse(mut stream: TcpStream, mut condition: watch::Receiver<Condition>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    loop {
        let ask = Ask::receive(&mut stream).await?;
        let now = *condition.borrow();
        match now {
            Condition::Well => {}
            Condition::Slow(span) => sleep(span).await,
            // What was asked meanwhile is never answered; when the replica is well again, the connection ends.
            Condition::Hanging | Condition::Refusing => {
                let _ = condition.wait_for(|now| *now != Condition::Hanging).await;
                return Ok(());
            }
        }
        Reply { id: ask.request.id, status: Status::Served }.send(&mut stream).await?;
    }
}
