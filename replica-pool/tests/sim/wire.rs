//! What goes over the simulated network: a byte to ask, some bytes to answer, a connection for each.

use std::{error::Error, io, time::Duration};

use async_trait::async_trait;
use breaker_canary::Probe;
use replica_pool::{Connector, Gateway, GatewayError, Verdict, io_verdict};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{sleep, timeout},
};
use turmoil::net::{TcpListener, TcpStream};

use crate::{
    crowd::Crowd,
    laws::Ledger,
    truth::{Manner, Node, Shared},
    world::host_name,
};

const PORT: u16 = 80;
const CALL: u8 = b'c';
const PING: u8 = b'p';
const NAMES: u8 = b'n';
const OK: u8 = b'k';
const CANNOT: u8 = b'e';
const GONE: u8 = b'g';

/// What a replica says when it does not say yes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("gone")]
    Gone,
    #[error("overloaded")]
    Overloaded,
    #[error(transparent)]
    Io(#[from] io::Error),
}

pub(crate) fn judge(result: &Result<Node, Trouble>) -> Verdict {
    match result {
        Ok(_) => Verdict::SUCCESS,
        Err(Trouble::Gone) => Verdict::REPLICA_GONE,
        Err(Trouble::Overloaded) => Verdict::FAILURE,
        Err(Trouble::Io(error)) => io_verdict(error.kind()),
    }
}

async fn ask(host: String, request: u8) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect((host, PORT)).await?;
    stream.write_all(&[request]).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    if answer.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(answer) }
}

async fn ask_replica(node: Node, request: u8) -> Result<Node, Trouble> {
    match ask(node.to_string(), request).await?[0] {
        OK => Ok(node),
        GONE => Err(Trouble::Gone),
        _ => Err(Trouble::Overloaded),
    }
}

/// The body of a call.
pub(crate) async fn call(node: Node) -> Result<Node, Trouble> {
    ask_replica(node, CALL).await
}

/// A client's way to the network, with its eyes on how many go it at a time.
#[derive(Clone, Debug)]
pub(crate) struct Wire(pub(crate) Ledger);

#[async_trait]
impl Probe<Node> for Wire {
    async fn probe(&self, node: &Node) -> bool {
        let _one = self.0.enter(Crowd::Probes, *node);
        ask_replica(*node, PING).await.is_ok()
    }
}

#[async_trait]
impl Connector<Node> for Wire {
    async fn connect(&self, node: &Node) -> Result<(), Box<dyn Error + Send + Sync>> {
        let _one = self.0.enter(Crowd::Openings, *node);
        ask_replica(*node, PING).await?;
        Ok(())
    }
}

#[async_trait]
impl Gateway<Node> for Wire {
    async fn addresses(&self, (): &()) -> Result<Vec<Node>, GatewayError> {
        let _one = self.0.enter(Crowd::Questions, Node(u8::MAX));
        let answer = ask(host_name(None), NAMES).await.map_err(GatewayError::failed)?;
        if answer == [CANNOT] {
            return Err(GatewayError::failed("503"));
        }
        self.0.answered();
        Ok(answer.into_iter().map(Node).collect())
    }
}

/// What a host answers with, as of when it was asked.
fn answer(truth: &Shared, node: Option<Node>) -> (Manner, Vec<u8>) {
    let truth = truth.lock();
    match node {
        Some(node) => {
            let says = if truth.members.contains(&node) { OK } else { GONE };
            (truth.manners[usize::from(node.0)], vec![says])
        }
        None => (truth.gateway, truth.named.iter().map(|node| node.0).collect()),
    }
}

/// A replica, or the gateway.
pub(crate) async fn serve(truth: Shared, node: Option<Node>) -> turmoil::Result {
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        let truth = truth.clone();
        tokio::task::spawn_local(async move {
            let served = async {
                stream.read_u8().await?;
                let (manner, answer) = answer(&truth, node);
                match manner {
                    Manner::Well => stream.write_all(&answer).await,
                    Manner::Fails => stream.write_all(&[CANNOT]).await,
                    Manner::Mute => std::future::pending().await,
                    Manner::Slow(time) => {
                        sleep(time).await;
                        stream.write_all(&answer).await
                    }
                }
            };
            let _ = timeout(Duration::from_secs(60), served).await;
        });
    }
}
