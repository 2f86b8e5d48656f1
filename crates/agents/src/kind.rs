//! The kinds of agent there are, by the names the config uses.
//!
//! A kind is only a name: what it does lives in the file of that name. The names of headless agents come from
//! [`AGENTS`](crate::headless::AGENTS), so that nothing here changes when one is added.

use std::fmt;
use std::path::Path;
use std::sync::LazyLock;

use serde::{Serialize, Serializer};

use crate::headless::{AGENTS, Adapter, HeadlessAgent};
use crate::home::Home;

/// A kind of agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Plays a script inside this process; no model is asked.
    Scripted,
    /// Runs any program: prompt on its standard input, result on its standard output.
    Command,
    /// Runs a program that speaks the Agent Client Protocol on standard input and output.
    Acp,
    /// Runs a known agent without a terminal.
    Headless(HeadlessKind),
}

/// A known agent that runs without a terminal; compared and serialized by its name.
#[derive(Clone, Copy)]
pub struct HeadlessKind(&'static HeadlessAgent);

static NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| [&["acp"][..], HeadlessKind::names(), &["command", "scripted"]].concat());

static HEADLESS_NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| HeadlessKind::all().map(HeadlessKind::name).collect());

impl Kind {
    /// Returns the names of all kinds.
    pub fn names() -> &'static [&'static str] {
        &NAMES
    }

    /// Returns the kind of this name.
    pub fn find(name: &str) -> Option<Kind> {
        match name {
            "scripted" => Some(Kind::Scripted),
            "command" => Some(Kind::Command),
            "acp" => Some(Kind::Acp),
            name => HeadlessKind::find(name).map(Kind::Headless),
        }
    }

    /// Returns the name used in the config and in logs.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Scripted => "scripted",
            Kind::Command => "command",
            Kind::Acp => "acp",
            Kind::Headless(kind) => kind.name(),
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
    /// Returns all of them, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = HeadlessKind> {
        AGENTS.iter().map(HeadlessKind)
    }

    /// Returns the names of all.
    pub fn names() -> &'static [&'static str] {
        &HEADLESS_NAMES
    }

    /// Returns the one of this name.
    pub fn find(name: &str) -> Option<HeadlessKind> {
        HeadlessKind::all().find(|kind| kind.name() == name)
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

    /// Returns its name, which is also the name of its program.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the programs through which it speaks the Agent Client Protocol.
    pub fn bridges(self) -> &'static [&'static str] {
        self.0.bridges
    }

    /// Returns what it keeps in a home folder.
    pub fn home(self) -> &'static Home {
        &self.0.home
    }

    /// Tells whether its sessions have a home of their own even without a sandbox.
    pub fn is_always_private(self) -> bool {
        self.0.home.is_always_private
    }

    /// Returns what starts it and reads its output.
    pub(crate) fn adapter(self) -> Box<dyn Adapter> {
        (self.0.adapter)()
    }
}

impl PartialEq for HeadlessKind {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for HeadlessKind {}

impl fmt::Debug for HeadlessKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for HeadlessKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_known_by_its_command() {
        let of = |line: &str| {
            let command: Vec<String> = line.split(' ').map(str::to_owned).collect();
            HeadlessKind::of_command(&command).map(HeadlessKind::name)
        };
        assert_eq!(of("/usr/bin/claude -p"), Some("claude"));
        assert_eq!(of("/opt/claude-agent-acp"), Some("claude"));
        assert_eq!(of("npx @zed-industries/claude-code-acp@1.2"), Some("claude"));
        assert_eq!(of("npx codex"), Some("codex"));
        assert_eq!(of("goose acp"), Some("goose"));
        assert_eq!(of("sh agent.sh"), None);
    }

    #[test]
    fn every_name_is_found_again_and_taken_once() {
        for name in Kind::names() {
            assert_eq!(Kind::find(name).map(Kind::name), Some(*name));
            assert_eq!(Kind::names().iter().filter(|known| *known == name).count(), 1, "{name}");
        }
        assert_eq!(Kind::find("none"), None, "the config has another meaning for it");
    }
}
