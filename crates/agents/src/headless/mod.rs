//! Agents that run without a terminal and print their events as JSON, one a line.
//!
//! Each has a file of its own, which exports one constant `AGENT`: its name, what it keeps in a home, and an [`Adapter`] that
//! says how it is started and what its events mean. An adapter is pure and is tested on recorded streams. To add an agent,
//! write such a file and name it twice below; the config, detection, homes and the sandbox read [`AGENTS`].
//!
//! What they have in common is here too: lines are bounded, what is not JSON is text, unknown events are passed over, and
//! the outcome is what the stream says; an exit with 0 alone means nothing.

mod agent;
mod conclude;
mod drive;
pub(crate) mod event;
#[cfg(test)]
mod hostile;
mod lines;
mod open_edits;
mod plan;
#[cfg(test)]
mod plan_check;
mod reader;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod reference;

mod claude;
mod codex;
mod gemini;
mod goose;
mod opencode;
mod qwen;

pub(crate) use agent::{Adapter, HeadlessAgent};
pub(crate) use conclude::{conclude, explain_end};
pub(crate) use drive::{drive, spawn};
pub(crate) use lines::{Line, Lines};

/// The agents that are known, in the order in which they are shown.
///
/// A list and not a macro that declares the modules too, because `cargo fmt` does not find modules inside of one.
pub(crate) static AGENTS: &[HeadlessAgent] =
    &[claude::AGENT, codex::AGENT, gemini::AGENT, opencode::AGENT, goose::AGENT, qwen::AGENT];
