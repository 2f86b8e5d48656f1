//! Everything that can go wrong when a command is given or carried out, and the messages a user sees.

use crate::core::{Code, Problem, Refusal};
use crate::project::config::ConfigError;
use crate::project::trust::{self, Starts};
use crate::runtime::holder::Holder;
use std::path::PathBuf;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The rules say no.
    #[error("refused: {}", .0.code())]
    Refused(Refusal),
    /// Something that no caller tells from another; what, why and what next were said where it was found.
    #[error("{}", .0.what)]
    Explained(Box<Problem>),
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
    /// The config came with a clone, and nobody has agreed to what it starts.
    #[error("{} is not trusted", config.display())]
    NotTrusted {
        /// The config.
        config: PathBuf,
        /// What it starts.
        starts: Vec<Starts>,
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
    /// An event in the log cannot be understood.
    #[error("event {seq} cannot be understood: {why}")]
    LogUnsound {
        /// Its sequence number; 0 where it is not an event that is wrong.
        seq: u64,
        /// What is wrong.
        why: String,
    },
    /// A state file could not be reached.
    #[error("a state file could not be accessed")]
    StateFile(#[from] regatta_files::disk::Error),
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
    /// A folder of state files is a link, or no folder.
    #[error("{} cannot hold state files", path.display())]
    StateFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The session is over, or never existed.
    #[error("there is no session at {}", folder.display())]
    SessionEnded {
        /// Its private folder.
        folder: PathBuf,
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
            Error::Explained(problem) => (**problem).clone(),
            Error::Store(error) => of_store(error),
            Error::Git(error) => of_git(error),
            Error::Workflow(error) => error.explain(),
            Error::Config(error) => of_config(error),
            Error::NotTrusted { config, starts } => trust::explain(config, starts),
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
            Error::LogUnsound { seq: 0, why } => unsound("", why),
            Error::LogUnsound { seq, why } => unsound(&format!(" at event {seq}"), why),
            Error::StateFile(error) => Problem {
                why: chain(error),
                ..Problem::new(
                    Code::IoFailed,
                    "a state file could not be accessed",
                    "",
                    "check the path and its permissions",
                )
            },
            Error::FileMoved { task } => Problem::new(
                Code::TaskBusy,
                format!("the file of task #{task} was not changed"),
                "another process changed it first",
                "try again",
            ),
            Error::Changed { of } => Problem::new(
                Code::PreconditionFailed,
                "nothing was changed",
                format!("{of} has changed since you read it (`If-Match` names another version)"),
                "read it again, and repeat the change if it is still what you want",
            ),
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
            Error::SessionEnded { folder } => Problem::new(
                Code::SessionEnded,
                "there is no session to serve tools for",
                format!("no session answers in {}", folder.display()),
                "agents start `regatta mcp` themselves inside a session; outside of one, use `regatta task`",
            ),
            Error::Contended { tries } => Problem::new(
                Code::TaskBusy,
                "the command was not accepted",
                format!(
                    "other processes changed the project {tries} times in a row while it was being decided"
                ),
                "try again",
            ),
            Error::WaitEnded { why, left } => wait_ended(why, left),
        }
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Error::Explained(Box::new(problem))
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        error.explain()
    }
}

fn wait_ended(why: &str, left: &[String]) -> Problem {
    let next = match left {
        [] => "it continues with the next engine (`regatta up`)".to_owned(),
        left => left.join("; "),
    };
    Problem::new(Code::WaitTimedOut, "the wait ended before the command did", why, next)
}

fn of_config(error: &ConfigError) -> Problem {
    let next = match error {
        ConfigError::Wrong { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
        ConfigError::Wrong { .. } => "fix that line and try again; nothing was done".to_owned(),
        ConfigError::Unreadable { .. } => "check that the file exists and that you may read it".to_owned(),
    };
    Problem { why: chain(error), ..Problem::new(Code::ConfigInvalid, "the config cannot be used", "", next) }
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
            Code::ValidationError,
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
