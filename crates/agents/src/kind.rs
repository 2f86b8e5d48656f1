//! The kinds of agent there are, by the names the config uses.
//!
//! A kind is only a name: what it does lives in the file of that name.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::headless;
use crate::home::Home;

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

    /// Returns what it keeps in a home folder.
    pub fn home(self) -> &'static Home {
        headless::home_of(self)
    }

    /// Returns the one of this name.
    pub fn find(name: &str) -> Option<HeadlessKind> {
        HeadlessKind::ALL.into_iter().find(|kind| kind.program() == name)
    }

    /// Returns the agent that a command starts, directly, through a bridge such as `codex-acp`, or with `npx`.
    pub fn of_command(command: &[String]) -> Option<HeadlessKind> {
        let names = command.iter().filter_map(|word| Path::new(word).file_name()?.to_str());
        names
            .filter_map(|name| {
                let name = name.split_once('@').map_or(name, |(name, _)| name);
                let bridged =
                    ["-agent-acp", "-code-acp", "-acp"].iter().find_map(|end| name.strip_suffix(end));
                HeadlessKind::find(bridged.unwrap_or(name))
            })
            .next()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_known_by_its_command() {
        let of =
            |line: &str| HeadlessKind::of_command(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(of("/usr/bin/claude -p"), Some(HeadlessKind::Claude));
        assert_eq!(of("/opt/claude-agent-acp"), Some(HeadlessKind::Claude));
        assert_eq!(of("npx @zed-industries/claude-code-acp@1.2"), Some(HeadlessKind::Claude));
        assert_eq!(of("npx codex"), Some(HeadlessKind::Codex));
        assert_eq!(of("goose acp"), Some(HeadlessKind::Goose));
        assert_eq!(of("sh agent.sh"), None);
    }
}
