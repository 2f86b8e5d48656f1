//! Where a project is: the worktree whose config and `.regatta` count, and the folder of its log.
//!
//! ```text
//!   <main worktree>/.regatta/            config and workflows, and what can be written again from the log
//!   <git common dir>/regatta/            where no `git clean` reaches and every linked worktree finds it:
//!     log.db                               the log
//!     sessions/                            transcripts
//!     private/                             a folder per running session: its socket, its token, its `/tmp`
//!     homes/                               the home of each sandboxed agent: what it needs to resume a session
//!     cache/                               what build tools in sandboxes download
//!     guards/                              locks of task files
//!     trusted                              that `init` ran here, or that a person agreed to a config that came with the clone
//!     root                                 the worktree where `init` ran, if git does not know a main one
//! ```
//!
//! The git crate keeps its own files in the same folder. An agent in a sandbox sees none of it except its own
//! private folder, its home and the cache. Nothing here starts git, so a verb that only reads the log does
//! not need it.

use crate::core::{Code, Problem};
use crate::error::Error;
use regatta_git::{Discovered, discover};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub(crate) const FOLDER: &str = ".regatta";
pub(crate) const CONFIG: &str = "config.toml";
const HOME: &str = "regatta";
const LOG: &str = "log.db";
const ROOT: &str = "root";
const TRUSTED: &str = "trusted";

/// Where a project is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// The worktree whose config and `.regatta` count.
    pub(crate) root: PathBuf,
    /// The folder of the log, in the git folder that all worktrees share.
    pub(crate) home: PathBuf,
}

impl Location {
    /// Finds the project that holds `dir`. A repository without one, such as a submodule, may lie within a
    /// project.
    pub(crate) fn find(dir: &Path) -> Result<Self, Error> {
        let dir = dir.canonicalize().map_err(Error::io("find", dir))?;
        let mut from = Some(dir.clone());
        while let Some(found) = from.as_deref().and_then(discover) {
            let home = found.common_dir.join(HOME);
            let root = find_root(&found, &home);
            let location = Location { root: root.unwrap_or_else(|| top_of(&found).to_owned()), home };
            if location.config().is_file() {
                return Ok(location);
            }
            if location.log().is_file() {
                return Err(config_missing(&location.config(), &location.log()));
            }
            from = top_of(&found).parent().map(Path::to_owned);
        }
        Err(not_found(&dir))
    }

    /// Finds the place of a new project that is made in `dir`, which is in a repository.
    pub(crate) fn find_new(dir: &Path) -> Result<Self, Error> {
        let dir = dir.canonicalize().map_err(Error::io("find", dir))?;
        let Some(found) = discover(&dir) else { return Err(not_found(&dir)) };
        let home = found.common_dir.join(HOME);
        if let Some(root) = find_root(&found, &home) {
            let location = Location { root, home: home.clone() };
            if found.main_worktree.is_some() || location.config().is_file() {
                return Ok(location);
            }
        }
        match found.worktree {
            Some(root) => Ok(Location { root, home }),
            None => Err(no_worktree(&found.common_dir)),
        }
    }

    /// Notes the worktree beside the log, where git itself does not know a main one.
    pub(crate) fn note_root(&self) -> Result<(), Error> {
        let is_known = discover(&self.root).is_some_and(|found| found.main_worktree.is_some());
        if is_known {
            return Ok(());
        }
        std::fs::create_dir_all(&self.home).map_err(Error::io("create", &self.home))?;
        let path = self.home.join(ROOT);
        let mut line = self.root.as_os_str().as_bytes().to_vec();
        line.push(b'\n');
        regatta_files::disk::write_atomically(&path, &line).map_err(Error::StateFile)
    }

    /// Returns Regatta's folder in the worktree.
    pub(crate) fn folder(&self) -> PathBuf {
        self.root.join(FOLDER)
    }

    /// Returns where the config is.
    pub(crate) fn config(&self) -> PathBuf {
        self.folder().join(CONFIG)
    }

    /// Returns where the log is.
    pub(crate) fn log(&self) -> PathBuf {
        self.home.join(LOG)
    }

    /// Returns the file that says that a person agreed to the programs of the config.
    pub(crate) fn trusted(&self) -> PathBuf {
        self.home.join(TRUSTED)
    }

    /// Returns the folder of transcripts.
    pub(crate) fn sessions(&self) -> PathBuf {
        self.home.join("sessions")
    }

    /// Returns the folder with a private folder per running session.
    pub(crate) fn private(&self) -> PathBuf {
        self.home.join("private")
    }

    /// Returns the folder of the homes that sandboxed sessions have.
    pub(crate) fn homes(&self) -> PathBuf {
        self.home.join("homes")
    }

    /// Returns the cache of build tools that sandboxed sessions share.
    pub(crate) fn cache(&self) -> PathBuf {
        self.home.join("cache")
    }

    /// Returns the folder of the locks of task files.
    pub(crate) fn guards(&self) -> PathBuf {
        self.home.join("guards")
    }
}

/// Returns the worktree whose `.regatta` counts, if that can be known.
fn find_root(found: &Discovered, home: &Path) -> Option<PathBuf> {
    let noted = || {
        let line = std::fs::read(home.join(ROOT)).ok()?;
        let path = Path::new(OsStr::from_bytes(line.strip_suffix(b"\n")?));
        path.is_absolute().then(|| path.to_owned())
    };
    found.main_worktree.clone().or_else(noted)
}

fn top_of(found: &Discovered) -> &Path {
    found.worktree.as_deref().unwrap_or(&found.common_dir)
}

/// Explains that a bare repository has no worktree for a config.
fn no_worktree(git_folder: &Path) -> Error {
    Problem::new(
        Code::NotARepository,
        "the project was not created",
        format!("{} is a bare repository and has no worktree for a config", git_folder.display()),
        "create one with `git worktree add` and run `regatta init` in it",
    )
    .into()
}

/// Explains that the project has a log, and its config is gone.
fn config_missing(config: &Path, log: &Path) -> Error {
    Problem::new(
        Code::ProjectNotFound,
        "the project's config is missing",
        format!("{} does not exist, but the log does: {}", config.display(), log.display()),
        "`regatta init` writes a new config and keeps the log; or restore the old config, for example \
                 with git",
    )
    .with("log", log.display().to_string())
    .into()
}

/// Explains that the folder is not in a project.
fn not_found(path: &Path) -> Error {
    Problem::new(
        Code::ProjectNotFound,
        "there is no project here",
        format!("neither the repository of {} nor one above it has a .regatta/config.toml", path.display()),
        "run `regatta init` in your repository, or try `regatta demo`",
    )
    .into()
}
