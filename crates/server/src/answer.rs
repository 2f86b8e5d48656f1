//! What is sent back: objects, errors and pages, with the headers that every response has.

use crate::body::JSON;
use crate::route::Route;
use crate::status::status_of;
use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty, Full};
use regatta_engine::core::{Code, Problem};
use serde::Serialize;
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use uuid::Uuid;

/// The body of a response.
pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Says from which event on a client has to follow to see what a change led to.
const SEQ: HeaderName = HeaderName::from_static("regatta-seq");

/// How long a client waits before it tries again what is under way, in seconds.
const RETRY_SOON: u64 = 2;

/// No script and no style but our own files, no frame, no form that leads elsewhere.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                              font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; \
                              frame-ancestors 'none'";

/// What a handler answers.
#[derive(Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    content: Content,
    version: Option<u64>,
}

#[derive(Debug)]
enum Content {
    Text(&'static str, String),
    Rendered(Rendered),
    /// Bytes of the binary that are compressed with gzip.
    Packed(&'static str, &'static [u8]),
    Stream(&'static str, Body),
    Whole(Response<Body>),
}

/// An object as it is sent, with its tag: rendered once, for as many as ask for it.
#[derive(Debug, Clone)]
pub(crate) struct Rendered {
    media: &'static str,
    body: Bytes,
    tag: HeaderValue,
}

impl Rendered {
    /// Renders an object.
    pub(crate) fn json(value: impl Serialize) -> Self {
        Rendered::of(JSON, to_json(&value), None)
    }

    fn of(media: &'static str, text: String, version: Option<u64>) -> Self {
        let tag = HeaderValue::from_str(&tag_of(version, &text)).expect("a tag is plain ASCII");
        Rendered { media, body: text.into(), tag }
    }
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a view is plain data")
}

impl Answer {
    /// Answers with what was rendered for several.
    pub(crate) fn rendered(rendered: Rendered) -> Self {
        Answer::of(Content::Rendered(rendered))
    }

    /// Answers with an object.
    pub(crate) fn json(value: impl Serialize) -> Self {
        Answer::text(JSON, to_json(&value))
    }

    /// Answers with a text of this type.
    pub(crate) fn text(media: &'static str, text: impl Into<String>) -> Self {
        Answer::of(Content::Text(media, text.into()))
    }

    /// Answers with a text of this type that is compressed with gzip already.
    pub(crate) fn packed(media: &'static str, bytes: &'static [u8]) -> Self {
        Answer::of(Content::Packed(media, bytes)).header(header::CONTENT_ENCODING, "gzip")
    }

    /// Answers with what comes while the connection is open.
    pub(crate) fn stream(media: &'static str, body: Body) -> Self {
        Answer::of(Content::Stream(media, body))
    }

    /// Answers with a response that another protocol has made.
    pub(crate) fn whole(response: Response<Body>) -> Self {
        Answer::of(Content::Whole(response))
    }

    /// Returns the object, for a caller within; a text becomes one, and what comes piece by piece is not for it.
    pub(crate) fn into_value(self) -> Value {
        let (media, text) = match self.content {
            Content::Text(media, text) => (media, text),
            Content::Rendered(Rendered { media, body, .. }) => {
                (media, String::from_utf8_lossy(&body).into_owned())
            }
            Content::Packed(..) | Content::Stream(..) | Content::Whole(_) => return serde_json::json!({}),
        };
        match serde_json::from_str(&text) {
            Ok(value @ Value::Object(_)) if media == JSON => value,
            Ok(items) if media == JSON => serde_json::json!({ "items": items }),
            _ => serde_json::json!({ "text": text }),
        }
    }

    fn of(content: Content) -> Self {
        Answer { status: StatusCode::OK, headers: HeaderMap::new(), content, version: None }
    }

    pub(crate) fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// Says from which event on to follow.
    pub(crate) fn seq(self, seq: u64) -> Self {
        self.header(SEQ, &seq.to_string())
    }

    /// Sets the version that `If-Match` is compared with.
    pub(crate) fn version(mut self, version: u64) -> Self {
        self.version = Some(version);
        self
    }

    /// Makes the response; `is_read` is for a request that only reads, which may already have the same.
    pub(crate) fn into_response(mut self, is_read: bool, asked: &HeaderMap) -> Response<Body> {
        let rendered = match self.content {
            Content::Text(media, text) if self.status == StatusCode::OK => {
                Rendered::of(media, text, self.version)
            }
            Content::Text(media, text) => {
                self.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
                return build(self.status, self.headers, full(text));
            }
            Content::Rendered(rendered) => rendered,
            Content::Whole(response) => return response,
            Content::Packed(media, bytes) => {
                self.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
                let body = Full::new(Bytes::from_static(bytes)).boxed_unsync();
                return build(self.status, self.headers, body);
            }
            Content::Stream(media, body) => {
                self.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
                return build(self.status, self.headers, body);
            }
        };
        let Rendered { media, body, tag } = rendered;
        let has_same = is_read && names_tag(asked, header::IF_NONE_MATCH, |asked| tag == asked);
        self.headers.insert(header::ETAG, tag);
        if has_same {
            return build(StatusCode::NOT_MODIFIED, self.headers, Empty::new().boxed_unsync());
        }
        self.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
        build(self.status, self.headers, full(body))
    }
}

/// Makes the tag of an object: its version in the log if it has one, and the digest of all that was sent.
///
/// A view also has what is not in the object's own stream, such as what a running session does. A cached copy is good only
/// if all of it is the same; a change is refused only if the object itself has changed.
fn tag_of(version: Option<u64>, body: &str) -> String {
    let digest = &crate::keys::digest_of(body)[..16];
    match version {
        Some(version) => format!("\"{version}-{digest}\""),
        None => format!("\"{digest}\""),
    }
}

/// Tells whether a header lists a tag that is meant, or `*`.
fn names_tag(asked: &HeaderMap, name: HeaderName, is_meant: impl Fn(&str) -> bool) -> bool {
    let mut lists = asked.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lists.any(|list| {
        list.split(',')
            .map(str::trim)
            .any(|tag| tag == "*" || is_meant(tag.strip_prefix("W/").unwrap_or(tag)))
    })
}

/// Returns the versions that `If-Match` names; nothing if any version will do.
pub(crate) fn asked_versions(asked: &HeaderMap) -> Option<Vec<u64>> {
    if !asked.contains_key(header::IF_MATCH) || names_tag(asked, header::IF_MATCH, |_| false) {
        return None;
    }
    let lists = asked.get_all(header::IF_MATCH).iter().filter_map(|value| value.to_str().ok());
    let tags = lists.flat_map(|list| list.split(',')).map(str::trim);
    let number = |tag: &str| tag.trim_start_matches("W/").trim_matches('"').split('-').next()?.parse().ok();
    // What is not a tag of ours names no version, so it matches none.
    Some(tags.filter_map(number).collect())
}

fn full(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).boxed_unsync()
}

fn build(status: StatusCode, headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// Makes the response of an error.
pub(crate) fn of_problem(problem: &Problem) -> Response<Body> {
    let status = status_of(problem.code);
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"regatta\""));
    }
    if let Some(allowed) = problem.details.get("allowed").and_then(Value::as_array) {
        let list: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
        headers.extend(HeaderValue::from_str(&list.join(", ")).ok().map(|list| (header::ALLOW, list)));
    }
    if let Some(seconds) = retry_after(problem) {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    build(status, headers, full(problem.to_json().to_string()))
}

