//! The Durable Streams protocol, to read with: catch up, long poll, or follow as server-sent events.
//!
//! A stream is a list of JSON values that only grows: the log, or the output of a session. Its offsets are the numbers of its
//! values, so a client that was interrupted continues exactly where it stopped. Nothing can be written here. Start reading at
//! [`read`], then `source`.

mod cursor;
mod follow;
mod offset;
mod read;
mod source;

pub(crate) use read::{Request, read};
pub(crate) use source::{LogSource, SessionSource, Source};
