//! Agents that run without a terminal and print their events as JSON, one a line.
//!
//! Each has a file of its own, an [`Adapter`]: how it is started, and what its events mean. An adapter is pure and is tested
//! on recorded streams. What they have in common is here: lines are bounded, what is not JSON is text, unknown events
//! are passed over, and the outcome is what the stream says; an exit with 0 alone means nothing.

mod claude;
mod codex;
mod conclude;
mod drive;
pub(crate) mod event;
mod gemini;
mod goose;
#[cfg(test)]
mod hostile;
mod lines;
mod opencode;
mod plan;
mod reader;
#[cfg(test)]
mod recorded;

use std::fmt;

use serde_json::Value;

pub(crate) use conclude::{conclude, explain_end};
pub(crate) use drive::{drive, spawn};
pub(crate) use lines::{Line, Lines};
use plan::Plan;

use crate::agent_output::AgentOutput;
use crate::change::Change;
use crate::home::Home;
use crate::kind::HeadlessKind;
use crate::start::Start;

/// One agent: how it is started, and what it prints.
pub(crate) trait Adapter: fmt::Debug + Send {
    /// Says how the program is started for a session, new or resumed; the command is its program and the user's words.
    fn plan(&mut self, start: &Start, command: &[String]) -> Plan;

    /// Reads one event of standard output.
    fn read(&mut self, event: &Value, output: &mut AgentOutput);

    /// Reads one line of standard error, which is shown in any case.
    fn read_error(&mut self, _line: &str, _heard: &mut AgentOutput) {}
}

/// Returns what an agent keeps in a home folder.
pub(crate) fn home_of(kind: HeadlessKind) -> &'static Home {
    match kind {
        HeadlessKind::Claude => &claude::HOME,
        HeadlessKind::Codex => &codex::HOME,
        HeadlessKind::Gemini => &gemini::HOME,
        HeadlessKind::Opencode => &opencode::HOME,
        HeadlessKind::Goose => &goose::HOME,
    }
}

/// The call of a tool that writes, until it comes back.
#[derive(Debug)]
struct OpenEdit {
    id: String,
    path: String,
    change: Option<Change>,
}

/// Returns the adapter of an agent.
fn adapter_of(kind: HeadlessKind) -> Box<dyn Adapter> {
    match kind {
        HeadlessKind::Claude => Box::new(claude::Claude::default()),
        HeadlessKind::Codex => Box::new(codex::Codex),
        HeadlessKind::Gemini => Box::new(gemini::Gemini::default()),
        HeadlessKind::Opencode => Box::new(opencode::Opencode::default()),
        HeadlessKind::Goose => Box::new(goose::Goose::default()),
    }
}
