//! Everything that can go wrong when a command is given or carried out, and the messages a user sees.

use crate::core::{Code, Problem, Refusal, RunId, TaskId};
use crate::project::config::ConfigError;
use crate::project::trust::{self, Starts};
use crate::runtime::holder::Holder;
use std::path::{Path, PathBuf};

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The rules say no.
    #[error("refused: {}", .0.code())]
    Refused(Refusal),
    /// The database failed.
    #[error("the store failed")]
    Store(#[from] regatta_store::Error),
    /// Git failed.
    #[error("git failed")]
    Git(#[from] regatta_git::Error),
    /// There is no such workflow, or it has faults.
    #[error("the workflow cannot be used")]
    Workflow(#[from] crate::runs::definitions::DefinitionError),
    /// The config is wrong.
    #[error("the config is wrong")]
    Config(#[from] ConfigError),
    /// The folder is not in a project.
    #[error("there is no project at {}", .0.display())]
    ProjectNotFound(PathBuf),
    /// The folder has a project already.
    #[error("there is a project at {} already", .0.display())]
    ProjectExists(PathBuf),
    /// The config came with a clone, and nobody has agreed to what it starts.
    #[error("{} is not trusted", config.display())]
    NotTrusted {
        /// The config.
        config: PathBuf,
        /// What it starts.
        starts: Vec<Starts>,
    },
    /// The project has a log, and its config is gone.
    #[error("the config {} is missing", config.display())]
    ConfigMissing {
        /// Where the config belongs.
        config: PathBuf,
        /// Where the log is.
        log: PathBuf,
    },
    /// A bare repository has no worktree for a config.
    #[error("{} has no worktree", git_folder.display())]
    NoWorktree {
        /// The git folder.
        git_folder: PathBuf,
    },
    /// A log cannot be moved or replaced, because a process uses it.
    #[error("{} is in use", path.display())]
    StateInUse {
        /// The log.
        path: PathBuf,
        /// The engine that holds it, if that is who uses it.
        holder: Option<Box<Holder>>,
    },
    /// An import would replace something that is there.
    #[error("{what} already exists")]
    StateExists {
        /// What would be replaced.
        what: String,
    },
    /// A file is not a whole export.
    #[error("{name} is not a whole export: {why}")]
    ExportInvalid {
        /// The file.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// An export builds on commits that the repository lacks.
    #[error("the export builds on commits that are not here")]
    ExportForeign {
        /// Which, as git says it.
        missing: String,
    },
    /// Another engine works on the project.
    #[error("another engine works on the project")]
    EngineAlreadyRunning(Box<Holder>),
    /// A file could not be read or written.
    #[error("could not {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A recording is to be recorded where something is already.
    #[error("the folder {} is not empty", folder.display())]
    RecordingFolderUsed {
        /// The folder.
        folder: PathBuf,
    },
    /// A recording cannot be played because its run has not ended.
    #[error("the tape {} is not finished", folder.display())]
    RecordingUnfinished {
        /// The folder of the recording.
        folder: PathBuf,
        /// The run that is recorded on it, if the recording says so.
        run: Option<RunId>,
    },
    /// An event in the log cannot be understood.
    #[error("event {seq} cannot be understood: {why}")]
    LogUnsound {
        /// Its sequence number; 0 where it is not an event that is wrong.
        seq: u64,
        /// What is wrong.
        why: String,
    },
    /// There is no such salvage.
    #[error("task #{task} has no salvage {number}")]
    SalvageNotFound {
        /// The task.
        task: crate::core::TaskId,
        /// The number that was asked for.
        number: String,
    },
    /// There is no diff to show.
    #[error("task #{task} has no diff")]
    NoDiff {
        /// The task.
        task: crate::core::TaskId,
    },
    /// A state file could not be reached.
    #[error("a state file could not be accessed")]
    StateFile(#[from] regatta_files::disk::Error),
    /// There is no such state file.
    #[error("there is no file {}", path.display())]
    StateFileMissing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Another process changed the task file first.
    #[error("the file of task #{task} was changed meanwhile")]
    FileMoved {
        /// The task.
        task: crate::core::TaskId,
    },
    /// An object is not the version that the caller saw.
    #[error("{of} has changed")]
    Changed {
        /// The object.
        of: crate::Versioned,
    },
    /// A text is not a version of the task file that it would replace.
    #[error("the text was refused: {why}")]
    FileRefused {
        /// What is wrong with it.
        why: &'static str,
    },
    /// A task file cannot be edited as asked.
    #[error("the file of task #{task} cannot be edited")]
    FileEdit {
        /// The task.
        task: crate::core::TaskId,
        /// Why.
        error: regatta_files::EditError,
    },
    /// What was in the place of a task file was not a version of it; it was moved aside.
    #[error("the file of task #{task} was set aside")]
    FileSetAside {
        /// The task.
        task: crate::core::TaskId,
        /// Where it is now.
        kept: String,
        /// What was wrong with it.
        why: String,
    },
    /// What was in the place of an archive was not a file; it was moved aside.
    #[error("the archive of task #{task} was set aside")]
    ArchiveSetAside {
        /// The task.
        task: crate::core::TaskId,
        /// Where it is now.
        kept: String,
    },
    /// A folder of state files is a link, or no folder.
    #[error("{} cannot hold state files", path.display())]
    StateFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A state file cannot be read.
    #[error("{} cannot be read", path.display())]
    StateCorrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The session is over, or never existed.
    #[error("there is no session at {}", folder.display())]
    SessionEnded {
        /// Its private folder.
        folder: PathBuf,
    },
    /// The endpoint of a session was not opened.
    #[error("the endpoint of the session was not opened")]
    EndpointRefused {
        /// The error that it answered with, in the words of every interface.
        answer: serde_json::Value,
    },
    /// The folder of a task's worktree was deleted.
    #[error("the worktree of task #{task} is gone")]
    WorktreeMissing {
        /// The task.
        task: crate::core::TaskId,
        /// The folder.
        path: PathBuf,
        /// The branch, which has what was committed.
        branch: String,
    },
    /// Submodules of a task's worktree have work that the task's branch cannot hold.
    #[error("submodules of task #{task} have work of their own")]
    SubmoduleChanged {
        /// The task.
        task: crate::core::TaskId,
        /// The worktree.
        path: PathBuf,
        /// What was found.
        work: Vec<regatta_git::SubmoduleWork>,
    },
    /// A task's branch shares no commit with the branch it is to be merged into.
    #[error("the branch of task #{task} has a history of its own")]
    UnrelatedHistory {
        /// The task.
        task: crate::core::TaskId,
        /// The task's branch.
        branch: String,
        /// The branch it is to be merged into.
        target: String,
    },
    /// The project has no commit to start from.
    #[error("the branch {branch} does not exist")]
    TargetMissing {
        /// The branch.
        branch: String,
    },
    /// Other processes kept changing what the decision depends on.
    #[error("the command lost {tries} races in a row")]
    Contended {
        /// How often it was tried.
        tries: u32,
    },
    /// The wait was ended by the user or by its limit.
    #[error("the wait was ended: {why}")]
    WaitEnded {
        /// What ended it.
        why: &'static str,
        /// What is not done yet, and what continues it.
        left: Vec<String>,
    },
}

impl Error {
    /// Returns a closure that wraps an IO error.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { action, path, source }
    }

    /// Names the folder of state files that is a link, or is not a folder.
    pub(crate) fn of_folder(error: regatta_files::disk::Error) -> Self {
        match regatta_files::beneath::is_in_the_way(&error) {
            true => Error::StateFolder { path: error.path },
            false => Error::StateFile(error),
        }
    }

    /// Tells whether the engine itself is in trouble and must stop. Any other error concerns only the task or
    /// the run that the engine was working on.
    pub(crate) fn is_of_engine(&self) -> bool {
        matches!(self, Error::Store(_) | Error::LogUnsound { .. } | Error::EngineAlreadyRunning(_))
    }

    /// Returns what, why and what next.
    pub fn explain(&self) -> Problem {
        match self {
            Error::Refused(refusal) => refusal.explain(),
            Error::WorktreeMissing { task, path, branch } => worktree_missing(*task, path, branch),
            Error::SubmoduleChanged { task, path, work } => submodule_changed(*task, path, work),
            Error::UnrelatedHistory { task, branch, target } => unrelated(*task, branch, target),
            Error::Store(error) => of_store(error),
            Error::Git(error) => of_git(error),
            Error::Workflow(error) => error.explain(),
            Error::Config(error) => of_config(error),
            Error::ProjectNotFound(path) => Problem::new(
                Code::ProjectNotFound,
                "there is no project here",
                format!("neither the repository of {} nor one above it has a .regatta/config.toml", path.display()),
                "run `regatta init` in your repository, or try `regatta demo`",
            ),
            Error::NotTrusted { config, starts } => trust::explain(config, starts),
            Error::ProjectExists(path) => Problem::new(
                Code::ProjectExists,
                "the project was not created",
                format!("{} already exists", path.display()),
                "use the existing project; `regatta doctor` checks it",
            ),
            Error::ConfigMissing { config, log } => Problem::new(
                Code::ProjectNotFound,
                "the project's config is missing",
                format!("{} does not exist, but the log does: {}", config.display(), log.display()),
                "`regatta init` writes a new config and keeps the log; or restore the old config, for example \
                 with git",
            )
            .with("log", log.display().to_string()),
            Error::NoWorktree { git_folder } => Problem::new(
                Code::NotARepository,
                "the project was not created",
                format!("{} is a bare repository and has no worktree for a config", git_folder.display()),
                "create one with `git worktree add` and run `regatta init` in it",
            ),
            Error::StateExists { what } => Problem::new(
                Code::StateExists,
                "nothing was imported",
                format!("{what} already exists and differs from the export"),
                "import into a clone of the repository that has no tasks yet; to replace what is here, export \
                 it and move it away first",
            ),
            Error::ExportInvalid { name, why } => Problem::new(
                Code::ExportInvalid,
                "nothing was imported",
                format!("{name}: {why}"),
                "copy the file again, or create it again with `regatta state export FILE`",
            ),
            Error::ExportForeign { missing } => Problem::new(
                Code::ExportForeign,
                "nothing was imported",
                format!("the export builds on commits that this repository does not have: {}", missing.trim()),
                "fetch the missing commits (`git fetch --all`) and try again; an export works only between \
                 clones of one repository",
            ),
            Error::StateInUse { path, holder } => in_use(path, holder.as_deref()),
            Error::EngineAlreadyRunning(holder) => Problem::new(
                Code::EngineAlreadyRunning,
                "a second engine was not started",
                format!("the project is served by {holder}"),
                format!("let it do the work, or stop it first with `kill {}`", holder.pid),
            )
            .with("pid", holder.pid)
            .with("host", holder.host.as_str()),
            Error::Io { action, path, source } if source.kind() == std::io::ErrorKind::InvalidData => {
                Problem::new(
                    Code::IoFailed,
                    format!("could not {action} {}", path.display()),
                    source.to_string(),
                    "repair or recreate the file",
                )
            }
            Error::Io { action, path, source } => Problem::new(
                Code::IoFailed,
                format!("could not {action} {}", path.display()),
                source.to_string(),
                "check that the path exists and is yours, and that the disk is not full; then try again",
            ),
            Error::RecordingFolderUsed { folder } => Problem::new(
                Code::IoFailed,
                format!("cannot record to {}", folder.display()),
                "it is not empty",
                "give a new or empty folder",
            ),
            Error::RecordingUnfinished { folder, run } => unfinished(folder, *run),
            Error::LogUnsound { seq: 0, why } => unsound("", why),
            Error::LogUnsound { seq, why } => unsound(&format!(" at event {seq}"), why),
            Error::SalvageNotFound { task, number } => Problem::new(
                Code::SalvageNotFound,
                format!("task #{task} has no salvage {number}"),
                "a salvage is kept only of work that was not merged when the worktree was removed",
                format!("list its salvages with `regatta task salvage {task} --list`"),
            ),
            Error::NoDiff { task } => Problem::new(
                Code::TaskNoDiff,
                format!("task #{task} has no diff to show"),
                "no work on it is in progress or merged",
                format!("see its state with `regatta task show {task}`"),
            )
            .with("taskId", task.number()),
            Error::StateFile(error) => Problem {
                why: chain(error),
                ..Problem::new(
                    Code::IoFailed,
                    "a state file could not be accessed",
                    "",
                    "check the path and its permissions",
                )
            },
            Error::StateFileMissing { path } => Problem::new(
                Code::IoFailed,
                format!("{} was not read", path.display()),
                "there is no such file",
                "check the path",
            ),
            Error::FileMoved { task } => Problem::new(
                Code::TaskBusy,
                format!("the file of task #{task} was not changed"),
                "another process changed it first",
                "try again",
            ),
            Error::FileRefused { why } => Refusal::Invalid {
                faults: vec![crate::core::FieldFault {
                    field: "text",
                    problem: format!("is not a new version of the file: {why}"),
                }],
            }
            .explain(),
            Error::Changed { of } => Problem::new(
                Code::PreconditionFailed,
                "nothing was changed",
                format!("{of} has changed since you read it (`If-Match` names another version)"),
                "read it again, and repeat the change if it is still what you want",
            ),
            Error::FileEdit { task, error } => of_edit(*task, error),
            Error::FileSetAside { task, kept, why } => Problem::new(
                Code::StateCorrupt,
                format!("the file of task #{task} was not read"),
                why,
                format!(
                    "the file was rebuilt from the log; what was found is kept as {kept}: copy what is \
                     missing from there"
                ),
            )
            .with("kept", kept.as_str()),
            Error::ArchiveSetAside { task, kept } => Problem::new(
                Code::StateCorrupt,
                format!("the archive of task #{task} was not read"),
                "it was a link or not a regular file, and links are not followed",
                format!("a new archive was started; what was found is kept as {kept}: see where it leads, \
                         then delete it"),
            )
            .with("kept", kept.as_str()),
            Error::StateFolder { path } => Problem::new(
                Code::StateCorrupt,
                format!("state files cannot be kept in {}", path.display()),
                match std::fs::read_link(path) {
                    Ok(target) => format!("it is a link to {}, and links are not followed", target.display()),
                    Err(_) => "it is not a folder".to_owned(),
                },
                "replace it with a folder, or set another location under `[paths]` in .regatta/config.toml",
            )
            .with("path", path.display().to_string()),
            Error::StateCorrupt { path, why } => Problem::new(
                Code::StateCorrupt,
                format!("{} cannot be read", path.display()),
                why,
                "open it in an editor that shows bytes, or restore an older version; it was not changed",
            ),
            Error::SessionEnded { folder } => Problem::new(
                Code::SessionEnded,
                "there is no session to serve tools for",
                format!("no session answers in {}", folder.display()),
                "agents start `regatta mcp` themselves inside a session; outside of one, use `regatta task`",
            ),
            Error::EndpointRefused { answer } => endpoint_refused(answer),
            Error::TargetMissing { branch } => Problem::new(
                Code::NotARepository,
                "there is nothing to start from",
                format!("the branch `{branch}` has no commit"),
                "make a first commit on it, or set another branch as `default_branch` in .regatta/config.toml",
            ),
            Error::Contended { tries } => Problem::new(
                Code::TaskBusy,
                "the command was not accepted",
                format!("other processes changed the project {tries} times in a row while it was being decided"),
                "try again",
            ),
            Error::WaitEnded { why, left } => wait_ended(why, left),
        }
    }
}

fn in_use(path: &Path, holder: Option<&Holder>) -> Problem {
    let (why, next) = match holder {
        Some(holder) => (
            format!("{} is used by {holder}", path.display()),
            format!("stop it first with `kill {}`, then try again", holder.pid),
        ),
        None => (
            format!("another process has {} open", path.display()),
            format!("find it with `fuser -v {}`, stop it, then try again", path.display()),
        ),
    };
    let problem = Problem::new(Code::StateInUse, "the project's log was not moved", why, next);
    match holder {
        Some(holder) => problem.with("pid", holder.pid).with("host", holder.host.as_str()),
        None => problem,
    }
}

/// Shows the answer of an endpoint in the endpoint's own words.
fn endpoint_refused(answer: &serde_json::Value) -> Problem {
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    let code = serde_json::from_value(answer["code"].clone()).unwrap_or(Code::Internal);
    Problem { why: Vec::new(), ..Problem::new(code, text("message"), "", text("hint")) }
}

fn wait_ended(why: &str, left: &[String]) -> Problem {
    let next = match left {
        [] => "it continues with the next engine (`regatta up`)".to_owned(),
        left => left.join("; "),
    };
    Problem::new(Code::WaitTimedOut, "the wait ended before the command did", why, next)
}

fn of_edit(task: crate::core::TaskId, error: &regatta_files::EditError) -> Problem {
    let what = format!("the file of task #{task} was not changed");
    if let regatta_files::EditError::NoSuchCriterion { index, count } = error {
        let why = format!("there is no criterion {index}; the file has {count}");
        let next = format!("see them with `regatta task criteria {task}`");
        return Problem::new(Code::ValidationError, what, why, next);
    }
    let next = "fix the file at the place named above, then try again";
    Problem { why: chain(error), ..Problem::new(Code::StateCorrupt, what, "", next) }
}

fn of_config(error: &ConfigError) -> Problem {
    let next = match error {
        ConfigError::Wrong { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
        ConfigError::Wrong { .. } => "fix that line and try again; nothing was done".to_owned(),
        ConfigError::Unreadable { .. } => "check that the file exists and that you may read it".to_owned(),
    };
    Problem { why: chain(error), ..Problem::new(Code::ConfigInvalid, "the config cannot be used", "", next) }
}

/// Explains that a recording cannot be replayed, because its run has not ended.
fn unfinished(folder: &Path, run: Option<RunId>) -> Problem {
    let next = match run {
        Some(run) => {
            format!("continue it with `regatta run --resume {run}` where it was recorded, then replay it")
        }
        None => "find its run with `regatta run list` where it was recorded, continue it with `regatta run \
                 --resume ID`, then replay it"
            .to_owned(),
    };
    let problem = Problem::new(
        Code::ValidationError,
        format!("{} cannot be replayed", folder.display()),
        match run {
            Some(_) => "the run recorded there has not ended",
            None => "no ended run is recorded there",
        },
        next,
    );
    match run {
        Some(run) => problem.with("runId", run.number()),
        None => problem,
    }
}

/// Explains an inconsistent log; `place` is ` at event 41`, or empty where no event is to blame.
fn unsound(place: &str, why: &str) -> Problem {
    Problem::new(
        Code::LogUnsound,
        format!("the log is inconsistent{place}"),
        why,
        "nothing was changed; back up the log (`.git/regatta`), run `regatta doctor`, and report this as a bug",
    )
}

fn of_store(error: &regatta_store::Error) -> Problem {
    use regatta_store::Error as Store;
    match error {
        Store::SchemaTooNew { found, known, path } => Problem::new(
            Code::SchemaTooNew,
            "the project was not opened",
            format!(
                "{} has schema {found}, and this version of Regatta supports up to {known}",
                path.display()
            ),
            "use the newer version that wrote it; the file was not changed",
        )
        .with("found", *found)
        .with("known", *known),
        Store::CommandReused { command } => Problem::new(
            Code::CommandReused,
            "the command was not accepted",
            format!("the ID {command} was already used for another command"),
            "give each command its own ID; reuse an ID only to repeat the same command",
        ),
        Store::Corrupt { what } => unsound("", &what.to_string()),
        Store::Busy { .. } => Problem {
            why: chain(error),
            ..Problem::new(
                Code::StoreFailed,
                "the project's database is busy",
                "",
                "try again; if it stays busy, find out which program holds it",
            )
        },
        Store::LeaseLost { .. } => Problem::new(
            Code::StoreFailed,
            "the engine stopped",
            "it was suspended until its lease expired, and another engine may be running by now",
            "the work continues with the next engine: `regatta up`, or the one that is running",
        ),
        _ => Problem {
            why: chain(error),
            ..Problem::new(
                Code::StoreFailed,
                "the project's database failed",
                "",
                "check the disk and the file's permissions, then run `regatta doctor`",
            )
        },
    }
}

fn of_git(error: &regatta_git::Error) -> Problem {
    use regatta_git::Error as Git;
    let (code, what, next) = match error {
        Git::NotFound | Git::TooOld { .. } => (
            Code::GitUnusable,
            "git cannot be used",
            "install git 2.38 or newer (2.40 is better) and put it on PATH",
        ),
        Git::NotARepository { .. } | Git::NoCommit { .. } => (
            Code::NotARepository,
            "this is not a usable git repository",
            "run `git init`, make a first commit, and try again",
        ),
        Git::BranchTaken { .. } => (
            Code::GitFailed,
            "the branch was not created",
            "choose another name with `--branch NAME`, or use the existing branch",
        ),
        Git::WorktreeGone { .. } => (
            Code::WorktreeMissing,
            "the worktree of the task is gone",
            "run `regatta doctor` to see what is left and what to do",
        ),
        Git::NotAWorktree { .. } => (
            Code::GitFailed,
            "the worktree of the task cannot be used",
            "run `regatta doctor` to see what is wrong and what to do",
        ),
        _ => {
            (Code::GitFailed, "a git command failed", "run the command yourself to see more, then try again")
        }
    };
    Problem { why: chain(error), ..Problem::new(code, what, "", next) }
}

fn worktree_missing(task: TaskId, path: &Path, branch: &str) -> Problem {
    let place = path.display();
    Problem::new(
        Code::WorktreeMissing,
        format!("the worktree of task #{task} is gone"),
        format!("{place} was deleted; what was committed is on the branch {branch}"),
        format!(
            "`git worktree add -f {place} {branch}` recreates it from the branch, or `regatta task cancel {task}` \
             (what is on the branch is kept as a salvage)"
        ),
    )
    .with("taskId", task.number())
    .with("path", place.to_string())
    .with("branch", branch)
}

fn submodule_changed(task: TaskId, path: &Path, work: &[regatta_git::SubmoduleWork]) -> Problem {
    let tell = |work: &regatta_git::SubmoduleWork| {
        let mut parts = Vec::new();
        if !work.commits.is_empty() {
            parts.push(format!("commits that exist nowhere else ({})", work.commits.join("; ")));
        }
        if !work.edits.is_empty() {
            parts.push(format!("files that are not committed ({})", work.edits.join(", ")));
        }
        format!("the submodule `{}` has {}", work.path, parts.join(" and "))
    };
    let first = work.first().map_or("", |work| work.path.as_str());
    let inside = path.join(first);
    let inside = inside.display();
    let next = match work.iter().any(|work| !work.edits.is_empty()) {
        true => {
            format!("commit what is in it (`git -C {inside} commit`) or discard it, then keep the commits: ")
        }
        false => String::new(),
    };
    let next = format!(
        "{next}push them to the submodule's own remote, or `git -C {first} fetch {inside} HEAD:task-{task}` copies them to your \
         own submodule; then `regatta task complete {task}`. `regatta task cancel {task}` keeps all of it as a salvage"
    );
    let listed: Vec<serde_json::Value> = work
        .iter()
        .map(|work| serde_json::json!({"path": work.path, "commits": work.commits, "edits": work.edits}))
        .collect();
    let problem = Problem::new(Code::SubmoduleChanged, format!("task #{task} was not completed"), "", next);
    Problem { why: work.iter().map(tell).collect(), ..problem }
        .with("taskId", task.number())
        .with("submodules", listed)
}

fn unrelated(task: TaskId, branch: &str, target: &str) -> Problem {
    Problem::new(
        Code::UnrelatedHistory,
        format!("task #{task} was not completed"),
        format!("the branch {branch} has no commit in common with {target}, so it cannot be merged"),
        format!(
            "in its worktree, put the work on top of {target} (`git rebase --onto {target} --root`) and `regatta task complete \
             {task}`, or `regatta task cancel {task}` (the work is kept as a salvage)"
        ),
    )
    .with("taskId", task.number())
    .with("branch", branch)
    .with("target", target)
}

/// Returns the error and its causes, outermost first.
pub(crate) fn chain(error: &dyn std::error::Error) -> Vec<String> {
    let mut levels = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(inner) = cause {
        levels.push(inner.to_string());
        cause = inner.source();
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use regatta_store::LeaseToken;

    #[test]
    fn an_engine_that_was_away_too_long_does_not_blame_the_disk() {
        let token = LeaseToken(uuid::Uuid::nil());
        let problem = Error::Store(regatta_store::Error::LeaseLost { token }).explain();
        assert_eq!((problem.code, problem.what.as_str()), (Code::StoreFailed, "the engine stopped"));
        assert!(problem.why.concat().contains("its lease expired"), "{problem:?}");
        assert!(!problem.next.contains("disk"), "{problem:?}");
    }
}
