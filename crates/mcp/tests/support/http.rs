//! The service of a sample tools over streamable HTTP on loopback, as a server would carry it.

use crate::tools::SampleTools;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use regatta_mcp::Service;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use tokio::net::TcpListener;

/// Listens on a free port, serves until the runtime ends, and returns the address.
pub(crate) async fn serve_http() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has a free port");
    let address = listener.local_addr().expect("a listener has an address");
    tokio::spawn(accept(listener));
    format!("http://{address}/mcp")
}

async fn accept(listener: TcpListener) {
    let tools = Arc::new(SampleTools::default());
    // With sessions, or with streams for plain answers, some agents fail.
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(
        move || Ok(Service::new(Arc::clone(&tools))),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    while let Ok((stream, _)) = listener.accept().await {
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let stream = TokioIo::new(stream);
            // A client that breaks off is its own affair.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(stream, service).await;
        });
    }
}
