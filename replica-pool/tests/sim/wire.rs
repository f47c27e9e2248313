//! What goes over the simulated network: two bytes to ask, some bytes to answer, a connection for each.

use std::{error::Error, io, time::Duration};

use async_trait::async_trait;
use breaker_canary::Probe;
use replica_pool::{
    Connector, Gateway, GatewayError, Gone, PartitionGateway, RoutingMap, Verdict, io_verdict,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{sleep, timeout},
};
use turmoil::net::{TcpListener, TcpStream};

use crate::{
    crowd::Crowd,
    laws::Ledger,
    store::{Division, PartId},
    truth::{Host, Manner, Node, Shared, Truth},
};

const PORT: u16 = 80;
/// Questions; the second byte is the partition's.
const CALL: u8 = b'c';
const PING: u8 = b'p';
const NAMES: u8 = b'n';
const MAP: u8 = b'm';
/// The first byte of answers.
const OK: u8 = b'k';
const CANNOT: u8 = b'e';
const UNKNOWN: u8 = b'u';
const REPLICA_GONE: u8 = b'r';
const PARTITION_GONE: u8 = b'p';
const SPLITTING: u8 = b's';
const MIGRATING: u8 = b'm';

/// What a replica says when it does not say yes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("410: {0}")]
    Gone(Gone),
    #[error("overloaded")]
    Overloaded,
    #[error(transparent)]
    Io(#[from] io::Error),
}

pub(crate) fn judge(result: &Result<Node, Trouble>) -> Verdict {
    match result {
        Ok(_) => Verdict::SUCCESS,
        Err(Trouble::Gone(Gone::Partition)) => Verdict::PARTITION_GONE,
        Err(Trouble::Gone(Gone::Splitting)) => Verdict::SPLITTING,
        Err(Trouble::Gone(Gone::Migrating)) => Verdict::MIGRATING,
        Err(Trouble::Gone(_)) => Verdict::REPLICA_GONE,
        Err(Trouble::Overloaded) => Verdict::FAILURE,
        Err(Trouble::Io(error)) => io_verdict(error.kind()),
    }
}

async fn ask(host: Host, question: [u8; 2]) -> io::Result<(u8, Vec<u8>)> {
    let mut stream = TcpStream::connect((host.to_string(), PORT)).await?;
    stream.write_all(&question).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    if answer.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok((answer.remove(0), answer)) }
}

async fn ask_replica(node: Node, question: [u8; 2]) -> Result<Node, Trouble> {
    match ask(Host::Node(node), question).await?.0 {
        OK => Ok(node),
        REPLICA_GONE => Err(Trouble::Gone(Gone::Replica)),
        PARTITION_GONE => Err(Trouble::Gone(Gone::Partition)),
        SPLITTING => Err(Trouble::Gone(Gone::Splitting)),
        MIGRATING => Err(Trouble::Gone(Gone::Migrating)),
        _ => Err(Trouble::Overloaded),
    }
}

/// The body of a call to a replica of `part`.
pub(crate) async fn call(node: Node, part: PartId) -> Result<Node, Trouble> {
    ask_replica(node, [CALL, part.0]).await
}

/// A client's way to the network, with its eyes on how many go it at a time.
#[derive(Clone, Debug)]
pub(crate) struct Wire(pub(crate) Ledger);

#[async_trait]
impl Probe<Node> for Wire {
    async fn probe(&self, node: &Node) -> bool {
        self.0.probes(*node);
        let _one = self.0.enter(Crowd::Probes, node);
        ask_replica(*node, [PING, 0]).await.is_ok()
    }
}

#[async_trait]
impl Connector<Node> for Wire {
    async fn connect(&self, node: &Node) -> Result<(), Box<dyn Error + Send + Sync>> {
        let _one = self.0.enter(Crowd::Openings, node);
        ask_replica(*node, [PING, 0]).await?;
        Ok(())
    }
}

impl Wire {
    async fn names(&self, part: PartId) -> Result<Vec<Node>, GatewayError> {
        self.0.asks_for_addresses();
        let _one = self.0.enter(Crowd::Questions, part);
        match ask(Host::Gateway, [NAMES, part.0]).await.map_err(GatewayError::failed)? {
            (OK, names) => {
                self.0.answered();
                Ok(names.into_iter().map(Node).collect())
            }
            (UNKNOWN, _) => Err(GatewayError::NoSuchPartition),
            _ => Err(GatewayError::failed("503")),
        }
    }
}

#[async_trait]
impl Gateway<Node> for Wire {
    async fn addresses(&self, (): &()) -> Result<Vec<Node>, GatewayError> {
        self.names(PartId::WHOLE).await
    }
}

#[async_trait]
impl Gateway<Node, PartId> for Wire {
    async fn addresses(&self, part: &PartId) -> Result<Vec<Node>, GatewayError> {
        self.names(*part).await
    }
}

#[async_trait]
impl PartitionGateway<u8, Node, PartId> for Wire {
    async fn routing_map(&self) -> Result<RoutingMap<u8, PartId>, GatewayError> {
        self.0.asks_for_map();
        let _one = self.0.enter(Crowd::Questions, Host::Map);
        match ask(Host::Map, [MAP, 0]).await.map_err(GatewayError::failed)? {
            (OK, bytes) => {
                let starts: Vec<_> = bytes[1..].chunks(2).map(|pair| (pair[0], PartId(pair[1]))).collect();
                Ok(Division::map(bytes[0], &starts))
            }
            _ => Err(GatewayError::failed("503")),
        }
    }
}

/// What a host answers with, as of now.
fn answer(truth: &Truth, host: Host, question: [u8; 2]) -> Vec<u8> {
    let (store, part) = (&truth.store, PartId(question[1]));
    match (host, question[0]) {
        (Host::Node(node), PING) if store.now.members().contains(&node) => vec![OK],
        (Host::Node(_), PING) => vec![CANNOT],
        (Host::Node(node), _) => vec![match store.answer(node, part) {
            Ok(()) => OK,
            Err(Gone::Partition) => PARTITION_GONE,
            Err(Gone::Splitting) => SPLITTING,
            Err(Gone::Migrating) => MIGRATING,
            Err(_) => REPLICA_GONE,
        }],
        (Host::Gateway, _) => match store.addresses.serving.get(&part) {
            Some(nodes) => [OK].into_iter().chain(nodes.iter().map(|node| node.0)).collect(),
            None => vec![UNKNOWN],
        },
        (Host::Map, _) => {
            let starts = store.map.starts.iter().flat_map(|(start, part)| [*start, part.0]);
            [OK, store.map.version].into_iter().chain(starts).collect()
        }
    }
}

/// A replica, or a part of the gateway.
pub(crate) async fn serve(truth: Shared, host: Host) -> turmoil::Result {
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        let truth = truth.clone();
        tokio::task::spawn_local(async move {
            let served = async {
                let mut question = [0; 2];
                stream.read_exact(&mut question).await?;
                let (manner, answer) = {
                    let truth = truth.lock();
                    (truth.manner(host), answer(&truth, host, question))
                };
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
