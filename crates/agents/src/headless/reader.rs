//! Reads both streams of a headless agent, as they come in pieces, by its adapter.
//!
//! Pure: the caller passes the time in. Whatever is printed does no harm: lines are bounded, bytes that are not UTF-8
//! and JSON that is too deep are text.

use jiff::Timestamp;

use super::agent::Adapter;
use super::lines::{Line, Lines};
use crate::agent_output::AgentOutput;
use crate::json;
use crate::output::Output;
use crate::process::Stream;

/// Reads the streams of one session.
#[derive(Debug)]
pub(crate) struct Reader {
    adapter: Box<dyn Adapter>,
    output: AgentOutput,
    out: Lines,
    error: Lines,
}

impl Reader {
    pub(crate) fn new(adapter: Box<dyn Adapter>, output: AgentOutput) -> Reader {
        Reader { adapter, output, out: Lines::default(), error: Lines::default() }
    }

    /// Takes a piece and returns what it says.
    pub(crate) fn push(&mut self, stream: Stream, bytes: &[u8], now: Timestamp) -> Vec<Output> {
        let Reader { adapter, output, out, error } = self;
        output.set_now(now);
        match stream {
            Stream::Out => out.push(bytes, |line| read_line(adapter.as_mut(), line, output)),
            Stream::Error => error.push(bytes, |line| read_error_line(adapter.as_mut(), line, output)),
        }
        output.take_pieces()
    }

    /// Reads last lines that have no end.
    pub(crate) fn finish(&mut self) -> Vec<Output> {
        let Reader { adapter, output, out, error } = self;
        out.finish(|line| read_line(adapter.as_mut(), line, output));
        error.finish(|line| read_error_line(adapter.as_mut(), line, output));
        output.take_pieces()
    }

    /// Returns what the agent has said so far.
    pub(crate) fn output(&self) -> &AgentOutput {
        &self.output
    }

    /// Returns all that the agent has said.
    pub(crate) fn into_output(self) -> AgentOutput {
        self.output
    }
}

fn read_line(adapter: &mut dyn Adapter, line: Line<'_>, output: &mut AgentOutput) {
    match line {
        Line::TooLong(bytes) => output.skip(bytes),
        Line::Whole(bytes) if json::is_heavy(bytes) => output.skip(bytes.len() as u64),
        Line::Whole(bytes) => match json::parse(bytes) {
            Ok(event) if event.is_object() => adapter.read(&event, output),
            _ if bytes.iter().all(u8::is_ascii_whitespace) => {}
            _ => output.print(&format!("{}\n", String::from_utf8_lossy(bytes))),
        },
    }
}

fn read_error_line(adapter: &mut dyn Adapter, line: Line<'_>, output: &mut AgentOutput) {
    if let Line::Whole(bytes) = line {
        adapter.read_error(String::from_utf8_lossy(bytes).trim_end(), output);
    }
}
