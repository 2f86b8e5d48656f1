//! The accept loop: counts connections, and refuses those that are too many.
//!
//! Our own, because axum's has no limit on the time of a head, on idle connections or on their number, and waits for open
//! streams when it stops.

use crate::app::App;
use crate::connection;
use crate::limits::Limits;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The pause after an accept that failed, as it does when the process has no more file descriptors.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(100);

/// How long the refusal of a connection may take.
const REFUSAL_TIME: Duration = Duration::from_secs(1);

/// When a client that was refused may come back, in seconds.
const RETRY_AFTER: u64 = 5;

/// Accepts connections until it is stopped; `open` is held by each connection for as long as it is open.
pub(crate) async fn run(
    listener: TcpListener,
    app: Arc<App>,
    counts: Arc<Counts>,
    stop: CancellationToken,
    open: mpsc::Sender<()>,
) {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => match Counts::enter(&counts, peer.ip(), &app.limits) {
                Some(place) => {
                    let (app, stop, open) = (Arc::clone(&app), stop.clone(), open.clone());
                    tokio::spawn(async move {
                        connection::serve(stream, app, stop).await;
                        drop((place, open));
                    });
                }
                None => drop(tokio::spawn(refuse(stream))),
            },
            Err(_) => tokio::time::sleep(PAUSE_AFTER_FAILURE).await,
        }
    }
}

/// Says no without reading the request: a client that is one too many gets no memory.
async fn refuse(mut stream: TcpStream) {
    let body = crate::answer::too_many_connections().to_json().to_string();
    let text = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         retry-after: {RETRY_AFTER}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = tokio::time::timeout(REFUSAL_TIME, async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
}

/// How many connections are open, in all and by address.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

impl Counts {
    /// Counts a connection, unless there are too many.
    fn enter(counts: &Arc<Counts>, address: IpAddr, limits: &Limits) -> Option<Place> {
        let mut by_address = counts.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = by_address.values().sum();
        let own = by_address.entry(address).or_default();
        if all >= limits.connections_max || *own >= limits.connections_per_address_max {
            return None;
        }
        *own += 1;
        Some(Place { counts: Arc::clone(counts), address })
    }

    fn leave(&self, address: IpAddr) {
        let mut by_address = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = by_address.get_mut(&address) {
            *own -= 1;
            if *own == 0 {
                by_address.remove(&address);
            }
        }
    }
}

/// The place of one open connection.
#[derive(Debug)]
struct Place {
    counts: Arc<Counts>,
    address: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.counts.leave(self.address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    #[test]
    fn places_are_limited_in_all_and_per_address_and_given_back() {
        let limits = Limits { connections_max: 3, connections_per_address_max: 2, ..Limits::default() };
        let counts = Arc::new(Counts::default());
        let (four, six) = (IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST));
        let first = Counts::enter(&counts, four, &limits).unwrap();
        let _second = Counts::enter(&counts, four, &limits).unwrap();
        assert!(Counts::enter(&counts, four, &limits).is_none(), "two of one address");
        let _third = Counts::enter(&counts, six, &limits).unwrap();
        assert!(Counts::enter(&counts, six, &limits).is_none(), "three in all");
        drop(first);
        assert!(Counts::enter(&counts, six, &limits).is_some());
    }
}
