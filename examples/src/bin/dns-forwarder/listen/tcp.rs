//! Queries over TCP: several at a time on each connection, answered as the answers come.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, tcp::OwnedReadHalf},
    sync::mpsc,
    time::{sleep, timeout},
};

use super::seats::{Seat, Seats};
use crate::{
    forward::Forwarder,
    frame,
    message::{Query, Unfit},
    upstream::Transport,
};

/// The most queries of one connection that are not answered yet. It is read no further then.
const UNANSWERED: usize = 16;

/// After an error of the listener, as when there are no more files to be opened.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) async fn serve(
    listener: TcpListener,
    forwarder: Arc<Forwarder>,
    seats: Arc<Seats>,
    patience: Duration,
) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let forwarder = Arc::clone(&forwarder);
        seats.take(|seat| async move {
            // However it ends: the client is gone, or is let go.
            let _ = converse(stream, &forwarder, &seat, patience).await;
        });
    }
}

async fn converse(
    stream: TcpStream,
    forwarder: &Arc<Forwarder>,
    seat: &Seat,
    patience: Duration,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (reader, writer) = stream.into_split();
    let (answers, outbox) = mpsc::channel(UNANSWERED);
    tokio::try_join!(read(reader, answers, forwarder, seat, patience), write(writer, outbox, patience))?;
    Ok(())
}

/// Takes queries until the client has no more, or is silent for too long.
async fn read(
    mut stream: OwnedReadHalf,
    answers: mpsc::Sender<Vec<u8>>,
    forwarder: &Arc<Forwarder>,
    seat: &Seat,
    patience: Duration,
) -> io::Result<()> {
    loop {
        // A place in the outbox first: who does not read the answers asks no more.
        let Ok(place) = answers.clone().reserve_owned().await else { return Ok(()) };
        let Some(message) = timeout(patience, frame::read(&mut stream)).await?? else { return Ok(()) };
        seat.is_active();
        let query = match Query::parse(&message) {
            Ok(query) => query,
            Err(unfit) => {
                forwarder.stats.unfit();
                let Unfit::Answer(answer) = unfit else { return Err(io::ErrorKind::InvalidData.into()) };
                place.send(answer);
                continue;
            }
        };
        let Some(admitted) = forwarder.admit() else {
            forwarder.stats.turned_away();
            place.send(query.servfail());
            continue;
        };
        let forwarder = Arc::clone(forwarder);
        tokio::spawn(async move {
            place.send(forwarder.answer(&query, Transport::Tcp).await);
            drop(admitted);
        });
    }
}

async fn write(
    mut stream: impl AsyncWrite + Unpin,
    mut outbox: mpsc::Receiver<Vec<u8>>,
    patience: Duration,
) -> io::Result<()> {
    while let Some(answer) = outbox.recv().await {
        timeout(patience, stream.write_all(&frame::framed(&answer))).await??;
    }
    stream.shutdown().await
}
