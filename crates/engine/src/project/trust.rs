//! Whether the config of a project may start programs on this machine.
//!
//! A config names programs: a set-up, checks, agents. A config that `init` made here, or that has a log here,
//! is the user's own. One that came with a clone is a stranger's: a person sees what it starts, and agrees
//! once for this clone.

use crate::core::{AgentId, Code, Problem};
use crate::error::Error;
use crate::project::config::{AgentEntry, Program, Source, Variable};
use crate::project::config::{Config, Sandboxed};
use crate::project::location::Location;
use crate::project::old_place;
use regatta_git::Repository;
use serde::Serialize;
use std::path::Path;

/// A program that a config starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Starts {
    /// The key of the config.
    pub key: String,
    /// The program with its arguments, or what else the key allows.
    pub command: String,
}

/// Returns what the config of `dir` starts if nobody here has agreed to it yet.
pub async fn find_untrusted(dir: &Path) -> Result<Option<Vec<Starts>>, Error> {
    let location = Location::find(dir)?;
    let config = Config::load(&location.config())?;
    Ok(if is_trusted(&location).await? { None } else { Some(list_starts(&config)) })
}

/// Notes that a person agreed to the programs of the config of `dir`.
pub fn trust(dir: &Path) -> Result<(), Error> {
    note(&Location::find(dir)?)
}

/// Notes that the config is its user's own.
pub(crate) fn note(location: &Location) -> Result<(), Error> {
    std::fs::create_dir_all(&location.home).map_err(Error::io("create", &location.home))?;
    regatta_files::disk::write_atomically(&location.trusted(), b"").map_err(Error::StateFile)
}

/// Refuses a config that nobody here has agreed to.
pub(crate) async fn check(location: &Location, config: &Config) -> Result<(), Error> {
    if is_trusted(location).await? {
        return Ok(());
    }
    Err(Error::NotTrusted { config: location.config(), starts: list_starts(config) })
}

/// Tells whether the config was made or used here, or a person has agreed.
async fn is_trusted(location: &Location) -> Result<bool, Error> {
    if location.log().is_file() || location.trusted().is_file() {
        return Ok(true);
    }
    // The log of an earlier version is the user's own, unless it came with the clone.
    let old = old_place::old_log(&location.root);
    Ok(old.is_file() && !Repository::find(&location.root)?.is_tracked(&old).await?)
}

/// Says that nobody here has agreed to a config, and what it starts.
pub(crate) fn explain(config: &Path, starts: &[Starts]) -> Problem {
    let lines: Vec<String> = starts.iter().map(|start| format!("{}: {}", start.key, start.command)).collect();
    Problem::new(
        Code::ProjectNotTrusted,
        "the project was not opened",
        format!("{} came with this clone, and nobody here has allowed what it starts", config.display()),
        "run `regatta trust`: it shows the programs of the config and asks once",
    )
    .with("starts", lines)
}

/// Lists what the config starts, in the order of the template.
fn list_starts(config: &Config) -> Vec<Starts> {
    let named = |key: String, words: &[String]| Starts { key, command: words.join(" ") };
    let setup = config.setup.iter().map(|words| named("worktree.setup".to_owned(), words));
    let checks = config.checks.iter().map(|(name, words)| named(format!("checks.{name}"), words));
    let agents = config.agents.iter().map(|(id, agent)| named(format!("agents.{id}"), &words_of(agent)));
    let variables = config.agents.iter().flat_map(|(id, agent)| list_sources(id, agent));
    let git = [("worktree.filters", &config.filters), ("worktree.merge_drivers", &config.merge_drivers)];
    let git = git.into_iter().filter(|(_, names)| !names.is_empty());
    let git = git.map(|(key, names)| Starts { key: key.to_owned(), command: names.join(", ") });
    let editor = config.editor.iter().map(|words| named("board.editor".to_owned(), words));
    // It runs outside of the sandbox, and the webhook leaves the machine.
    let notify = config.notify.command.iter().map(|words| named("notify.command".to_owned(), words));
    let webhook = config.notify.webhook.iter();
    let webhook =
        webhook.map(|url| Starts { key: "notify.webhook".to_owned(), command: format!("curl {url}") });
    let is_open = config.sandbox.mode == Sandboxed::Off;
    let open =
        is_open.then(|| Starts { key: "sandbox.mode".to_owned(), command: "off: no sandbox".to_owned() });
    setup
        .chain(checks)
        .chain(agents)
        .chain(variables)
        .chain(git)
        .chain(editor)
        .chain(notify)
        .chain(webhook)
        .chain(open)
        .collect()
}

/// Lists the commands and files that provide an agent's variables: both are outside the sandbox.
fn list_sources(id: &AgentId, agent: &AgentEntry) -> Vec<Starts> {
    let starts = |variable: &Variable| {
        let command = match &variable.source {
            Source::Command(words) => words.join(" "),
            Source::File(path) => format!("the file {}", path.display()),
            Source::Passed(_) | Source::Value(_) => return None,
        };
        Some(Starts { key: format!("agents.{id}.env.{}", variable.name), command })
    };
    agent.environment.iter().filter_map(starts).collect()
}

fn words_of(agent: &AgentEntry) -> Vec<String> {
    match &agent.program {
        Program::Scripted { script } => vec![format!("the script {}", script.display())],
        Program::Command { command } | Program::Headless { command, .. } | Program::Acp { command } => {
            command.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;
    use regatta_testkit::repo::TestRepo;

    const CONFIG: &str = "[worktree]\nsetup = [\"./install.sh\", \"--all\"]\nfilters = [\"lfs\"]\n\
        [checks]\nunit = \"make test\"\n[agents.a]\nkind = \"claude\"\nenv = { K = { command = \"pass show k\" }, F = { file = \"~/key\" }, V = \"v\" }\n[agents.b]\nkind = \"scripted\"\n\
        script = \"b.toml\"\n[board]\neditor = [\"code\", \"{path}\"]\n[notify]\ncommand = \"say it\"\nwebhook = \"https://example.com/x\"\n[sandbox]\nmode = \"off\"\n";

    #[test]
    fn everything_that_a_config_starts_is_named() {
        let config = Config::parse(CONFIG, Path::new("config.toml")).unwrap();
        let lines: Vec<String> =
            list_starts(&config).iter().map(|starts| format!("{}: {}", starts.key, starts.command)).collect();
        let expected = [
            "worktree.setup: ./install.sh --all",
            "checks.unit: sh -c make test",
            "agents.a: claude",
            "agents.b: the script b.toml",
            "agents.a.env.F: the file ~/key",
            "agents.a.env.K: sh -c pass show k",
            "worktree.filters: lfs",
            "board.editor: code {path}",
            "notify.command: sh -c say it",
            "notify.webhook: curl https://example.com/x",
            "sandbox.mode: off: no sandbox",
        ];
        assert_eq!(lines, expected);
    }

    #[tokio::test]
    async fn the_old_log_of_a_stranger_is_no_consent() {
        let repo = TestRepo::new();
        repo.write(".regatta/config.toml", CONFIG);
        repo.write(".regatta/regatta.db", "");
        assert_eq!(find_untrusted(repo.path()).await.unwrap(), None, "somebody used it here");
        repo.git(&["add", "--force", "."]);
        assert!(find_untrusted(repo.path()).await.unwrap().is_some(), "it came with the clone");
        assert!(matches!(Project::open(repo.path()).await, Err(Error::NotTrusted { .. })));
        trust(repo.path()).unwrap();
        assert_eq!(find_untrusted(repo.path()).await.unwrap(), None);
    }
}
