//! Reads both streams of a headless agent, as they come in pieces, by its adapter.
//!
//! Pure but for what it is told of the time. Whatever is printed does no harm: lines are bounded, bytes that are not UTF-8
//! and JSON that is too deep are text.

use jiff::Timestamp;

use super::Adapter;
use super::lines::{Line, Lines};
use crate::heard::Heard;
use crate::json;
use crate::output::Output;
use crate::process::Stream;

/// Reads the streams of one session.
#[derive(Debug)]
pub(crate) struct Reader {
    adapter: Box<dyn Adapter>,
    heard: Heard,
    out: Lines,
    error: Lines,
}

impl Reader {
    pub(crate) fn new(adapter: Box<dyn Adapter>, heard: Heard) -> Reader {
        Reader { adapter, heard, out: Lines::default(), error: Lines::default() }
    }

    /// Takes a piece and returns what it says.
    pub(crate) fn push(&mut self, stream: Stream, bytes: &[u8], now: Timestamp) -> Vec<Output> {
        let Reader { adapter, heard, out, error } = self;
        heard.set_now(now);
        match stream {
            Stream::Out => out.push(bytes, |line| read_line(adapter.as_mut(), line, heard)),
            Stream::Error => error.push(bytes, |line| read_error_line(adapter.as_mut(), line, heard)),
        }
        heard.take_pieces()
    }

    /// Reads last lines that have no end.
    pub(crate) fn finish(&mut self) -> Vec<Output> {
        let Reader { adapter, heard, out, error } = self;
        out.finish(|line| read_line(adapter.as_mut(), line, heard));
        error.finish(|line| read_error_line(adapter.as_mut(), line, heard));
        heard.take_pieces()
    }

    /// Returns what was heard so far.
    pub(crate) fn heard(&self) -> &Heard {
        &self.heard
    }

    /// Returns what was heard in all.
    pub(crate) fn into_heard(self) -> Heard {
        self.heard
    }
}

fn read_line(adapter: &mut dyn Adapter, line: Line<'_>, heard: &mut Heard) {
    match line {
        Line::TooLong(bytes) => heard.skip(bytes),
        Line::Whole(bytes) if json::is_heavy(bytes) => heard.skip(bytes.len() as u64),
        Line::Whole(bytes) => match json::parse(bytes) {
            Ok(event) if event.is_object() => adapter.read(&event, heard),
            _ if bytes.iter().all(u8::is_ascii_whitespace) => {}
            _ => heard.print(&format!("{}\n", String::from_utf8_lossy(bytes))),
        },
    }
}

fn read_error_line(adapter: &mut dyn Adapter, line: Line<'_>, heard: &mut Heard) {
    if let Line::Whole(bytes) = line {
        adapter.read_error(String::from_utf8_lossy(bytes).trim_end(), heard);
    }
}
