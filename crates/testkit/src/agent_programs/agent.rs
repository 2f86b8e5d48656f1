//! The agents that tests know, and the program that each of them is.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// An agent that tests can run: a program, or a program as an ACP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// goose.
    Goose,
    /// opencode.
    Opencode,
    /// Qwen Code.
    Qwen,
    /// Claude Code behind an ACP bridge.
    ClaudeAcp,
    /// Codex behind an ACP bridge.
    CodexAcp,
    /// Gemini CLI as an ACP server.
    GeminiAcp,
    /// goose as an ACP server.
    GooseAcp,
    /// opencode as an ACP server.
    OpencodeAcp,
}

/// A program as the table describes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The exact version.
    pub(crate) version: String,
    /// The npm package.
    pub(crate) package: String,
    /// The program, below `node_modules`.
    pub(crate) program: String,
    /// Whether it needs another program to do the work.
    #[serde(default)]
    pub(crate) is_bridge: bool,
}

/// The table that says what is installed; the installer reads the same file.
static TABLE: LazyLock<BTreeMap<String, Entry>> = LazyLock::new(|| {
    toml::from_str(include_str!("../../agent-programs.toml")).expect("the table of programs can be read")
});

impl Agent {
    /// All agents that are run headless.
    pub const HEADLESS: [Agent; 6] =
        [Agent::Claude, Agent::Codex, Agent::Gemini, Agent::Goose, Agent::Opencode, Agent::Qwen];

    /// All agents that are ACP servers.
    pub const ACP: [Agent; 5] =
        [Agent::ClaudeAcp, Agent::CodexAcp, Agent::GeminiAcp, Agent::GooseAcp, Agent::OpencodeAcp];

    /// Returns its name, such as `codex` or `acp-codex`.
    pub fn name(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
            Agent::Goose => "goose",
            Agent::Opencode => "opencode",
            Agent::Qwen => "qwen",
            Agent::ClaudeAcp => "acp-claude",
            Agent::CodexAcp => "acp-codex",
            Agent::GeminiAcp => "acp-gemini",
            Agent::GooseAcp => "acp-goose",
            Agent::OpencodeAcp => "acp-opencode",
        }
    }

    /// Returns the version that is installed.
    pub fn version(self) -> &'static str {
        &entry(self.program()).version
    }

    /// Returns the name of its program in the table.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::Gemini | Agent::GeminiAcp => "gemini",
            Agent::Goose | Agent::GooseAcp => "goose",
            Agent::Opencode | Agent::OpencodeAcp => "opencode",
            Agent::Qwen => "qwen",
            Agent::ClaudeAcp => "claude-agent-acp",
            Agent::CodexAcp => "codex-acp",
        }
    }

    /// Returns all programs that it needs, by their names in the table.
    pub(crate) fn needs(self) -> Vec<&'static str> {
        let behind = match self {
            Agent::ClaudeAcp => Some("claude"),
            Agent::CodexAcp => Some("codex"),
            _ => None,
        };
        [self.program(), NODE].into_iter().chain(behind).collect()
    }

    /// Returns the arguments that make its program this agent.
    pub(crate) fn arguments(self) -> &'static [&'static str] {
        match self {
            Agent::GeminiAcp => &["--acp"],
            Agent::GooseAcp | Agent::OpencodeAcp => &["acp"],
            _ => &[],
        }
    }
}

/// The program that runs JavaScript, for the agents that are written in it.
pub(crate) const NODE: &str = "node";

/// Returns the entry of a program.
pub(crate) fn entry(program: &str) -> &'static Entry {
    TABLE.get(program).unwrap_or_else(|| panic!("`{program}` has an entry in agent-programs.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_of_every_agent_is_in_the_table() {
        for agent in Agent::HEADLESS.into_iter().chain(Agent::ACP) {
            for program in agent.needs() {
                assert!(!entry(program).package.is_empty(), "{agent:?}");
            }
            let is_behind = agent.needs().len() == 3;
            assert_eq!(entry(agent.program()).is_bridge, is_behind, "{agent:?}");
        }
    }
}
