//! What goes over the sockets between a client and a replica: frames of a fixed size, one request at a
//! time on each connection.

use std::io;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// What a caller wants: the value under `key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its number in the schedule.
    pub id: u64,
    /// Decides the partition.
    pub key: u64,
}

/// A request as it is sent to a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The request.
    pub request: Request,
    /// The partition in which the client looks for the key.
    pub partition: u32,
    /// Whether a caller waits for the answer.
    pub purpose: Purpose,
}

/// Why a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A caller wants the value.
    Ordinary,
    /// The client wants to know whether the replica serves.
    Probe,
}

/// A replica's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The request's number.
    pub id: u64,
    /// How it went.
    pub status: Status,
}

/// How a request went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Served.
    Served,
    /// The replica does not live here any more.
    Gone,
}

const ASK: usize = 24;
const REPLY: usize = 16;

impl Ask {
    /// Sends it.
    pub async fn send(&self, stream: &mut TcpStream) -> io::Result<()> {
        let mut frame = [0; ASK];
        frame[..8].copy_from_slice(&self.request.id.to_be_bytes());
        frame[8..16].copy_from_slice(&self.request.key.to_be_bytes());
        frame[16..20].copy_from_slice(&self.partition.to_be_bytes());
        frame[20] = u8::from(self.purpose == Purpose::Probe);
        stream.write_all(&frame).await
    }

    /// Waits for the next one; the end of the stream is an error.
    pub async fn receive(stream: &mut TcpStream) -> io::Result<Self> {
        let mut frame = [0; ASK];
        stream.read_exact(&mut frame).await?;
        Ok(Self {
            request: Request { id: number(&frame[..8]), key: number(&frame[8..16]) },
            partition: u32::try_from(number(&frame[16..20])).map_err(io::Error::other)?,
            purpose: if frame[20] == 0 { Purpose::Ordinary } else { Purpose::Probe },
        })
    }
}

impl Reply {
    /// Sends it.
    pub async fn send(&self, stream: &mut TcpStream) -> io::Result<()> {
        let mut frame = [0; REPLY];
        frame[..8].copy_from_slice(&self.id.to_be_bytes());
        frame[8] = u8::from(self.status == Status::Gone);
        stream.write_all(&frame).await
    }

    /// Waits for the reply to request `id`.
    pub async fn receive(stream: &mut TcpStream, id: u64) -> io::Result<Self> {
        let mut frame = [0; REPLY];
        stream.read_exact(&mut frame).await?;
        if number(&frame[..8]) != id {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the reply to another request"));
        }
        Ok(Self { id, status: if frame[8] == 0 { Status::Served } else { Status::Gone } })
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn what_is_sent_is_what_arrives() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();

        let ask = Ask {
            request: Request { id: u64::MAX - 1, key: 3 << 40 },
            partition: 9,
            purpose: Purpose::Probe,
        };
        ask.send(&mut client).await.unwrap();
        assert_eq!(Ask::receive(&mut server).await.unwrap(), ask);

        let reply = Reply { id: 5, status: Status::Gone };
        reply.send(&mut server).await.unwrap();
        assert_eq!(Reply::receive(&mut client, 5).await.unwrap(), reply);
        reply.send(&mut server).await.unwrap();
        assert_eq!(Reply::receive(&mut client, 6).await.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
