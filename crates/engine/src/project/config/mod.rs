//! The project's config, `.regatta/config.toml`.
//!
//! Read strictly: a key that is not known is an error that names the nearest known one, with its line and column.
//! It does not look at the world: whether a program exists is for `readiness`.

mod agent;
mod budget;
pub(crate) mod change;
mod notify;
mod paths;

pub use agent::{AgentEntry, Program, Source, Variable};
pub use notify::NotifySettings;

use crate::core::{AgentId, AgentSettings, Approval, Retries, Settings, find_nearest};
use agent::{AGENTS_MAX, RawAgent};
use budget::RawBudget;
use notify::RawNotify;
use paths::RawPaths;
use regatta_agents::Limits;
use regatta_git::{BranchName, RelativePath};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// As many agents as a laptop bears, when the config does not say.
const CONCURRENT_AGENTS_DEFAULT: u32 = 3;
/// A set-up that installs packages takes minutes, not hours.
const SETUP_WALL_DEFAULT: Duration = Duration::from_secs(600);

/// Longer than most suites that are run before a merge.
const CHECK_WALL_DEFAULT: Duration = Duration::from_secs(1_800);

/// A task of medium size has so many sessions.
const SESSIONS_DEFAULT: u32 = 8;
/// A task may have so many criteria, and each a session.
const SESSIONS_MAX: u32 = 100;
/// A week, so that a holiday or two does not make everything overdue.
const REVIEW_DEFAULT: Duration = Duration::from_secs(7 * 24 * 3_600);

/// What fails so often in a row does not recover by itself.
const RETRIES_MAX: u32 = 100;

/// What the project's config says, checked.
#[derive(Debug, Clone)]
pub struct Config {
    /// The branch that tasks start from and are merged into.
    pub default_branch: BranchName,
    /// What decisions depend on.
    pub settings: Settings,
    /// The agents, by name.
    pub agents: BTreeMap<AgentId, AgentEntry>,
    /// Which agent plays which role of a workflow.
    pub roles: BTreeMap<String, AgentId>,
    /// What to run in a new worktree, if anything.
    pub setup: Option<Vec<String>>,
    /// How long that may take.
    pub setup_wall: Duration,
    /// The files to copy into a new worktree.
    pub copy: Vec<RelativePath>,
    /// The git filters that may run.
    pub filters: Vec<String>,
    /// The git merge drivers that may run.
    pub merge_drivers: Vec<String>,
    /// How far agents are shut in.
    pub sandbox: SandboxSettings,
    /// The folder of worktrees, from the project's root unless absolute.
    pub worktrees: PathBuf,
    /// What shows that a task is done, by name.
    pub checks: BTreeMap<String, Vec<String>>,
    /// How long one check may take.
    pub check_wall: Duration,
    /// How long a person may take before something that waits for them is overdue.
    pub review: Duration,
    /// Who is notified.
    pub notify: NotifySettings,
    /// The folder of task files, from the project's root unless absolute.
    pub task_states: PathBuf,
    /// The folder of archives, from the project's root unless absolute.
    pub archives: PathBuf,
    /// The folders of the files of runs that are not below `.regatta`, by the names that workflows give them.
    pub folders: BTreeMap<String, PathBuf>,
    /// The program that opens a file for a person, with `{path}` where the path goes.
    pub editor: Option<Vec<String>>,
}

/// How far the agents of a project are shut in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// Whether they have to be.
    pub mode: Sandboxed,
    /// Whether they reach the network.
    pub has_network: bool,
    /// What they may change besides; `~` is the home folder.
    pub writable: Vec<PathBuf>,
    /// What they see besides, though it lies in a folder that is emptied, such as `/tmp`.
    pub readable: Vec<PathBuf>,
    /// What they do not see besides.
    pub hidden: Vec<PathBuf>,
}

/// Whether agents have to run in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sandboxed {
    /// In one where it works, and without one elsewhere.
    #[default]
    Auto,
    /// In one, or not at all.
    Required,
    /// Without one.
    Off,
}

/// Why the config cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Something in it is wrong.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// The nearest known key, where a key is not known.
        nearest: Option<String>,
    },
}

