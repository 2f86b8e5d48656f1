//! Sandbox settings of a project's agents: what the config asks for, what works here, and the sandbox of one
//! session.
//!
//! A session gets a private folder, with its `/tmp`, for as long as it runs, and a git folder that stands in
//! for the repository's. What the agent committed there is taken in when it has ended. Its home is a folder
//! of ours beside the git folder, and so is the cache of its build tools. Of the task files it sees only its
//! own. The agents crate says whether a sandbox works at all; what a missing one means is decided here.

use crate::core::{AgentId, RunId, Task, TaskId};
use crate::digest::sha256;
use crate::error::Error;
use crate::project::Project;
use crate::project::config::Program;
use crate::project::config::Sandboxed;
use crate::task_files;
use regatta_agents::{
    HeadlessKind, HomePlan, OpenHome, Replacement, Sandbox, Sandboxing, Workplace, open_caches, probe,
    recover_logins, remove_folder,
};
use regatta_git::BranchName;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Longer names of agents and roles are shortened to a digest.
const NAME_BYTES_MAX: usize = 100;

/// Where a session or a check works.
pub(crate) struct Place<'a> {
    /// The worktree.
    pub(crate) folder: &'a Path,
    /// Its branch.
    pub(crate) branch: &'a BranchName,
    /// Its private folder.
    pub(crate) private: &'a Path,
    /// The task whose file it may write in.
    pub(crate) task: Option<TaskId>,
    /// Program and arguments.
    pub(crate) command: &'a [String],
    /// Whether it may change the worktree and the task's file.
    pub(crate) writes: bool,
    /// The name of the home that a resumed session gets again; without a name, the home is temporary.
    pub(crate) home: Option<String>,
    /// Whose login it gets.
    pub(crate) login: Option<HeadlessKind>,
    /// Whether it gets a home of its own even without a sandbox.
    pub(crate) is_home_private: bool,
}

/// The sandbox of a program, if it has one, and its home for as long as this is kept.
pub(crate) struct Enclosure {
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) home: OpenHome,
}

/// Whether programs run in a sandbox here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SandboxStatus {
    /// They do.
    Inside { version: String },
    /// They run without one.
    Without { why: String, next: Option<String> },
    /// They do not run, because the config asks for what does not work here.
    Refused { why: String, next: String },
}

/// Tells how programs of agents run in a project.
pub(crate) async fn find_standing(project: &Project) -> SandboxStatus {
    let settings = &project.config().sandbox;
    if settings.mode == Sandboxed::Off {
        return SandboxStatus::Without { why: "`[sandbox] mode` is \"off\"".to_owned(), next: None };
    }
    match (probe().await.clone(), settings.mode) {
        (Sandboxing::Works { closes_network: false, .. }, _) if !settings.has_network => {
            SandboxStatus::Refused {
                why: "`[sandbox] network` is false, and the network cannot be closed here".to_owned(),
                next:
                    "allow network namespaces on this machine or in this container, or set `network = true`"
                        .to_owned(),
            }
        }
        (Sandboxing::Works { version, .. }, _) => SandboxStatus::Inside { version },
        (Sandboxing::Missing { why, next }, Sandboxed::Required) => {
            let next = format!("{next}, or set `[sandbox] mode = \"auto\"` to run without one");
            SandboxStatus::Refused { why: format!("`[sandbox] mode` is \"required\", and {why}"), next }
        }
        (Sandboxing::Missing { why, next }, _) => SandboxStatus::Without { why, next: Some(next) },
    }
}

/// Tells whether programs of agents run in a sandbox now.
pub(crate) async fn is_inside(project: &Project) -> bool {
    matches!(find_standing(project).await, SandboxStatus::Inside { .. })
}

/// Describes the sandbox of a task's agent in a few words; nothing for a script, or without an agent.
pub(crate) async fn describe(project: &Project, task: &Task) -> Option<String> {
    let entry = project.config().agents.get(task.agent()?)?;
    if matches!(entry.program, Program::Scripted { .. }) {
        return None;
    }
    Some(match find_standing(project).await {
        SandboxStatus::Inside { version } => format!("bubblewrap {version}"),
        SandboxStatus::Without { why, .. } => format!("none: {why}"),
        SandboxStatus::Refused { why, .. } => format!("refused: {why}"),
    })
}

/// Why there is no sandbox to run a program in, though there should be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotEnclosed {
    /// The config asks for what does not work here.
    #[error("{why}")]
    Refused { why: String, next: String },
    /// Something went wrong while it was made.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Builds the sandbox and the home of a program; nothing where it runs without both.
