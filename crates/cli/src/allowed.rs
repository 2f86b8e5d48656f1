//! What a command may do inside of an agent's session: read, and what the agent's tools could do as well.
//!
//! The list names what is allowed, so that a verb that is added later is not an agent's by accident. It is a courtesy
//! between honest programs, as the actor is; what really keeps an agent from the project is the sandbox.

use crate::ancestry::Ancestry;
use clap::ArgMatches;
use regatta_engine::core::{Code, Problem, Refusal, TaskId};
use regatta_engine::endpoint;
use std::path::PathBuf;
use std::time::Duration;

const OWN_TASK: &str = "REGATTA_TASK_ID";
const PROJECT: &str = "REGATTA_PROJECT";

/// How long the endpoint may take to record a refusal; the agent gets its refusal either way.
const RECORD_WAIT: Duration = Duration::from_secs(10);

/// A command that is not an agent's to give.
#[derive(Debug)]
pub(crate) struct Refused {
    command: String,
}

impl Refused {
    /// Makes the session's endpoint record it, and returns the agent's answer.
    pub(crate) async fn record(self) -> Problem {
        let is_recorded = match find_endpoint() {
            Some(folder) => {
                let reported = endpoint::report_refused(&folder, &self.command);
                let reported = tokio::time::timeout(RECORD_WAIT, reported).await;
                reported.is_ok_and(|recorded| recorded.unwrap_or(false))
            }
            None => false,
        };
        let what = format!("`{}` was refused", self.command);
        let why = "this is the session of an agent: it may read, and write about its own task".to_owned();
        Refusal::Forbidden { what, why }.explain().with("recorded", is_recorded)
    }
}

/// When an agent may use a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// At any time.
    Always,
    /// Without this option.
    Without(&'static str),
    /// With this option.
    With(&'static str),
    /// For its own task, or without any of these options.
    OwnTaskOr(&'static [&'static str]),
}

/// The verbs that an agent may use.
const ALLOWED: &[(&[&str], When)] = &[
    (&["agent", "list"], When::Always),
    (&["completions"], When::Always),
    (&["doctor"], When::Without("fix")),
    (&["epic", "list"], When::Always),
    (&["epic", "show"], When::Always),
    (&["eval"], When::Always),
    (&["events"], When::Always),
    (&["machine", "show"], When::Always),
    (&["mcp"], When::Without("board")),
    (&["messages"], When::Always),
    (&["messages", "send"], When::Always),
    (&["prd", "list"], When::Always),
    (&["prd", "show"], When::Always),
    (&["run", "list"], When::Always),
    (&["run", "log"], When::Always),
    (&["run", "show"], When::Always),
    (&["run", "replay"], When::Always),
    (&["state", "validate"], When::Always),
    (&["task", "archive"], When::With("show")),
    (&["task", "criteria"], When::OwnTaskOr(&["check", "uncheck"])),
    (&["task", "diff"], When::Always),
    (&["task", "list"], When::Always),
    (&["task", "log"], When::Always),
    (&["task", "output"], When::Always),
    (&["task", "progress"], When::OwnTaskOr(&["did"])),
    (&["task", "show"], When::Always),
    (&["workflow", "check"], When::Always),
    (&["workflow", "graph"], When::Always),
    (&["workflow", "list"], When::Always),
    (&["workflow", "show"], When::Always),
];

/// Returns the private folder of the agent's session that this process belongs to: its endpoint answers what the project would.
pub(crate) fn find_endpoint() -> Option<PathBuf> {
    Ancestry::current().variable(endpoint::FOLDER_VARIABLE).map(PathBuf::from)
}

/// Refuses to open a project that a session does not see: what looks like one in its worktree is a copy without a log.
pub(crate) fn check_reach() -> Result<(), Problem> {
    let project = Ancestry::current().variable(PROJECT).map(PathBuf::from);
    let Some(project) = project.filter(|project| !project.join(".regatta/config.toml").is_file()) else {
        return Ok(());
    };
    Err(Problem::new(
        Code::ProjectNotFound,
        "the project was not opened",
        format!("{} is not accessible inside the session's sandbox", project.display()),
        "use the tools of `regatta` (read_task, tick_criterion …), or `regatta prd show`, `epic show`, `task output` and \
         `task archive --show`, which ask the session's endpoint",
    ))
}

