//! The gateway: a socket of its own that says which partition serves a key and which addresses serve a
//! partition, slowly, and not always up to date.
//!
//! One line each way. `addresses 0` is answered by `127.0.0.1:4000 127.0.0.1:4001`, and a partition that it does
//! not know by an empty line; `map` by the version of the map, and each partition with its first key:
//! `1 0@0 1@9223372036854775808`.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
};

use crate::keys::{self, KeyMap};

/// The question for the routing map.
pub const MAP: &str = "map";

/// What a gateway knows, and how it behaves.
pub trait Book: Send + Sync + 'static {
    /// What becomes of the line `question`.
    fn reply_to(&self, question: &str) -> Reply;
}

/// What becomes of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// This line answers it; its end comes with it.
    Line(String),
    /// Nothing ever does.
    Silence,
    /// The connection ends.
    HangUp,
}

impl Reply {
    /// The line that names these addresses.
    pub fn addresses(addresses: &[SocketAddr]) -> Self {
        let words: Vec<_> = addresses.iter().map(SocketAddr::to_string).collect();
        Self::Line(words.join(" ") + "\n")
    }
}

/// The gateway's side. Dropping it closes its socket.
#[derive(Debug)]
pub struct Gateway {
    address: SocketAddr,
    counts: Arc<Counts>,
    accepting: AbortHandle,
}

#[derive(Debug, Default)]
struct Counts {
    answered: AtomicU64,
    maps: AtomicU64,
}

impl Gateway {
    /// Answers from `book`, each time after `delay`.
    ///
    /// # Errors
    ///
    /// When its socket can't be opened.
    pub async fn start(book: Arc<impl Book>, delay: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let counts = Arc::new(Counts::default());
        let accepting = tokio::spawn(accept(listener, book, delay, Arc::clone(&counts))).abort_handle();
        Ok(Self { address, counts, accepting })
    }

    /// Where clients ask.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many questions it has answered.
    pub fn answered(&self) -> u64 {
        self.counts.answered.load(Ordering::Relaxed)
    }

    /// How many times it was asked for the map.
    pub fn maps(&self) -> u64 {
        self.counts.maps.load(Ordering::Relaxed)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, book: Arc<impl Book>, delay: Duration, counts: Arc<Counts>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                connections.spawn(answer(stream, Arc::clone(&book), delay, Arc::clone(&counts)));
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn answer(
    stream: TcpStream,
    book: Arc<impl Book>,
    delay: Duration,
    counts: Arc<Counts>,
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut question = String::new();
    while stream.read_line(&mut question).await? > 0 {
        if question.trim() == MAP {
            counts.maps.fetch_add(1, Ordering::Relaxed);
        }
        // What it knows when it is asked: what it learns while it answers comes too late.
        let reply = book.reply_to(question.trim());
        question.clear();
        tokio::time::sleep(delay).await;
        let line = match reply {
            Reply::Line(line) => line,
            // Until the client gives up.
            Reply::Silence => continue,
            Reply::HangUp => return Ok(()),
        };
        stream.write_all(line.as_bytes()).await?;
        counts.answered.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Asks the gateway at `gateway` which addresses serve `partition`. No addresses: it knows no such
/// partition.
///
/// # Errors
///
/// When it can't be reached, or its answer can't be understood.
pub async fn ask_addresses(gateway: SocketAddr, partition: u32) -> io::Result<Vec<SocketAddr>> {
    let line = ask(gateway, &format!("addresses {partition}\n")).await?;
    line.split_whitespace().map(|word| word.parse().map_err(io::Error::other)).collect()
}

/// Asks the gateway at `gateway` which partition serves which keys.
///
/// # Errors
///
/// When it can't be reached, or its answer can't be understood.
pub async fn ask_map(gateway: SocketAddr) -> io::Result<KeyMap> {
    keys::from_line(&ask(gateway, &format!("{MAP}\n")).await?)
}

async fn ask(gateway: SocketAddr, question: &str) -> io::Result<String> {
    let mut stream = BufReader::new(TcpStream::connect(gateway).await?);
    stream.write_all(question.as_bytes()).await?;
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows partition 0, is silent about 1, and hangs up on anything else.
    struct Moody(SocketAddr);

    impl Book for Moody {
        fn reply_to(&self, question: &str) -> Reply {
            match question {
                MAP => Reply::Line(keys::to_line(&keys::even(2)) + "\n"),
                "addresses 0" => Reply::addresses(&[self.0, self.0]),
                "addresses 1" => Reply::Silence,
                _ => Reply::HangUp,
            }
        }
    }

    #[tokio::test]
    async fn it_answers_over_its_socket_with_what_its_book_says() {
        let address = SocketAddr::from(([127, 0, 0, 1], 4_000));
        let gateway = Gateway::start(Arc::new(Moody(address)), Duration::ZERO).await.unwrap();
        assert_eq!(ask_addresses(gateway.address(), 0).await.unwrap(), [address, address]);
        assert_eq!(ask_map(gateway.address()).await.unwrap(), keys::even(2));
        let ended = ask_addresses(gateway.address(), 2).await.unwrap_err();
        assert_eq!(ended.kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!((gateway.answered(), gateway.maps()), (2, 1));
    }

    #[tokio::test]
    async fn a_question_that_it_is_silent_about_does_not_hold_up_the_next() {
        let address = SocketAddr::from(([127, 0, 0, 1], 4_000));
        let gateway = Gateway::start(Arc::new(Moody(address)), Duration::ZERO).await.unwrap();
        let mut stream = BufReader::new(TcpStream::connect(gateway.address()).await.unwrap());
        stream.write_all(b"addresses 1\naddresses 0\n").await.unwrap();
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        assert_eq!(line, "127.0.0.1:4000 127.0.0.1:4000\n");
    }
}
