//! A reply over HTTP: one JSON document, or a stream of server-sent events.

use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use hyper::http::{self, Response};
use serde_json::Value;

use super::body::{End, Pieces};

/// The type of one document.
const JSON: &str = "application/json";

/// What is sent back.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The HTTP status.
    pub(crate) status: u16,
    /// Headers besides the type of the content.
    pub(crate) headers: Vec<(&'static str, String)>,
    content_type: &'static str,
    pieces: Vec<Bytes>,
    end: End,
}

/// A server-sent event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    name: Option<&'static str>,
    data: String,
}

impl Event {
    /// Returns an event with a name.
    pub(crate) fn named(name: &'static str, data: &Value) -> Self {
        Event { name: Some(name), data: data.to_string() }
    }

    /// Returns an event that is only data.
    pub(crate) fn data(data: impl ToString) -> Self {
        Event { name: None, data: data.to_string() }
    }

    fn render(&self) -> Bytes {
        match self.name {
            Some(name) => format!("event: {name}\ndata: {}\n\n", self.data).into(),
            None => format!("data: {}\n\n", self.data).into(),
        }
    }
}

impl Reply {
    /// Returns a reply of one JSON document.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let pieces = vec![body.to_string().into()];
        Reply { status, headers: Vec::new(), content_type: JSON, pieces, end: End::Whole }
    }

    /// Returns a reply of one JSON document that may not arrive whole.
    pub(crate) fn document(body: &Value, end: End) -> Self {
        let mut reply = Reply { end, ..Reply::json(200, body) };
        if end != End::Whole {
            let text = body.to_string();
            reply.pieces =
                text.as_bytes().chunks(text.len().div_ceil(2)).map(Bytes::copy_from_slice).collect();
        }
        reply
    }

    /// Returns a stream of events that may not arrive whole.
    pub(crate) fn events(events: &[Event], end: End) -> Self {
        let pieces = events.iter().map(Event::render).collect();
        Reply { status: 200, headers: Vec::new(), content_type: "text/event-stream", pieces, end }
    }

    /// Adds headers.
    pub(crate) fn with(mut self, headers: Vec<(&'static str, String)>) -> Self {
        self.headers.extend(headers);
        self
    }

    /// Returns what would be sent, were it sent whole.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.pieces.iter().map(|piece| String::from_utf8_lossy(piece)).collect()
    }

    /// Returns the response for the server.
    pub(crate) fn into_response(self) -> Result<Response<Pieces>, http::Error> {
        let mut response = Response::builder()
            .status(self.status)
            .header(CONTENT_TYPE, self.content_type)
            .header(CACHE_CONTROL, "no-store");
        if self.content_type == JSON && self.end == End::Whole {
            let length: usize = self.pieces.iter().map(Bytes::len).sum();
            response = response.header(CONTENT_LENGTH, length);
        }
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        response.body(Pieces::new(self.pieces, self.end))
    }
}
