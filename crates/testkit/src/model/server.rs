//! The server: a thread and a runtime of its own, so that a test that blocks does not starve it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::CONTENT_ENCODING;
use hyper::http::Response;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::answer::Refusals;
use super::body::Pieces;
use super::reply::Reply;
use super::request::{REQUESTS_MAX, Request};
use super::route::{Treatment, treat};

/// The largest body that is read; a longer one is refused.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A server on a free port of the loopback; it stops when it is dropped.
#[derive(Debug)]
pub struct StubModel {
    address: SocketAddr,
    memory: Arc<Mutex<Memory>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the server remembers.
#[derive(Debug, Default)]
struct Memory {
    requests: Vec<Request>,
    refusals: Refusals,
}

impl StubModel {
    /// Starts a server; panics when it cannot, since a test has nothing to say without it.
    pub async fn start() -> Self {
        Self::start_blocking()
    }

    /// Starts a server from a test that is not async.
    pub fn start_blocking() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        listener.set_nonblocking(true).expect("a socket can be set to not block");
        let address = listener.local_addr().expect("a bound socket has an address");
        let memory = Arc::new(Mutex::new(Memory::default()));
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&memory);
        let thread = std::thread::spawn(move || serve(listener, &shared, stopped));
        StubModel { address, memory, stop: Some(stop), thread: Some(thread) }
    }

    /// Returns the address without a path, such as `http://127.0.0.1:41234`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns what was asked so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.memory).requests.clone()
    }
}

impl Drop for StubModel {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(listener: TcpListener, memory: &Arc<Mutex<Memory>>, stopped: oneshot::Receiver<()>) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).expect("the socket does not block");
        tokio::select! {
            () = accept(&listener, memory) => {}
            _ = stopped => {}
        }
    });
}

/// Accepts connections forever; they end with this future, because the set aborts what it holds.
async fn accept(listener: &tokio::net::TcpListener, memory: &Arc<Mutex<Memory>>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let _ = stream.set_nodelay(true);
                let memory = Arc::clone(memory);
                let service = service_fn(move |request| handle(request, Arc::clone(&memory)));
                connections.spawn(async move {
                    // A client that goes away in the middle is what some tests are about.
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn handle(
    request: hyper::Request<Incoming>,
    memory: Arc<Mutex<Memory>>,
) -> Result<Response<Pieces>, io::Error> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await.map_err(io::Error::other)?.to_bytes();
    let treatment = {
        let mut memory = lock(&memory);
        if memory.requests.len() < REQUESTS_MAX {
            memory.requests.push(Request::of(&head, &body));
        }
        if head.headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
            let fault = json!({"error": {"message": "stub: the body must not be compressed"}});
            Treatment::Reply(std::time::Duration::ZERO, Reply::json(415, &fault))
        } else {
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            treat(&head.method, head.uri.path(), &body, &mut memory.refusals, Timestamp::now())
        }
    };
    match treatment {
        Treatment::Reply(delay, reply) => {
            tokio::time::sleep(delay).await;
            reply.into_response().map_err(io::Error::other)
        }
        Treatment::Hang => std::future::pending().await,
    }
}
