//! The two listeners: 127.0.0.1 and [::1], on the same port.
//!
//! Both are taken, because a browser may try either first: another user of the machine must not be able to answer on the one
//! that we left free. Where the machine has no IPv6 there is only the first.

use crate::error::Error;
use crate::keys::Keys;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::net::TcpListener;

/// The port that a project tries first; each project then keeps the one that it got.
const PORT_FIRST: u16 = 4780;

/// How many ports are tried.
const PORTS_TRIED_MAX: u16 = 500;

/// The open listeners.
#[derive(Debug)]
pub(crate) struct Listeners {
    pub(crate) port: u16,
    pub(crate) list: Vec<TcpListener>,
}

/// Listens on the port that is asked for, or on the one the project had last, or on the next that is free.
pub(crate) async fn listen(keys: &Keys, asked: Option<u16>) -> Result<Listeners, Error> {
    if let Some(port) = asked {
        let found = bind(port).await.map_err(|source| Error::PortTaken { port, source })?;
        keys.save_port(found.port)?;
        return Ok(found);
    }
    let first = keys.find_port().unwrap_or(PORT_FIRST);
    let mut last = first;
    let mut failed = io::Error::other("no port was tried");
    for step in 0..PORTS_TRIED_MAX {
        // After the last port the search continues at the first that no privilege is needed for.
        last = first.checked_add(step).unwrap_or_else(|| PORT_FIRST + (step - (u16::MAX - first)));
        match bind(last).await {
            Ok(found) => {
                keys.save_port(found.port)?;
                return Ok(found);
            }
            Err(error) => failed = error,
        }
    }
    Err(Error::NoPort { first, last, source: failed })
}

async fn bind(port: u16) -> io::Result<Listeners> {
    let first = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
    let port = first.local_addr()?.port();
    let second = match TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))).await {
        Ok(second) => Some(second),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
        Err(error) if is_without_ipv6(&error) => None,
        Err(error) => return Err(error),
    };
    Ok(Listeners { port, list: [Some(first), second].into_iter().flatten().collect() })
}

/// The address is not there, or the kernel does not know the family at all.
fn is_without_ipv6(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(EAFNOSUPPORT)
}

/// Of Linux; `std` has no kind for it.
const EAFNOSUPPORT: i32 = 97;
