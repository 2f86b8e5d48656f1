//! Sample projects: small repositories with work to do, and scripted agents to do it.

use crate::clock;
use crate::commands::orders::{self, Caller};
use crate::core::{AgentId, Create, Priority, TaskId};
use crate::error::Error;
use crate::project::Project;
use regatta_git::{BranchName, Repository};
use std::io::ErrorKind;
use std::path::Path;

const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("../../sample/README.md")),
    ("greet.sh", include_str!("../../sample/greet.sh")),
    (".regatta/config.toml", include_str!("../../sample/config.toml")),
    (".regatta/scripts/builder.toml", include_str!("../../sample/builder.toml")),
    (".regatta/scripts/finisher.toml", include_str!("../../sample/finisher.toml")),
    (".regatta/scripts/writer.toml", include_str!("../../sample/writer.toml")),
    (".regatta/.gitignore", crate::project::IGNORED),
];

/// What the project for the workflow `speckit` is made of.
const SPECKIT_FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("../../sample/speckit/README.md")),
    ("prd.md", SPECKIT_PRD),
    ("tally.sh", include_str!("../../sample/speckit/tally.sh")),
    ("test.sh", include_str!("../../sample/speckit/test.sh")),
    (".regatta/config.toml", include_str!("../../sample/speckit/config.toml")),
    (".regatta/scripts/spec.toml", include_str!("../../sample/speckit/spec.toml")),
    (".regatta/scripts/coder.toml", include_str!("../../sample/speckit/coder.toml")),
    (".regatta/scripts/reviewer.toml", include_str!("../../sample/speckit/reviewer.toml")),
    (".regatta/.gitignore", crate::project::IGNORED),
];

/// What the project for the workflow `team` is made of.
const TEAM_FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("../../sample/team/README.md")),
    ("prd.md", TEAM_PRD),
    ("notes.sh", include_str!("../../sample/team/notes.sh")),
    ("test.sh", include_str!("../../sample/team/test.sh")),
    (".regatta/config.toml", include_str!("../../sample/team/config.toml")),
    (".regatta/scripts/pm.toml", include_str!("../../sample/team/pm.toml")),
    (".regatta/scripts/dev.toml", include_str!("../../sample/team/dev.toml")),
    (".regatta/scripts/qa.toml", include_str!("../../sample/team/qa.toml")),
    (".regatta/scripts/lead.toml", include_str!("../../sample/team/lead.toml")),
    (".regatta/.gitignore", crate::project::IGNORED),
];

const TEAM_PRD: &str = include_str!("../../sample/team/prd.md");

const SPECKIT_PRD: &str = include_str!("../../sample/speckit/prd.md");

/// A task of the sample and the agent that is meant for it.
#[derive(Debug, Clone)]
pub struct SampleTask {
    /// The task.
    pub task: TaskId,
    /// The agent.
    pub agent: AgentId,
}

/// Makes the repository and the project in a folder that is empty or not there yet.
pub async fn create_sample(folder: &Path) -> Result<Project, Error> {
    create(folder, &main_branch()?, FILES, "A greeting, and a project around it\n").await
}

/// Makes the repository and the project for a run of the workflow `speckit`, and returns the document to run it on.
pub async fn create_speckit_sample(folder: &Path) -> Result<(Project, &'static str), Error> {
    let project = create(
        folder,
        &main_branch()?,
        SPECKIT_FILES,
        "A tool that cannot count yet, and what it is to count\n",
    )
    .await?;
    Ok((project, SPECKIT_PRD))
}

/// Makes the repository and the project for a run of the workflow `team`, and returns the document to run it on.
pub async fn create_team_sample(folder: &Path) -> Result<(Project, &'static str), Error> {
    let message = "A notebook that has no command yet, and what it is to do\n";
    let project = create(folder, &main_branch()?, TEAM_FILES, message).await?;
    Ok((project, TEAM_PRD))
}

/// Makes a repository with these files and opens the project in it.
pub(crate) async fn create(
    folder: &Path,
    branch: &BranchName,
    files: &[(&str, &str)],
    message: &str,
) -> Result<Project, Error> {
    let is_empty = match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        Err(error) => return Err(Error::io("read", folder)(error)),
    };
    if !is_empty {
        return Err(crate::project::open::exists(folder));
    }
    let repository = Repository::init(folder, branch).await?;
    for (name, text) in files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        std::fs::write(&path, text).map_err(Error::io("write", &path))?;
    }
    let author = orders::ourselves(clock::now());
    repository.commit_all(folder, &[], &author, &author, message).await?;
    Project::open_own(folder).await
}

pub(crate) fn main_branch() -> Result<BranchName, Error> {
    Ok(BranchName::parse("main").map_err(regatta_git::Error::from)?)
}

/// Adds the three tasks: the second depends on the first, and the third is meant to be rejected once.
pub async fn add_sample_tasks(project: &Project, caller: &Caller) -> Result<[SampleTask; 3], Error> {
    let greet =
        add(project, caller, "Greet by name", "Make greet.sh take a name.", &[], Priority::High).await?;
    let text = "A farewell.sh that takes what greet.sh takes.";
    let farewell = add(project, caller, "Say goodbye too", text, &[greet], Priority::Medium).await?;
    let text = "Describe in USAGE.md what greet.sh takes, with an example.";
    let notes = add(project, caller, "Write usage notes", text, &[], Priority::Medium).await?;
    let of = |task, agent: &str| SampleTask {
        task,
        agent: agent.parse().expect("a plain word is an agent's name"),
    };
    Ok([of(greet, "builder"), of(farewell, "finisher"), of(notes, "writer")])
}

async fn add(
    project: &Project,
    caller: &Caller,
    title: &str,
    description: &str,
    dependencies: &[TaskId],
    priority: Priority,
) -> Result<TaskId, Error> {
    let dependencies = dependencies.iter().copied().collect();
    let create = Create::new(title.to_owned(), description.to_owned(), Vec::new(), dependencies, priority);
    orders::create(project, caller, create.map_err(orders::invalid)?).await
}
