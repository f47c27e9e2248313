//! One query over a TCP connection of its own.

use std::{io, net::SocketAddr};

use rand::RngExt as _;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use crate::{
    frame,
    message::{Answer, Query, Unanswered},
};

/// Connects, sends the query and waits for the answer.
pub(super) async fn ask(server: SocketAddr, query: &Query) -> Result<Answer, Unanswered> {
    let id: u16 = rand::rng().random();
    let mut stream = TcpStream::connect(server).await?;
    stream.set_nodelay(true)?;
    stream.write_all(&frame::framed(&query.with_id(id))).await?;
    let Some(answer) = frame::read(&mut stream).await? else {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    };
    match answer.first_chunk() {
        Some(answered) if *answered == id.to_be_bytes() => Answer::to(query, answer),
        Some(_) => Err(Unanswered::Mismatched),
        None => Err(Unanswered::Malformed),
    }
}
