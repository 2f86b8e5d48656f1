//! The body of a response that comes piece by piece.

use crate::answer::Body;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Frame;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// Makes a body, and what sends into it. One piece waits at most: a client that does not read holds its sender up.
pub(crate) fn channel() -> (mpsc::Sender<Bytes>, Body) {
    let (sender, receiver) = mpsc::channel(1);
    (sender, Pieces { receiver }.boxed_unsync())
}

struct Pieces {
    receiver: mpsc::Receiver<Bytes>,
}

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.receiver.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
