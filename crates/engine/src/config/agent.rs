//! `[agents.NAME]`: who can do the work.

use super::{Fault, RawLimits, Words, fault, limits};
use regatta_agents::{HeadlessKind, Limits, Permissions};
use serde::Deserialize;
use std::path::PathBuf;

/// More are a mistake in the config rather than a wish.
pub(super) const AGENTS_MAX: u32 = 1_000;
/// Longer than any model is called.
const MODEL_CHARACTERS_MAX: usize = 200;

/// One agent of the config.
#[derive(Debug, Clone)]
pub struct AgentEntry {
    /// What is started.
    pub program: Program,
    /// The model, in the agent's own words.
    pub model: Option<String>,
    /// How many tasks it may work on at the same time.
    pub instances: u32,
    /// The variables of our own environment that it gets to see.
    pub environment: Vec<String>,
    /// What it is answered when it asks for leave.
    pub permissions: Permissions,
    /// When its sessions are ended.
    pub limits: Limits,
}

/// What an agent is.
#[derive(Debug, Clone)]
pub enum Program {
    /// Plays a script; no model.
    Scripted {
        /// The script, from the project's root unless absolute.
        script: PathBuf,
    },
    /// Any program: prompt in, JSON out.
    Command {
        /// Program and arguments.
        command: Vec<String>,
    },
    /// A known agent, without a terminal.
    Headless {
        /// Which one.
        kind: HeadlessKind,
        /// Program and arguments of the user's own.
        command: Vec<String>,
    },
    /// A program that speaks the Agent Client Protocol.
    Acp {
        /// Program and arguments.
        command: Vec<String>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAgent {
    kind: RawKind,
    command: Option<Words>,
    script: Option<PathBuf>,
    model: Option<String>,
    #[serde(default = "one")]
    instances: u32,
    #[serde(default)]
    env: Vec<String>,
    #[serde(default)]
    permissions: Permissions,
    #[serde(default)]
    limits: RawLimits,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum RawKind {
    Acp,
    Claude,
    Codex,
    Gemini,
    Opencode,
    Goose,
    Command,
    Scripted,
}

fn one() -> u32 {
    1
}

impl RawAgent {
    pub(super) fn check(&self, name: &str, defaults: &RawLimits) -> Result<AgentEntry, Fault> {
        let key = format!("agents.{name}");
        if !(1..=AGENTS_MAX).contains(&self.instances) {
            return Err(fault("instances", format!("`{key}.instances` must be 1 to {AGENTS_MAX}")));
        }
        let program = self.program(&key)?;
        let takes_model = matches!(program, Program::Headless { .. });
        if let Some(model) = &self.model {
            let length = model.chars().count();
            let is_plain = !model.starts_with('-') && !model.chars().any(char::is_control);
            if !takes_model || !is_plain || !(1..=MODEL_CHARACTERS_MAX).contains(&length) {
                let message =
                    format!("`{key}.model` must be the name of a model, for an agent that takes one");
                return Err(fault("model", message));
            }
        }
        Ok(AgentEntry {
            program,
            model: self.model.clone(),
            instances: self.instances,
            environment: self.env.clone(),
            permissions: self.permissions,
            limits: limits(&self.limits, defaults)?,
        })
    }

    fn program(&self, key: &str) -> Result<Program, Fault> {
        let wrong = |needs: &str| Err(fault(key, format!("`{key}` is {needs}")));
        let kind = match (self.kind, &self.command, &self.script) {
            (RawKind::Scripted, None, Some(script)) => {
                return Ok(Program::Scripted { script: script.clone() });
            }
            (RawKind::Scripted, ..) => return wrong("scripted: it needs `script` and takes no `command`"),
            (RawKind::Command, Some(command), None) => {
                return Ok(Program::Command { command: command.split(key)? });
            }
            (RawKind::Command, ..) => return wrong("a command: it needs `command` and takes no `script`"),
            (RawKind::Acp, Some(command), None) => return Ok(Program::Acp { command: command.split(key)? }),
            (RawKind::Acp, ..) => return wrong("an ACP agent: it needs `command` and takes no `script`"),
            (_, _, Some(_)) => return wrong("a program: it takes no `script`"),
            (RawKind::Claude, ..) => HeadlessKind::Claude,
            (RawKind::Codex, ..) => HeadlessKind::Codex,
            (RawKind::Gemini, ..) => HeadlessKind::Gemini,
            (RawKind::Opencode, ..) => HeadlessKind::Opencode,
            (RawKind::Goose, ..) => HeadlessKind::Goose,
        };
        let command = match &self.command {
            Some(command) => command.split(key)?,
            None => vec![kind.program().to_owned()],
        };
        Ok(Program::Headless { kind, command })
    }
}
