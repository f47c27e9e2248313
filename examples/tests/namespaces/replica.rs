//! A replica in a process of its own: this test once more, under another name.

use std::{
    io::{BufRead as _, BufReader, Read as _, Result},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    thread,
};

use examples::wire::{Ask, Reply, Status};
use tokio::net::TcpListener;

use crate::net::Namespace;

/// Set where a replica is to serve: the address.
const SERVE: &str = "NAMESPACES_SERVE";

const READY: &str = "a replica serves";

/// A replica. Dropping it ends its process.
#[derive(Debug)]
pub(crate) struct Replica {
    pub(crate) namespace: Namespace,
    process: Child,
}

impl Replica {
    /// A replica in a namespace.
    pub(crate) fn start(namespace: Namespace) -> Self {
        let test = std::env::current_exe().unwrap();
        let mut process = Command::new("ip")
            .args(["netns", "exec", &namespace.name])
            .arg(test)
            .args(["--exact", "replica::serves_when_it_is_told_to", "--nocapture"])
            .env(SERVE, namespace.address().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.contains(READY)), "the replica does not start");
        Self { namespace, process }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.namespace.address()
    }

    /// Sends a signal, as `STOP`.
    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args(["-s", signal, &self.process.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// No test, but the process of a replica. It ends with the one that started it.
#[tokio::test]
async fn serves_when_it_is_told_to() {
    let Ok(address) = std::env::var(SERVE) else { return };
    thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let listener = TcpListener::bind(address).await.unwrap();
    println!("{READY}");
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::spawn(async move {
            while let Ok(ask) = Ask::receive(&mut stream).await {
                let reply = Reply { id: ask.request.id, status: Status::Served };
                if reply.send(&mut stream).await.is_err() {
                    return;
                }
            }
        });
    }
}