pub(crate) async fn enclose(project: &Project, place: &Place<'_>) -> Result<Option<Enclosure>, NotEnclosed> {
    match find_standing(project).await {
        SandboxStatus::Inside { .. } => {}
        SandboxStatus::Without { .. } if place.is_home_private => {
            let home = open_home(project, place, user_home().as_deref()).await?;
            return Ok(Some(Enclosure { sandbox: None, home }));
        }
        SandboxStatus::Without { .. } => return Ok(None),
        SandboxStatus::Refused { why, next } => return Err(NotEnclosed::Refused { why, next }),
    }
    let config = project.config();
    let mounts = project.repository().open_stand_in(place.folder, place.branch).await.map_err(Error::from)?;
    let location = project.location();
    // Our own folder is hidden there. Bubblewrap cannot make the mount point itself in a read-only git
    // folder.
    for mount in &mounts {
        if let Ok(below) = location.home.strip_prefix(&mount.path) {
            create(&mount.source.join(below))?;
        }
    }
    let git = mounts.into_iter().map(|mount| Replacement {
        path: mount.path,
        by: mount.source,
        is_writable: mount.is_writable && place.writes,
    });
    let task_states = project.place(&config.task_states);
    let private_folder = match place.task {
        Some(task) => Some(task_files::open_private_folder(project, task).await?),
        None => None,
    };
    let file = private_folder.map(|private_folder| Replacement {
        path: task_states.clone(),
        by: private_folder,
        is_writable: place.writes,
    });
    let user = user_home();
    let given = |paths: &[PathBuf]| -> Vec<PathBuf> {
        paths.iter().map(|path| from_home(path, user.as_deref(), project.root())).collect()
    };
    let home = open_home(project, place, user.as_deref()).await?;
    let cache = project.location().cache();
    fill_cache(project, user.clone()).await.map_err(Error::io("create", &cache))?;
    let temporary = place.private.join("tmp");
    create(&temporary)?;
    let mut writable = given(&config.sandbox.writable);
    writable.push(place.private.to_owned());
    let mut readable = given(&config.sandbox.readable);
    // The agent starts `regatta mcp` itself, so it must be able to read that program.
    readable.extend(std::env::current_exe().ok());
    let mut hidden = given(&config.sandbox.hidden);
    hidden.extend([location.folder(), location.home.clone(), task_states, project.place(&config.worktrees)]);
    let sandbox = Sandbox::for_work(&Workplace {
        worktree: place.folder,
        is_worktree_writable: place.writes,
        project: project.root(),
        temporary: Some(&temporary),
        home: &home,
        user: user.as_deref(),
        cache: Some(&cache),
        writable,
        readable,
        hidden,
        replaced: git.chain(file).collect(),
        command: place.command,
        has_network: config.sandbox.has_network,
    });
    Ok(Some(Enclosure { sandbox: Some(sandbox), home }))
}

/// Returns the user's home folder.
pub(crate) fn user_home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

/// Makes the cache on a thread of its own: the first time, it may copy a lot.
async fn fill_cache(project: &Project, user: Option<PathBuf>) -> std::io::Result<()> {
    let (cache, root) = (project.location().cache(), project.root().to_owned());
    let made = tokio::task::spawn_blocking(move || open_caches(&cache, &root, user.as_deref())).await;
    made.map_err(std::io::Error::other)?
}

/// Copies back logins that sessions of a killed engine renewed.
pub(crate) fn recover(project: &Project) {
    if let Some(user) = user_home() {
        recover_logins(&project.location().homes(), &user);
    }
}

async fn open_home(
    project: &Project,
    place: &Place<'_>,
    user: Option<&Path>,
) -> Result<OpenHome, NotEnclosed> {
    let homes = project.location().homes();
    let folder = match &place.home {
        Some(name) => homes.join(name),
        None => place.private.join("home"),
    };
    let git_user = project.repository().find_user().await;
    let user = user.unwrap_or(Path::new("/"));
    let plan = HomePlan { folder: &folder, user, login: place.login, git_user };
    let mut home = OpenHome::open(&plan).map_err(Error::io("create", &folder))?;
    home.watch();
    Ok(home)
}

/// Names the home of an agent's sessions in one role of a task or a run, where a resumed session is found
/// again.
pub(crate) fn name_home(
    agent: &AgentId,
    role: Option<&str>,
    task: Option<TaskId>,
    run: Option<RunId>,
) -> String {
    let owner = match (task, run) {
        (Some(task), _) => format!("task-{task}"),
        (None, Some(run)) => format!("run-{run}"),
        (None, None) => "session".to_owned(),
    };
    let name = format!("{owner}-{agent}{}", role.map(|role| format!("-{role}")).unwrap_or_default());
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if name.chars().all(is_plain) && name.len() <= NAME_BYTES_MAX {
        return name;
    }
    format!("{owner}-{}", &sha256(name)[..16])
}

/// Makes the private folder of a program, and removes those that a killed engine left for the same program.
pub(crate) fn make_private(project: &Project, mark: &str, name: &str) -> Result<PathBuf, Error> {
    remove_private(project, mark);
    let place = project.location().private().join(name);
    create(&place)?;
    Ok(place)
}

/// Removes the private folders whose names have this prefix. One that cannot be removed does no harm: the
/// next has another name.
pub(crate) fn remove_private(project: &Project, mark: &str) {
    let Ok(entries) = std::fs::read_dir(project.location().private()) else { return };
    for entry in entries.flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && entry.file_name().to_string_lossy().starts_with(mark) {
            let _ = remove_folder(&entry.path());
        }
    }
}

fn create(folder: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(Error::io("create", folder))
}

/// Resolves `~/x` below the home folder, and a relative path below the project.
fn from_home(path: &Path, home: Option<&Path>, root: &Path) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(below), Some(home)) => home.join(below),
        _ => root.join(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_named_after_whom_it_is_for() {
        let agent: AgentId = "claude".parse().unwrap();
        let name = |role, task, run| name_home(&agent, role, task, run);
        let (task, run) = (Some("3".parse().unwrap()), Some("4".parse().unwrap()));
        assert_eq!(name(None, task, None), "task-3-claude");
        assert_eq!(name(Some("coder"), task, run), "task-3-claude-coder");
        assert_eq!(name(Some("coder"), None, run), "run-4-claude-coder");
        let strange = name(Some("../../x"), None, run);
        assert!(strange.starts_with("run-4-") && !strange.contains('/'), "{strange}");
    }

    #[test]
    fn paths_are_taken_from_the_home_or_from_the_project() {
        let from = |path: &str| from_home(Path::new(path), Some(Path::new("/h")), Path::new("/p"));
        assert_eq!(from("~/.ssh"), Path::new("/h/.ssh"));
        assert_eq!(from("data"), Path::new("/p/data"));
        assert_eq!(from("/srv"), Path::new("/srv"));
    }
}
