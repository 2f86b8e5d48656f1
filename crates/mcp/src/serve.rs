//! Carrying the service over a pair of byte streams: one JSON-RPC message a line.

use crate::desk::Desk;
use crate::service::{ARGUMENT_BYTES_MAX, Service};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};

/// A longer line is let go unread, and its sender gets no answer; so this is far above what a call may hold.
const LINE_BYTES_MAX: usize = 4 * ARGUMENT_BYTES_MAX;

/// Why a conversation ended otherwise than by the client leaving.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// What the client said first is not how MCP begins.
    #[error("the client did not begin as MCP asks")]
    Beginning(#[source] Box<ServerInitializeError>),
    /// The task that served the client was lost.
    #[error("the conversation with the client was lost")]
    Lost(#[source] tokio::task::JoinError),
}

/// Serves one client until it leaves.
pub async fn serve<D: Desk>(
    service: Service<D>,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), Broken> {
    let transport = AsyncRwTransport::new(reader, writer).with_max_line_length(LINE_BYTES_MAX);
    let running = match service.serve(transport).await {
        Ok(running) => running,
        // A client that looks and leaves has not broken anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(Broken::Beginning(Box::new(error))),
    };
    running.waiting().await.map(drop).map_err(Broken::Lost)
}
