//! A stream as server-sent events: each list of values is followed by where the client then stands.

use super::read::{WAIT, render};
use super::source::Source;
use super::{cursor, offset};
use crate::answer::Body;
use crate::stream_body;
use bytes::Bytes;
use http::Response;
use http::header::{self, HeaderValue};
use serde_json::json;
use tokio::sync::mpsc;

/// Answers with everything after so many values, and with what comes.
pub(super) fn events(source: impl Source, after: u64, cursor: Option<String>) -> Response<Body> {
    let (sender, body) = stream_body::channel();
    tokio::spawn(feed(source, after, cursor, sender));
    let mut response = Response::new(body);
    let media = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, media);
    response
}

/// Sends until the stream is closed, the client is gone, or the stream cannot be read any more.
async fn feed(mut source: impl Source, mut after: u64, cursor: Option<String>, sender: mpsc::Sender<Bytes>) {
    loop {
        let Ok(tail) = source.tail().await else { return };
        let Ok(values) = source.read(after).await else { return };
        let mut piece = String::new();
        if !values.is_empty() {
            after += u64::try_from(values.len()).unwrap_or(u64::MAX);
            piece = format!("event: data\ndata:{}\n\n", render(&values));
        }
        let is_end = after >= tail.count;
        let control = if is_end && tail.is_closed {
            json!({ "streamNextOffset": offset::render(after), "streamClosed": true })
        } else {
            let mut control = json!({ "streamNextOffset": offset::render(after), "streamCursor": cursor::after(cursor.as_deref()) });
            if is_end {
                control["upToDate"] = true.into();
            }
            control
        };
        piece.push_str(&format!("event: control\ndata:{control}\n\n"));
        // Said once at the beginning, with each list, and when nothing came for a while.
        if sender.send(Bytes::from(piece)).await.is_err() || (is_end && tail.is_closed) {
            return;
        }
        if is_end {
            tokio::select! {
                () = sender.closed() => return,
                () = source.wait(after, WAIT) => {}
            }
            if source.is_over() {
                return;
            }
        }
    }
}
