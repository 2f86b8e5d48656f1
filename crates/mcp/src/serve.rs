//! Carrying the service over a pair of byte streams: one JSON-RPC message a line.

use crate::gate;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};

/// What may wait between the gate and the service: both take turns.
const PIPE_BYTES: usize = 64 * 1024;

/// Why a conversation ended otherwise than by the client leaving.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// What the client said first is not how MCP begins.
    #[error("the client did not start the way MCP requires")]
    Beginning(#[source] Box<ServerInitializeError>),
    /// The task that served the client was lost.
    #[error("the conversation with the client was lost")]
    Lost(#[source] tokio::task::JoinError),
}

/// Serves one client until it leaves.
pub async fn serve(
    service: impl ServerHandler,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), Broken> {
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    let passing = gate::pass((reader, writer), tokio::io::split(far));
    let (served, ()) = tokio::join!(serve_passed(service, near), passing);
    served
}

/// Serves what the gate lets through; when this returns, the gate's other side is closed.
async fn serve_passed(service: impl ServerHandler, near: DuplexStream) -> Result<(), Broken> {
    let (reader, writer) = tokio::io::split(near);
    let running = match service.serve(AsyncRwTransport::new(reader, writer)).await {
        Ok(running) => running,
        // A client that looks and leaves has not broken anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(Broken::Beginning(Box::new(error))),
    };
    running.waiting().await.map(drop).map_err(Broken::Lost)
}
