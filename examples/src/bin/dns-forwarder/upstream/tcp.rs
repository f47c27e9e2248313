//! One query over a TCP connection of its own.

use std::{io, net::SocketAddr};

use rand::RngExt as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::message::{Answer, Query, Unanswered};

/// Connects, sends the query and waits for the answer.
pub(super) async fn ask(server: SocketAddr, query: &Query) -> Result<Answer, Unanswered> {
    let id: u16 = rand::rng().random();
    let mut stream = TcpStream::connect(server).await?;
    stream.set_nodelay(true)?;
    stream.write_all(&framed(&query.with_id(id))).await?;
    let mut answer = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut answer).await?;
    if answer.first_chunk() != Some(&id.to_be_bytes()) {
        return Err(if answer.len() < 2 { Unanswered::Malformed } else { Unanswered::Mismatched });
    }
    Answer::to(query, answer)
}

/// A message behind its length, as it goes over TCP. One that is too long to have one is cut: it can't be.
pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes()[..], &message[..usize::from(length)]].concat()
}

/// Reads a message behind its length, as it comes: a client that only says that it will send much gets no memory for it.
/// `None` when the connection ends instead.
pub(crate) async fn read_framed(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let length = match stream.read_u16().await {
        Ok(length) => u64::from(length),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut message = Vec::new();
    stream.take(length).read_to_end(&mut message).await?;
    Ok((message.len() as u64 == length).then_some(message))
}
