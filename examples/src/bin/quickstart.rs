//! The shortest honest use of a pool: [`connect`] and [`ask`] are all of it. The rest is two servers to ask, one
//! of which dies and comes back.

use std::{io, net::SocketAddr, path::PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::Parser;
use replica_pool::{CallError, FixedList, ReplicaPool, config::Config};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::sleep,
};

/// A pool of these servers.
fn connect(servers: [SocketAddr; 2], config: Config) -> anyhow::Result<ReplicaPool<SocketAddr>> {
    Ok(ReplicaPool::builder(FixedList::new(servers)).config(config).build()?)
}

/// Asks one of them, and the other if that one fails. Gives the answer, and how many attempts it took.
async fn ask(pool: &ReplicaPool<SocketAddr>) -> Result<(u8, u32), CallError<io::Error>> {
    let request = pool.request().idempotent(true); // asking twice does no harm
    let answer = request.call(|attempt| async move {
        let mut server = TcpStream::connect(attempt.address()).await?;
        server.write_all(b"?").await?;
        Ok((server.read_u8().await?, attempt.number()))
    });
    answer.await
}

/// The shortest use of a replica pool over TCP.
///
/// The program starts two small servers, A and B, on the loopback device, and asks them through a pool. Then
/// B dies, then it comes back; the requests go on.
#[derive(Parser)]
#[command(name = "quickstart")]
struct Options {
    /// The pool's settings: a file with the blocks circuitBreaker and replicaPool. Without it, the one that
    /// comes with the program, examples/config/quickstart.json
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Requests in each of the three stages
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    requests: u32,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let config = match &options.config {
        Some(file) => Config::from_file(file)?,
        None => Config::from_text(
            "examples/config/quickstart.json",
            include_str!("../../config/quickstart.json"),
        )?,
    };
    ensure!(!config.absent, "{} does not exist", options.config.unwrap_or_default().display());

    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    let (a, _a) = start(b'A', anywhere).await?;
    let (b, running) = start(b'B', anywhere).await?;
    let pool = connect([a, b], config)?;

    println!("A is at {a}, B at {b}. Each stage makes {} requests.\n", options.requests);
    println!("stage            from A  from B  failed attempts  circuits");
    stage("both are up", &pool, options.requests).await?;
    running.abort();
    let _ = running.await;
    stage("B is down", &pool, options.requests).await?;
    let (_, _b) = start(b'B', b).await?;
    // Until its circuit gives B another chance.
    pool.replicas().replicas()[1].breaker().ready(sleep).await;
    stage("B is up again", &pool, options.requests).await
}

/// Makes requests one after another, and prints what came of them.
async fn stage(name: &str, pool: &ReplicaPool<SocketAddr>, requests: u32) -> anyhow::Result<()> {
    let (mut from_a, mut from_b, mut failed) = (0, 0, 0);
    for _ in 0..requests {
        let (answer, attempts) = ask(pool).await.with_context(|| format!("a request failed while {name}"))?;
        match answer {
            b'A' => from_a += 1,
            b'B' => from_b += 1,
            other => bail!("a stranger answered: {other}"),
        }
        failed += attempts - 1;
    }
    let circuits: Vec<_> =
        pool.snapshot().replicas.iter().map(|replica| replica.circuit.state.circuit().to_string()).collect();
    println!("{name:<15}  {from_a:>6}  {from_b:>6}  {failed:>15}  {}", circuits.join(", "));
    Ok(())
}

/// A server that answers each question with its name, until it is aborted.
async fn start(name: u8, address: SocketAddr) -> io::Result<(SocketAddr, JoinHandle<()>)> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut question = [0];
            if client.read_exact(&mut question).await.is_ok() {
                let _ = client.write_all(&[name]).await;
            }
        }
    });
    Ok((address, server))
}
