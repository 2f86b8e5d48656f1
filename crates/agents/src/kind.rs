//! The kinds of agent there are, by the names the config uses.
//!
//! A kind is only a name: what it does lives in the file of that name.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A kind of agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Plays a script inside this process; no model is asked.
    Scripted,
    /// Runs any program: prompt on its standard input, result on its standard output.
    Command,
    /// Runs a program that speaks the Agent Client Protocol on standard input and output.
    Acp,
    /// Runs Claude Code without a terminal.
    Claude,
    /// Runs Codex without a terminal.
    Codex,
    /// Runs Gemini CLI without a terminal.
    Gemini,
    /// Runs opencode without a terminal.
    Opencode,
    /// Runs goose without a terminal.
    Goose,
}

/// A program that runs without a terminal and prints its events as JSON, one a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum HeadlessKind {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Goose,
}

impl Kind {
    /// Returns the name used in the config and in logs.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Scripted => "scripted",
            Kind::Command => "command",
            Kind::Acp => "acp",
            Kind::Claude => "claude",
            Kind::Codex => "codex",
            Kind::Gemini => "gemini",
            Kind::Opencode => "opencode",
            Kind::Goose => "goose",
        }
    }

    /// Returns the short notice shown wherever an agent of this kind appears.
    pub fn says(self) -> &'static str {
        match self {
            Kind::Scripted => "scripted (plays a script, no model)",
            kind => kind.name(),
        }
    }
}

impl HeadlessKind {
    /// All of them.
    pub const ALL: [HeadlessKind; 5] = [
        HeadlessKind::Claude,
        HeadlessKind::Codex,
        HeadlessKind::Gemini,
        HeadlessKind::Opencode,
        HeadlessKind::Goose,
    ];

    /// Returns the kind of agent this is.
    pub fn kind(self) -> Kind {
        match self {
            HeadlessKind::Claude => Kind::Claude,
            HeadlessKind::Codex => Kind::Codex,
            HeadlessKind::Gemini => Kind::Gemini,
            HeadlessKind::Opencode => Kind::Opencode,
            HeadlessKind::Goose => Kind::Goose,
        }
    }

    /// Returns the name that the program usually has.
    pub fn program(self) -> &'static str {
        self.kind().name()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
