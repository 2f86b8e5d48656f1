//! `[agents.NAME]`: who can do the work.

use crate::project::config::{Fault, RawLimits, Words, fault, limits};
use regatta_agents::{HeadlessKind, Kind, Limits, Permissions};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::LazyLock;

/// More are a mistake in the config rather than a wish.
pub(crate) const AGENTS_MAX: u32 = 1_000;
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
    /// The variables that it gets besides those that every program gets.
    pub environment: Vec<Variable>,
    /// The answer when it asks for permission.
    pub permissions: Permissions,
    /// When its sessions are ended.
    pub limits: Limits,
    /// Whose login it gets in a sandbox.
    pub login: Option<HeadlessKind>,
}

/// A variable of an agent's environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the session.
    pub name: String,
    /// Where its value comes from.
    pub source: Source,
}

/// Where the value of a variable comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A variable of our own environment.
    Passed(String),
    /// The config itself.
    Value(String),
    /// A file, from the project's root or after `~`.
    File(PathBuf),
    /// What a command prints; a line is run by the shell.
    Command(Vec<String>),
}

/// What an agent is.
#[derive(Debug, Clone, PartialEq, Eq)]
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

impl Program {
    /// Returns the login that it gets if its entry names none.
    pub(super) fn usual_login(&self) -> Option<HeadlessKind> {
        match self {
            Program::Headless { kind, .. } => Some(*kind),
            Program::Acp { command } => HeadlessKind::of_command(command),
            // Any program may call itself a command, so it gets a login only by name.
            Program::Command { .. } | Program::Scripted { .. } => None,
        }
    }

    /// Tells whether its sessions have a home of their own even without a sandbox.
    pub(crate) fn is_always_private(&self) -> bool {
        matches!(self, Program::Headless { kind, .. } if kind.is_always_private())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawAgent {
    #[serde(deserialize_with = "kind")]
    kind: Kind,
    command: Option<Words>,
    script: Option<PathBuf>,
    model: Option<String>,
    #[serde(default = "one")]
    instances: u32,
    #[serde(default)]
    env: RawEnv,
    #[serde(default)]
    permissions: Permissions,
    #[serde(default)]
    limits: RawLimits,
    #[serde(default, deserialize_with = "login")]
    login: Option<Login>,
}

/// Whose login an agent gets: that of a known agent, or nobody's.
type Login = Option<HeadlessKind>;

static LOGINS: LazyLock<Vec<&'static str>> = LazyLock::new(|| [HeadlessKind::names(), &["none"]].concat());

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
    deserializer.deserialize_str(OneOf { names: Kind::names(), find: Kind::find })
}

fn login<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Login>, D::Error> {
    let find = |name: &str| if name == "none" { Some(None) } else { HeadlessKind::find(name).map(Some) };
    deserializer.deserialize_str(OneOf { names: &LOGINS, find }).map(Some)
}

/// Reads one of several names; a wrong one is answered with all of them.
struct OneOf<T> {
    names: &'static [&'static str],
    find: fn(&str) -> Option<T>,
}

impl<T> Visitor<'_> for OneOf<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "one of {}", self.names.join(", "))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<T, E> {
        (self.find)(name).ok_or_else(|| E::unknown_variant(name, self.names))
    }
}

/// Names of variables that are passed on, or a table with their values.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a list of names, or a table such as { KEY = \"value\" }")]
enum RawEnv {
    Names(Vec<String>),
    Table(BTreeMap<String, RawVariable>),
}

impl Default for RawEnv {
    fn default() -> Self {
        RawEnv::Names(Vec::new())
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a text, { command = \"…\" }, { file = \"…\" } or { variable = \"NAME\" }")]
enum RawVariable {
    Value(String),
    Command(OfCommand),
    File(OfFile),
    Passed(OfVariable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfCommand {
    command: Words,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfFile {
    file: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfVariable {
    variable: String,
}

impl RawEnv {
    fn check(&self, key: &str) -> Result<Vec<Variable>, Fault> {
        let variables: Vec<Variable> = match self {
            RawEnv::Names(names) => {
                let passed =
                    |name: &String| Variable { name: name.clone(), source: Source::Passed(name.clone()) };
                names.iter().map(passed).collect()
            }
            RawEnv::Table(table) => {
                let find = |(name, raw): (&String, &RawVariable)| {
                    let source = match raw {
                        RawVariable::Value(value) => Source::Value(value.clone()),
                        RawVariable::Command(of) => Source::Command(of.command.to_shell("env")?),
                        RawVariable::File(of) => Source::File(of.file.clone()),
                        RawVariable::Passed(of) => Source::Passed(of.variable.clone()),
                    };
                    Ok(Variable { name: name.clone(), source })
                };
                table.iter().map(find).collect::<Result<_, Fault>>()?
            }
        };
        let is_bad = |name: &str| name.is_empty() || name.contains(['=', '\0']);
        let is_wrong = |variable: &&Variable| {
            is_bad(&variable.name) || matches!(&variable.source, Source::Value(value) if value.contains('\0'))
        };
        match variables.iter().find(is_wrong) {
            Some(bad) => {
                let message =
                    format!("`{key}.env` has `{}`, which cannot be a variable", bad.name.escape_debug());
                Err(fault("env", message))
            }
            None => Ok(variables),
        }
    }
}

fn one() -> u32 {
    1
}

impl RawAgent {
    pub(crate) fn check(&self, name: &str, defaults: &RawLimits) -> Result<AgentEntry, Fault> {
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
        let login = self.login.unwrap_or_else(|| program.usual_login());
        Ok(AgentEntry {
            login,
            program,
            model: self.model.clone(),
            instances: self.instances,
            environment: self.env.check(&key)?,
            permissions: self.permissions,
            limits: limits(&self.limits, defaults)?,
        })
    }

    fn program(&self, key: &str) -> Result<Program, Fault> {
        let wrong = |needs: &str| Err(fault(key, format!("`{key}` is {needs}")));
        let kind = match (self.kind, &self.command, &self.script) {
            (Kind::Scripted, None, Some(script)) => {
                return Ok(Program::Scripted { script: script.clone() });
            }
            (Kind::Scripted, ..) => return wrong("scripted: it needs `script` and takes no `command`"),
            (Kind::Command, Some(command), None) => {
                return Ok(Program::Command { command: command.split(key)? });
            }
            (Kind::Command, ..) => return wrong("a command: it needs `command` and takes no `script`"),
            (Kind::Acp, Some(command), None) => return Ok(Program::Acp { command: command.split(key)? }),
            (Kind::Acp, ..) => return wrong("an ACP agent: it needs `command` and takes no `script`"),
            (_, _, Some(_)) => return wrong("a program: it takes no `script`"),
            (Kind::Headless(kind), ..) => kind,
        };
        let command = match &self.command {
            Some(command) => command.split(key)?,
            None => vec![kind.name().to_owned()],
        };
        Ok(Program::Headless { kind, command })
    }
}
