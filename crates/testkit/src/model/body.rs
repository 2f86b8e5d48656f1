//! The body of an answer: pieces, and how the transmission ends.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};

/// How the transmission of an answer ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// All of it is sent.
    #[default]
    Whole,
    /// Half of it is sent, and the connection is closed.
    Cut,
    /// Half of it is sent, and nothing more.
    Stalled,
}

/// Pieces that are sent one after the other.
#[derive(Debug)]
pub(crate) struct Pieces {
    left: VecDeque<Bytes>,
    end: End,
    is_flushed: bool,
}

impl Pieces {
    /// Returns a body of pieces; of one that does not end well only the first half is kept, and at least one.
    pub(crate) fn new(pieces: Vec<Bytes>, end: End) -> Self {
        let mut left = VecDeque::from(pieces);
        if end != End::Whole {
            left.truncate((left.len() / 2).max(1));
        }
        Pieces { left, end, is_flushed: false }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(piece) = self.left.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match self.end {
            End::Whole => Poll::Ready(None),
            End::Stalled => Poll::Pending,
            // The server writes out what it has only when it must wait, and an error throws that away.
            End::Cut if !self.is_flushed => {
                self.is_flushed = true;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            End::Cut => Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into()))),
        }
    }
}
