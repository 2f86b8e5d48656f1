//! What was asked, kept for tests to look at; bounded, so that a program that repeats itself does no harm.

use serde_json::Value;

/// The most requests that are kept; a program that sends more is caught in a loop.
pub(crate) const REQUESTS_MAX: usize = 1_000;

/// The most bytes of a body that are kept; programs send tens to hundreds of kilobytes of instructions.
const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// One request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method, such as `POST`.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers in order, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, cut off when it is very long.
    pub body: String,
}

impl Request {
    /// Returns a header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON, or null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Records a request.
    pub(crate) fn of(head: &hyper::http::request::Parts, body: &[u8]) -> Self {
        let header = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        Request {
            method: head.method.to_string(),
            path: head.uri.path_and_query().map_or_else(String::new, ToString::to_string),
            headers: head.headers.iter().map(header).collect(),
            body: String::from_utf8_lossy(&body[..body.len().min(BODY_BYTES_MAX)]).into_owned(),
        }
    }
}
