//! Small upstream servers that come along: to try the program without a network, and to measure it.

mod server;
mod zone;

use std::{io, net::SocketAddr};

pub(crate) use server::Server;

/// How many are started.
const SERVERS: u8 = 4;
/// The one that is dead: its port is open, and nothing answers.
const DEAD: u8 = 1;

/// Starts four servers on free ports of the loopback device, the first of them dead.
pub(crate) async fn start() -> io::Result<Vec<SocketAddr>> {
    let mut addresses = Vec::new();
    for number in 1..=SERVERS {
        let server = Server::bind(([127, 0, 0, 1], 0).into(), number).await?;
        server.hear(number != DEAD);
        addresses.push(server.address());
        server.serve();
    }
    Ok(addresses)
}

/// Is one such server at `address`, until the process ends. SIGUSR1 makes it deaf, SIGUSR2 well again.
pub(crate) async fn alone(address: SocketAddr) -> anyhow::Result<()> {
    let number = u8::try_from(address.port() % 10)?;
    let server = Server::bind(address, number).await?;
    println!("an upstream server at {}", server.address());
    server.clone().serve();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut deaf, mut well) =
            (signal(SignalKind::user_defined1())?, signal(SignalKind::user_defined2())?);
        loop {
            let hears = tokio::select! {
                _ = deaf.recv() => false,
                _ = well.recv() => true,
            };
            server.hear(hears);
        }
    }
    #[cfg(not(unix))]
    Ok(std::future::pending().await)
}