/// Returns after how many seconds a repetition can succeed, where that is known.
fn retry_after(problem: &Problem) -> Option<u64> {
    match problem.code {
        Code::TaskBusy | Code::StateInUse | Code::TooManyConnections => Some(RETRY_SOON),
        _ => None,
    }
}

/// Adds the headers that keep a browser from doing more with a response than it should.
pub(crate) fn harden(response: &mut Response<Body>) {
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: &'static str| {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    };
    set("content-security-policy", CONTENT_POLICY);
    set("x-content-type-options", "nosniff");
    set("x-frame-options", "DENY");
    set("referrer-policy", "no-referrer");
    set("cross-origin-opener-policy", "same-origin");
    set("cross-origin-resource-policy", "same-origin");
    if headers.contains_key(header::CACHE_CONTROL) {
        return;
    }
    // A copy with a tag may be kept, if the server is asked each time whether it is still good.
    let kept = if headers.contains_key(header::ETAG) { "private, no-cache" } else { "no-store" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
}

/// The error of a request whose handler panicked.
pub(crate) fn bug(id: Uuid) -> Problem {
    let why = "something that cannot happen did; this is a bug in Regatta";
    let next = format!("please report it with the line that the server printed for request {id}");
    Problem::new(Code::Internal, "the request was not answered", why, next).with("requestId", id.to_string())
}

/// The error of a connection that is one too many.
pub(crate) fn too_many_connections() -> Problem {
    let why = "the server has as many open connections as it accepts";
    Problem::new(
        Code::TooManyConnections,
        "the connection was refused",
        why,
        "close some, or try again in a few seconds",
    )
}

/// The error of an address that does not exist.
pub(crate) fn no_route(path: &str) -> Problem {
    let why = "the server has nothing at that address";
    Problem::new(
        Code::RouteNotFound,
        format!("{path} was not found"),
        why,
        "see /api/openapi.json for what there is",
    )
}

/// The error of a method that an address does not have.
pub(crate) fn no_method(method: &str, path: &str, routes: &[Arc<Route>]) -> Problem {
    let what = format!("{method} {path} was not done");
    let allowed: Vec<&str> = routes.iter().map(|route| route.method.as_str()).collect();
    let next = format!("use {}", allowed.join(" or "));
    Problem::new(Code::MethodNotAllowed, what, "the address has no such method", next)
        .with("allowed", allowed)
}

/// The error of a field or a parameter.
pub(crate) fn invalid(field: &str, problem: impl Into<String>) -> Problem {
    let problem = problem.into();
    let fields = serde_json::json!([{ "field": field, "problem": problem }]);
    let why = format!("{field} {problem}");
    Problem::new(
        Code::ValidationError,
        "the request was refused",
        why,
        "change it and try again; nothing was done",
    )
    .with("fields", fields)
}
