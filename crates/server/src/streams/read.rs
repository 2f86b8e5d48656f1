//! One request for a stream, and its response.

use super::offset::{self, Start};
use super::source::{Source, Tail};
use super::{cursor, follow};
use crate::answer::{Body, invalid};
use crate::keys::digest_of;
use crate::query::decode;
use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::{BodyExt as _, Empty, Full};
use regatta_engine::core::Problem;
use serde_json::Value;
use std::time::Duration;

pub(super) const NEXT: HeaderName = HeaderName::from_static("stream-next-offset");
pub(super) const CURSOR: HeaderName = HeaderName::from_static("stream-cursor");
const UP_TO_DATE: HeaderName = HeaderName::from_static("stream-up-to-date");
const CLOSED: HeaderName = HeaderName::from_static("stream-closed");

/// How long a long poll waits: less than the 20 s after which proxies and clients of the protocol give up.
pub(super) const WAIT: Duration = Duration::from_secs(15);

/// What a client asks for.
pub(crate) struct Request {
    start: Option<Start>,
    live: Option<Live>,
    pub(super) cursor: Option<String>,
    is_head: bool,
    known: Option<HeaderValue>,
    /// Names the stream in tags.
    path: String,
}

/// How it wants to be told of more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Live {
    LongPoll,
    Events,
}

impl Request {
    /// Reads what a client asks for; parameters that the protocol does not have are ignored, as it says.
    pub(crate) fn parse(
        path: &str,
        query: &str,
        headers: &HeaderMap,
        is_head: bool,
    ) -> Result<Self, Problem> {
        let (mut start, mut live, mut cursor) = (None, None, None);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode("query", name)?, decode(name, value)?);
            match name.as_str() {
                "offset" if start.is_some() => return Err(invalid("offset", "is given twice")),
                "offset" => {
                    let wrong = || invalid("offset", "must be -1, now, or an offset of this stream");
                    start = Some(offset::parse(&value).ok_or_else(wrong)?);
                }
                "live" => {
                    live = Some(match value.as_str() {
                        "long-poll" => Live::LongPoll,
                        "sse" => Live::Events,
                        _ => return Err(invalid("live", "must be long-poll or sse")),
                    });
                }
                "cursor" => cursor = Some(value),
                _ => {}
            }
        }
        if live.is_some() && start.is_none() && !is_head {
            return Err(invalid(
                "offset",
                "is missing: following needs a place to begin; -1 is the beginning",
            ));
        }
        let known = headers.get(header::IF_NONE_MATCH).cloned();
        Ok(Request { start, live, cursor, is_head, known, path: path.to_owned() })
    }
}

/// Answers a request.
pub(crate) async fn read(mut source: impl Source, request: Request) -> Result<Response<Body>, Problem> {
    let tail = source.tail().await?;
    if request.is_head {
        return Ok(empty(StatusCode::OK, tail.count, tail));
    }
    let after = match request.start {
        Some(Start::After(after)) if after > tail.count => {
            return Err(invalid("offset", "is past the end of the stream"));
        }
        Some(Start::After(after)) => after,
        Some(Start::Now) => tail.count,
        None => 0,
    };
    match request.live {
        Some(Live::Events) => Ok(follow::events(source, after, request.cursor)),
        Some(Live::LongPoll) => poll(source, after, tail, &request).await,
        None if request.start == Some(Start::Now) => {
            let mut response = empty(StatusCode::OK, tail.count, tail);
            *response.body_mut() = full("[]".to_owned());
            Ok(response)
        }
        None => catch_up(source, after, &request).await,
    }
}

/// Sends what there is.
async fn catch_up(mut source: impl Source, after: u64, request: &Request) -> Result<Response<Body>, Problem> {
    let values = source.read(after).await?;
    let tail = source.tail().await?;
    let mut response = page(after, &values, tail);
    let digest = digest_of(&format!("{} {after} {:?}", request.path, response.headers()));
    let tag = HeaderValue::from_str(&format!("\"{}\"", &digest[..32])).expect("a digest is plain ASCII");
    if request.known.as_ref() == Some(&tag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Empty::new().boxed_unsync();
    }
    response.headers_mut().insert(header::ETAG, tag);
    Ok(response)
}

/// Sends what comes, or says that nothing did.
async fn poll(
    mut source: impl Source,
    after: u64,
    mut tail: Tail,
    request: &Request,
) -> Result<Response<Body>, Problem> {
    if after == tail.count && !tail.is_closed {
        source.wait(after, WAIT).await;
        tail = source.tail().await?;
    }
    let values = source.read(after).await?;
    let mut response = if values.is_empty() {
        empty(StatusCode::NO_CONTENT, after, tail)
    } else {
        page(after, &values, tail)
    };
    let cursor = cursor::after(request.cursor.as_deref());
    let cursor = HeaderValue::from_str(&cursor).expect("a cursor is a number");
    response.headers_mut().insert(CURSOR, cursor);
    Ok(response)
}

fn page(after: u64, values: &[Value], tail: Tail) -> Response<Body> {
    let next = after + u64::try_from(values.len()).unwrap_or(u64::MAX);
    let mut response = empty(StatusCode::OK, next, tail);
    *response.body_mut() = full(render(values));
    response
}

/// Makes a response without a body that says where a client stands.
fn empty(status: StatusCode, next: u64, tail: Tail) -> Response<Body> {
    let mut response = Response::new(Empty::new().boxed_unsync());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let offset = HeaderValue::from_str(&offset::render(next)).expect("an offset is digits");
    headers.insert(NEXT, offset);
    if next >= tail.count {
        headers.insert(UP_TO_DATE, HeaderValue::from_static("true"));
        if tail.is_closed {
            headers.insert(CLOSED, HeaderValue::from_static("true"));
        }
    }
    response
}

/// Writes values as the protocol sends them: as a list.
pub(super) fn render(values: &[Value]) -> String {
    serde_json::to_string(values).expect("JSON can be written")
}

fn full(text: String) -> Body {
    Full::new(Bytes::from(text)).boxed_unsync()
}
