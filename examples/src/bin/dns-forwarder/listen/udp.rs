//! Queries over UDP: a task for each, so that none waits for another.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::time::sleep;

use crate::{
    forward::Forwarder,
    message::{LONGEST, Query, Unfit},
    socket::Socket,
    upstream::Transport,
};

/// After an error of the socket, as when there is no memory for it.
const PAUSE: Duration = Duration::from_millis(10);

pub(super) async fn serve(socket: Arc<Socket>, forwarder: Arc<Forwarder>) {
    let mut buffer = vec![0; LONGEST];
    loop {
        match socket.recv_from(&mut buffer).await {
            Ok((length, client)) => take(&buffer[..length], client, &socket, &forwarder),
            Err(_) => sleep(PAUSE).await,
        }
    }
}

fn take(message: &[u8], client: SocketAddr, socket: &Arc<Socket>, forwarder: &Arc<Forwarder>) {
    let query = match Query::parse(message) {
        Ok(query) => query,
        Err(unfit) => {
            forwarder.stats.unfit();
            if let Unfit::Answer(answer) = unfit {
                let _ = socket.try_send_to(&answer, client);
            }
            return;
        }
    };
    let Some(place) = forwarder.admit() else {
        forwarder.stats.turned_away();
        let _ = socket.try_send_to(&query.servfail(), client);
        return;
    };
    let (socket, forwarder) = (Arc::clone(socket), Arc::clone(forwarder));
    tokio::spawn(async move {
        let answer = forwarder.answer(&query, Transport::Udp).await;
        // A client that can't be reached is no longer interested.
        let _ = socket.send_to(&answer, client).await;
        drop(place);
    });
}