/// Refuses a command that an agent may not give, if this process belongs to an agent's session.
pub(crate) fn check(matches: &ArgMatches) -> Result<(), Refused> {
    let ancestry = Ancestry::current();
    if !ancestry.is_agent() {
        return Ok(());
    }
    let own = ancestry.variable(OWN_TASK).and_then(|task| task.parse().ok());
    judge(matches, own)
}

fn judge(matches: &ArgMatches, own: Option<TaskId>) -> Result<(), Refused> {
    let (path, last) = path_of(matches);
    let is_allowed = ALLOWED.iter().any(|(known, when)| *known == path && holds(*when, last, own));
    if is_allowed {
        return Ok(());
    }
    Err(Refused { command: format!("regatta {}", path.join(" ")) })
}

fn holds(when: When, matches: &ArgMatches, own: Option<TaskId>) -> bool {
    let is_given =
        |option: &str| matches.value_source(option) == Some(clap::parser::ValueSource::CommandLine);
    match when {
        When::Always => true,
        When::Without(option) => !is_given(option),
        When::With(option) => is_given(option),
        When::OwnTaskOr(options) => {
            let task = matches.get_one::<TaskId>("task").copied();
            (own.is_some() && task == own) || !options.iter().any(|option| is_given(option))
        }
    }
}

/// Returns the words of the verb, and what was given to it.
fn path_of(matches: &ArgMatches) -> (Vec<&str>, &ArgMatches) {
    let (mut path, mut last) = (Vec::new(), matches);
    while let Some((name, inner)) = last.subcommand() {
        path.push(name);
        last = inner;
    }
    (path, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;

    fn is_allowed(words: &str, own: Option<u32>) -> bool {
        let words = std::iter::once("regatta").chain(words.split_whitespace());
        let matches = Arguments::command().try_get_matches_from(words).unwrap();
        judge(&matches, own.map(|number| TaskId::new(number).unwrap())).is_ok()
    }

    #[test]
    fn an_agent_reads_and_writes_about_its_own_task() {
        for words in [
            "task list",
            "task show 9",
            "task criteria 9",
            "task criteria 7 --check 1",
            "task progress 7 --did x --next y",
            "events --follow",
            "messages",
            "task archive 7 --show",
            "messages send --to person:me hello",
            "doctor",
            "mcp",
        ] {
            assert!(is_allowed(words, Some(7)), "{words}");
        }
    }

    #[test]
    fn an_agent_does_not_decide_or_configure() {
        for words in [
            "task approve 7",
            "task reject 7 --reason x",
            "task cancel 7",
            "task complete 7",
            "task submit 7",
            "task reassign 7 --agent b",
            "task assign 7 --me",
            "task edit 7 --title x",
            "task delete 7",
            "task hide 7",
            "task open 7",
            "task assign 7 --agent a",
            "task add x",
            "task depends 7 --on 1",
            "task archive 7",
            "task salvage 7",
            "task criteria 9 --check 1",
            "task progress 9 --did x --next y",
            "messages read 1",
            "run speckit",
            "run stop 1",
            "run answer 1 yes",
            "up",
            "init",
            "trust --yes",
            "demo",
            "doctor --fix",
            "epic add x",
            "prd add x.md",
            "workflow new speckit",
        ] {
            assert!(!is_allowed(words, Some(7)), "{words}");
        }
        assert!(!is_allowed("task criteria 7 --check 1", None));
    }

    #[test]
    fn every_verb_on_the_list_exists() {
        for (path, _) in ALLOWED {
            let mut command = Arguments::whole_command();
            for name in *path {
                let found = command.find_subcommand(name).unwrap_or_else(|| panic!("{path:?}"));
                command = found.clone();
            }
        }
    }
}
