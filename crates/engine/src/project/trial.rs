//! Tries an agent on a one-line task in a repository that is made for it.
//!
//! The scratch project has the same config, so that what is tried is what will run. It is kept, so that you
//! can look at what the agent left.

use crate::commands::orders::{self, Caller};
use crate::core::{AgentId, Create, Priority, Refusal, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::project::config::Program;
use crate::project::sample;
use std::collections::BTreeSet;
use std::path::Path;

/// What an agent is asked for.
const TITLE: &str = "Write a greeting";
const DESCRIPTION: &str =
    "Make a file `hello.txt` in the current folder with the single line `hello`. Do nothing else.";

/// Makes a scratch project in an empty folder, with the config of `project`.
pub async fn create_trial(project: &Project, folder: &Path, agent: &AgentId) -> Result<Project, Error> {
    let config = project.config();
    if !config.agents.contains_key(agent) {
        let known = config.agents.keys().cloned().collect();
        return Err(Error::Refused(Refusal::AgentNotFound { agent: agent.clone(), known }));
    }
    let path = project.config_path();
    let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
    let mut files = vec![
        ("README.md".to_owned(), "# A place to try an agent\n".to_owned()),
        (".regatta/config.toml".to_owned(), text),
        (".regatta/.gitignore".to_owned(), crate::project::IGNORED.to_owned()),
    ];
    files.extend(find_script(project, agent)?);
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    sample::create(folder, &config.default_branch, &files, "A place to try an agent\n").await
}

/// Adds the task, and gives it to the agent.
pub async fn begin_trial(project: &Project, caller: &Caller, agent: AgentId) -> Result<TaskId, Error> {
    let create = Create::new(
        TITLE.to_owned(),
        DESCRIPTION.to_owned(),
        vec!["hello.txt says hello".to_owned()],
        BTreeSet::new(),
        Priority::Medium,
    );
    let task = orders::create(project, caller, create.map_err(orders::invalid)?).await?;
    orders::assign(project, caller, task, agent.into(), None, true).await?;
    Ok(task)
}

/// A script is found from the project's root, so it must exist there.
fn find_script(project: &Project, agent: &AgentId) -> Result<Option<(String, String)>, Error> {
    let entry = project.config().agents.get(agent);
    match entry.map(|entry| &entry.program) {
        Some(Program::Scripted { script }) if script.is_relative() => {
            let path = project.place(script);
            let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
            Ok(Some((script.display().to_string(), text)))
        }
        _ => Ok(None),
    }
}