impl Config {
    /// Reads and checks the file.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        Self::read(path).map(|(config, _)| config)
    }

    /// Reads and checks the file, and returns its text too.
    pub(crate) fn read(path: &Path) -> Result<(Self, String), ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
        Ok((Self::parse(&text, path)?, text))
    }

    /// Checks the text of a config; `path` is only for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let raw: Raw = toml::from_str(text).map_err(|error| from_toml(text, path, &error))?;
        raw.check().map_err(|fault| fault.locate(text, path))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(default)]
    project: RawProject,
    #[serde(default)]
    agents: BTreeMap<String, RawAgent>,
    #[serde(default)]
    roles: BTreeMap<String, String>,
    #[serde(default)]
    checks: BTreeMap<String, Words>,
    #[serde(default)]
    worktree: RawWorktree,
    #[serde(default)]
    sandbox: RawSandbox,
    #[serde(default)]
    paths: RawPaths,
    #[serde(default)]
    limits: RawGeneralLimits,
    #[serde(default)]
    budget: RawBudget,
    #[serde(default)]
    board: RawBoard,
    #[serde(default)]
    notify: RawNotify,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawBoard {
    editor: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawProject {
    default_branch: String,
    agent: Option<String>,
    max_concurrent_agents: u32,
    approval: Approval,
    members: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawWorktree {
    setup: Option<Words>,
    setup_wall: Option<String>,
    copy: Vec<String>,
    filters: Vec<String>,
    merge_drivers: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawSandbox {
    mode: Sandboxed,
    network: bool,
    writable: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
}

#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
struct RawLimits {
    wall: Option<String>,
    silence: Option<String>,
    grace: Option<String>,
    turns: Option<u32>,
    tokens: Option<u64>,
    /// In US dollars.
    cost: Option<f64>,
}

/// The limits of the whole project: those of sessions, for agents that say nothing else, and that of checks.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawGeneralLimits {
    wall: Option<String>,
    silence: Option<String>,
    grace: Option<String>,
    turns: Option<u32>,
    check_wall: Option<String>,
    review: Option<String>,
    retries: Option<u32>,
    retry_pause: Option<String>,
    sessions: Option<u32>,
}

impl RawGeneralLimits {
    fn of_sessions(&self) -> RawLimits {
        let (wall, silence, grace) = (self.wall.clone(), self.silence.clone(), self.grace.clone());
        RawLimits { wall, silence, grace, turns: self.turns, tokens: None, cost: None }
    }

    fn sessions(&self) -> Result<u32, Fault> {
        let count = self.sessions.unwrap_or(SESSIONS_DEFAULT);
        if !(1..=SESSIONS_MAX).contains(&count) {
            let message = format!("`limits.sessions` must be 1 to {SESSIONS_MAX}, not {count}");
            return Err(fault("sessions", message));
        }
        Ok(count)
    }

    fn retries(&self) -> Result<Retries, Fault> {
        let standard = Retries::default();
        let count = self.retries.unwrap_or(standard.count);
        if count > RETRIES_MAX {
            return Err(fault(
                "retries",
                format!("`limits.retries` must be 0 to {RETRIES_MAX}, not {count}"),
            ));
        }
        let pause = Duration::from_millis(standard.pause_milliseconds);
        let pause = span("retry_pause", self.retry_pause.as_deref(), pause)?;
        let pause_milliseconds = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        Ok(Retries { count, pause_milliseconds })
    }
}

/// A command, as one line or as a list of words.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
enum Words {
    Line(String),
    List(Vec<String>),
}

impl Default for RawProject {
    fn default() -> Self {
        RawProject {
            default_branch: "main".to_owned(),
            agent: None,
            max_concurrent_agents: CONCURRENT_AGENTS_DEFAULT,
            approval: Approval::Person,
            members: Vec::new(),
        }
    }
}

impl Default for RawSandbox {
    fn default() -> Self {
        let none = Vec::new;
        RawSandbox {
            mode: Sandboxed::default(),
            network: true,
            writable: none(),
            readable: none(),
            hidden: none(),
        }
    }
}

impl RawSandbox {
    fn check(self) -> Result<SandboxSettings, Fault> {
        let RawSandbox { mode, network, writable, readable, hidden } = self;
        for (key, paths) in [("writable", &writable), ("readable", &readable)] {
            if paths.iter().any(|path| path == Path::new("~")) {
                let message = format!("`sandbox.{key}` must name folders in your home, not the home itself");
                return Err(fault(key, message));
            }
        }
        Ok(SandboxSettings { mode, has_network: network, writable, readable, hidden })
    }
}

/// Something wrong that has no span of its own; it is located by the key it is about.
struct Fault {
    key: String,
    message: String,
}

fn fault(key: &str, message: impl Into<String>) -> Fault {
    Fault { key: key.to_owned(), message: message.into() }
}

impl Fault {
    fn locate(self, text: &str, path: &Path) -> ConfigError {
        let is_there = |line: &str| !line.trim_start().starts_with('#') && line.contains(&self.key);
        let at = text.lines().position(is_there).unwrap_or(0);
        let column = text.lines().nth(at).and_then(|line| line.find(&self.key)).unwrap_or(0);
        let (line, column) = (at + 1, column + 1);
        ConfigError::Wrong { path: path.to_owned(), line, column, message: self.message, nearest: None }
    }
}

impl Raw {
    fn check(self) -> Result<Config, Fault> {
        let default_branch = BranchName::parse(&self.project.default_branch)
            .map_err(|error| fault("default_branch", format!("`default_branch`: {error}")))?;
        let count = self.project.max_concurrent_agents;
        if !(1..=AGENTS_MAX).contains(&count) {
            let message = format!("`max_concurrent_agents` must be 1 to {AGENTS_MAX}, not {count}");
            return Err(fault("max_concurrent_agents", message));
        }
        self.paths.check()?;
        // Checked even when no agent uses them.
        let general = self.limits.of_sessions();
        limits(&general, &RawLimits::default())?;
        let mut agents = BTreeMap::new();
        for (name, raw) in &self.agents {
            let id: AgentId = name.parse().map_err(|error| fault(name, format!("{error}")))?;
            if id.is_any() {
                let message = "an agent cannot be called `any`, which means the first that is free";
                return Err(fault(name, message));
            }
            agents.insert(id, raw.check(name, &general)?);
        }
        let roles = self.find_roles(&agents)?;
        let mut checks = BTreeMap::new();
        for (name, command) in &self.checks {
            checks.insert(name.clone(), command.to_shell(name)?);
        }
        let copy = self.worktree.copy.iter().map(|text| RelativePath::parse(text)).collect::<Result<_, _>>();
        let settings = Settings {
            max_concurrent_agents: count,
            approval: self.project.approval,
            checks: checks.keys().cloned().collect(),
            retries: self.limits.retries()?,
            sessions: self.limits.sessions()?,
            budget: self.budget.check()?,
            members: self.project.members.clone(),
            default_agent: self.find_default_agent(&agents)?,
            agents: agents
                .iter()
                .map(|(id, agent)| (id.clone(), AgentSettings { instances: agent.instances }))
                .collect(),
        };
        Ok(Config {
            default_branch,
            settings,
            agents,
            roles,
            setup: self.worktree.setup.as_ref().map(|words| words.to_shell("setup")).transpose()?,
            setup_wall: span("setup_wall", self.worktree.setup_wall.as_deref(), SETUP_WALL_DEFAULT)?,
            copy: copy.map_err(|error| fault("copy", format!("`worktree.copy`: {error}")))?,
            filters: self.worktree.filters,
            merge_drivers: self.worktree.merge_drivers,
            sandbox: self.sandbox.check()?,
            worktrees: self.paths.worktrees,
            task_states: self.paths.task_states,
            archives: self.paths.archives,
            folders: self.paths.folders,
            checks,
            check_wall: span("check_wall", self.limits.check_wall.as_deref(), CHECK_WALL_DEFAULT)?,
            notify: self.notify.check()?,
            review: span("review", self.limits.review.as_deref(), REVIEW_DEFAULT)?,
            editor: self.board.check()?,
        })
    }

    fn find_default_agent(&self, agents: &BTreeMap<AgentId, AgentEntry>) -> Result<Option<AgentId>, Fault> {
        let Some(name) = &self.project.agent else { return Ok(None) };
        match name.parse::<AgentId>() {
            Ok(agent) if agent.is_any() || agents.contains_key(&agent) => Ok(Some(agent)),
            _ => Err(fault("agent =", format!("`project.agent`: there is no agent `{name}`"))),
        }
    }

    fn find_roles(&self, agents: &BTreeMap<AgentId, AgentEntry>) -> Result<BTreeMap<String, AgentId>, Fault> {
        let find = |(role, agent): (&String, &String)| {
            let missing =
                || fault(role, format!("the role `{role}` names the agent `{agent}`, which does not exist"));
            let id = agents.keys().find(|id| id.as_str() == agent).ok_or_else(missing)?;
            Ok((role.clone(), id.clone()))
        };
        self.roles.iter().map(find).collect()
    }
}

/// What stands for the path in the command of the editor.
pub(crate) const PATH_MARK: &str = "{path}";

impl RawBoard {
    /// The path must be an argument of its own: within another, such as one of `sh -c`, a file name could do anything.
    fn check(self) -> Result<Option<Vec<String>>, Fault> {
        let Some(words) = self.editor else { return Ok(None) };
        let is_named = words.first().is_some_and(|word| !word.is_empty() && word != PATH_MARK);
        let own = words.iter().filter(|word| *word == PATH_MARK).count();
        let within = words.iter().filter(|word| word.contains(PATH_MARK)).count();
        if !is_named || own != 1 || within != 1 {
            let message = "`board.editor` must be a list such as `[\"code\", \"{path}\"]`, with `{path}` once, as an \
                argument of its own";
            return Err(fault("editor", message));
        }
        Ok(Some(words))
    }
}

impl Words {
    /// Splits a line as a shell would, but without a shell.
    fn split(&self, key: &str) -> Result<Vec<String>, Fault> {
        let words = match self {
            Words::List(words) => Some(words.clone()),
            Words::Line(line) => shlex::split(line),
        };
        match words {
            Some(words) if !words.is_empty() && !words[0].is_empty() => Ok(words),
            _ => Err(fault(key, format!("`{key}` has a command that is empty or has an open quote"))),
        }
    }

    /// The line of a set-up or a check is the user's own and may use the shell; a list is run as it is.
    fn to_shell(&self, key: &str) -> Result<Vec<String>, Fault> {
        match self {
            Words::Line(line) if !line.trim().is_empty() => {
                Ok(vec!["sh".to_owned(), "-c".to_owned(), line.clone()])
            }
            Words::List(words) if words.first().is_some_and(|word| !word.is_empty()) => Ok(words.clone()),
            _ => Err(fault(key, format!("the command of `{key}` is empty"))),
        }
    }
}

fn limits(own: &RawLimits, defaults: &RawLimits) -> Result<Limits, Fault> {
    let standard = Limits::default();
    let pick = |own: &Option<String>, general: &Option<String>| own.clone().or_else(|| general.clone());
    Ok(Limits {
        wall: span("wall", pick(&own.wall, &defaults.wall).as_deref(), standard.wall)?,
        silence: span("silence", pick(&own.silence, &defaults.silence).as_deref(), standard.silence)?,
        grace: span("grace", pick(&own.grace, &defaults.grace).as_deref(), standard.grace)?,
        turns_max: own.turns.or(defaults.turns),
        tokens_max: own.tokens,
        cost_micros_max: own.cost.map(|cost| budget::micros("limits.cost", cost)).transpose()?,
        ..standard
    })
}

/// Reads `90s`, `10m`, `2h`, `7d` or `500ms`, or takes the standard.
fn span(key: &str, text: Option<&str>, standard: Duration) -> Result<Duration, Fault> {
    let Some(text) = text else { return Ok(standard) };
    parse_span(text).ok_or_else(|| {
        fault(
            key,
            format!("`{key}` must be a time such as `500ms`, `90s`, `10m`, `2h` or `7d`, not `{text}`"),
        )
    })
}

/// Reads a time that is not nothing.
pub(crate) fn parse_span(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let number: Option<u64> = digits.parse().ok();
    let milliseconds = match &text[digits.len()..] {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        _ => None,
    };
    let product = number.zip(milliseconds).and_then(|(number, unit)| number.checked_mul(unit));
    product.filter(|product| *product > 0).map(Duration::from_millis)
}

fn from_toml(text: &str, path: &Path, error: &toml::de::Error) -> ConfigError {
    let offset = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    let message = error.message().to_owned();
    let nearest = nearest_key(&message);
    ConfigError::Wrong { path: path.to_owned(), line, column, message, nearest }
}

/// Finds the nearest of the names that serde's message offers.
fn nearest_key(message: &str) -> Option<String> {
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (unknown, known) = names.split_first()?;
    message.starts_with("unknown").then_some(())?;
    find_nearest(unknown, known.iter().copied()).map(str::to_owned)
}
