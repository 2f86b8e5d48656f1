//! Carrying a service over streamable HTTP: one request, one answer, nothing kept in between.
//!
//! Without sessions and with plain JSON as the answer: with either, some agents fail.

use crate::gate;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::sync::Arc;

/// Answers one request to one of these hosts. Whether its sender may send it is checked by the caller.
pub async fn answer_http(
    service: impl ServerHandler + Clone,
    hosts: &[String],
    request: Request<Bytes>,
) -> Response<BoxBody<Bytes, Infallible>> {
    let judged = if request.method() == Method::POST { gate::check(request.body()) } else { Ok(()) };
    if let Err(fault) = judged {
        let mut response = Response::new(Full::new(Bytes::from(fault.to_string())).boxed());
        *response.status_mut() = StatusCode::BAD_REQUEST;
        let json = header::HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        return response;
    }
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(hosts);
    let carried = StreamableHttpService::new(
        move || Ok(service.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    carried.handle(request.map(Full::new)).await
}
