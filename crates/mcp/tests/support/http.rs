//! The service of a sample tools over streamable HTTP on loopback, as a server would carry it.

use crate::tools::SampleTools;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use regatta_mcp::Service;
use std::convert::Infallible;
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
    let service = Service::new(Arc::new(SampleTools::default()));
    while let Ok((stream, _)) = listener.accept().await {
        let service = service.clone();
        let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let service = service.clone();
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.map_or_else(|_| Bytes::new(), |body| body.to_bytes());
                let request = hyper::Request::from_parts(parts, body);
                Ok::<_, Infallible>(regatta_mcp::answer_http(service, &hosts(), request).await)
            }
        });
        tokio::spawn(async move {
            let stream = TokioIo::new(stream);
            // A client that breaks off is its own affair.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(stream, answer).await;
        });
    }
}

fn hosts() -> Vec<String> {
    vec!["127.0.0.1".to_owned(), "localhost".to_owned()]
}
