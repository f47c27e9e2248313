//! What goes over the sockets between a client and a replica: frames of a fixed size, one request at a
//! time on each connection.

use std::{fmt, io};

use serde::Serialize;
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
    /// Not served here any more.
    Gone(Gone),
}

/// What does not live any more where it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gone {
    /// The replica has left this address.
    Replica,
    /// The partition does not exist any more, or does not hold the key.
    Partition,
    /// The partition is moving to other replicas.
    Migrating,
}

impl Status {
    const ALL: [Self; 4] =
        [Self::Served, Self::Gone(Gone::Replica), Self::Gone(Gone::Partition), Self::Gone(Gone::Migrating)];

    /// As a result.
    pub fn served(self) -> Result<(), Gone> {
        match self {
            Self::Served => Ok(()),
            Self::Gone(gone) => Err(gone),
        }
    }

    /// As it is sent: a status and a sub-status, after those of a well-known store.
    pub fn codes(self) -> (u16, u16) {
        match self {
            Self::Served => (200, 0),
            Self::Gone(Gone::Replica) => (410, 0),
            Self::Gone(Gone::Partition) => (410, 1002),
            Self::Gone(Gone::Migrating) => (410, 1008),
        }
    }

    fn of(codes: (u16, u16)) -> io::Result<Self> {
        let known = Self::ALL.into_iter().find(|status| status.codes() == codes);
        known.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "an unknown status"))
    }
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (status, sub_status) = Status::Gone(*self).codes();
        let what = match self {
            Self::Replica => "the replica is gone",
            Self::Partition => "the partition is gone",
            Self::Migrating => "the partition is migrating",
        };
        write!(f, "{status}/{sub_status}: {what}")
    }
}

const ASK: usize = 17;
const REPLY: usize = 12;

impl Ask {
    /// Sends it.
    pub async fn send(&self, stream: &mut TcpStream) -> io::Result<()> {
        let mut frame = [0; ASK];
        frame[..8].copy_from_slice(&self.request.id.to_be_bytes());
        frame[8..16].copy_from_slice(&self.request.key.to_be_bytes());
        frame[16] = u8::from(self.purpose == Purpose::Probe);
        stream.write_all(&frame).await
    }

    /// Waits for the next one; the end of the stream is an error.
    pub async fn receive(stream: &mut TcpStream) -> io::Result<Self> {
        let mut frame = [0; ASK];
        stream.read_exact(&mut frame).await?;
        Ok(Self {
            request: Request { id: number(&frame[..8]), key: number(&frame[8..16]) },
            purpose: if frame[16] == 0 { Purpose::Ordinary } else { Purpose::Probe },
        })
    }
}

impl Reply {
    /// Sends it.
    pub async fn send(&self, stream: &mut TcpStream) -> io::Result<()> {
        let mut frame = [0; REPLY];
        frame[..8].copy_from_slice(&self.id.to_be_bytes());
        let (status, sub_status) = self.status.codes();
        frame[8..10].copy_from_slice(&status.to_be_bytes());
        frame[10..].copy_from_slice(&sub_status.to_be_bytes());
        stream.write_all(&frame).await
    }

    /// Waits for the reply to request `id`.
    pub async fn receive(stream: &mut TcpStream, id: u64) -> io::Result<Self> {
        let mut frame = [0; REPLY];
        stream.read_exact(&mut frame).await?;
        if number(&frame[..8]) != id {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the reply to another request"));
        }
        let code = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        Ok(Self { id, status: Status::of((code(8), code(10)))? })
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

        let ask = Ask { request: Request { id: u64::MAX - 1, key: 3 << 40 }, purpose: Purpose::Probe };
        ask.send(&mut client).await.unwrap();
        assert_eq!(Ask::receive(&mut server).await.unwrap(), ask);

        for status in Status::ALL {
            let reply = Reply { id: 5, status };
            reply.send(&mut server).await.unwrap();
            assert_eq!(Reply::receive(&mut client, 5).await.unwrap(), reply);
        }
        let reply = Reply { id: 5, status: Status::Served };
        reply.send(&mut server).await.unwrap();
        assert_eq!(Reply::receive(&mut client, 6).await.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
