//! A repository on disk: finding it, making one, and the folders it consists of.
//!
//! The operations are in one file per subject: `reference`, `worktree`, `change`, `diff`, `merge`, `salvage`,
//! `lock_file`. Nothing is cached but the folders, so several processes may work on one repository.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::command::Git;
use crate::discover::discover;
use crate::error::Error;
use crate::name::BranchName;
use crate::programs::Allowing;
use crate::serial::{Serial, SerialPlace};
use crate::version;

/// A handle on one repository; cheap to clone.
#[derive(Debug, Clone)]
pub struct Repository {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    common_dir: PathBuf,
    is_bare: bool,
    serial: SerialPlace,
    allowed: Allowing,
}

impl Repository {
    /// Opens the repository that holds the folder, looking upward; also checks that git is new enough.
    pub async fn open(dir: &Path) -> Result<Self, Error> {
        version::check().await?;
        let dir = dir.canonicalize().map_err(Error::io("find", dir))?;
        let common_dir = match ask_path(&dir, "--git-common-dir").await {
            Ok(path) => path,
            Err(Error::Failed { stderr, .. }) => {
                return Err(Error::NotARepository { path: dir, reason: stderr });
            }
            Err(other) => return Err(other),
        };
        let is_linked = ask_path(&dir, "--git-dir").await? != common_dir;
        let is_bare =
            Git::of(&common_dir, None).args(["rev-parse", "--is-bare-repository"]).text().await? == "true";
        let root = match (is_bare, is_linked) {
            (true, _) => common_dir.clone(),
            (false, true) => main_worktree(&common_dir),
            (false, false) => {
                ask_path(&dir, "--show-toplevel").await.unwrap_or_else(|_| main_worktree(&common_dir))
            }
        };
        let root = root.canonicalize().map_err(Error::io("find", &root))?;
        let serial = SerialPlace::new(&common_dir);
        Ok(Self {
            inner: Arc::new(Inner { root, common_dir, is_bare, serial, allowed: Allowing::default() }),
        })
    }

    /// Opens the repository that holds the folder by its files alone, without starting git; see [`Self::ready`].
    pub fn find(dir: &Path) -> Result<Self, Error> {
        let dir = dir.canonicalize().map_err(Error::io("find", dir))?;
        let Some(found) = discover(&dir) else {
            return Err(Error::NotARepository { path: dir, reason: "there is no git folder".to_owned() });
        };
        let (common_dir, is_bare) = (found.common_dir, found.is_bare);
        let root = found.main_worktree.unwrap_or_else(|| main_worktree(&common_dir));
        let serial = SerialPlace::new(&common_dir);
        Ok(Self {
            inner: Arc::new(Inner { root, common_dir, is_bare, serial, allowed: Allowing::default() }),
        })
    }

    /// Makes sure that git can be used, and reads what was [allowed](Self::allowing_later).
    pub async fn ready(&self) -> Result<(), Error> {
        version::check().await?;
        self.allowed().await.map(|_| ())
    }

    /// Makes a repository with no commit in the folder, which is created if missing, and opens it.
    pub async fn init(dir: &Path, branch: &BranchName) -> Result<Self, Error> {
        version::check().await?;
        std::fs::create_dir_all(dir).map_err(Error::io("create", dir))?;
        let dir = dir.canonicalize().map_err(Error::io("find", dir))?;
        Git::discovering(&dir)
            .args(["init", "--quiet", "--template=", "--initial-branch", branch.as_str(), "."])
            .success()
            .await?;
        Self::open(&dir).await
    }

    /// Returns the main worktree, or the repository's own folder when it is bare.
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// Returns the folder that all worktrees share, usually `<root>/.git`.
    pub fn common_dir(&self) -> &Path {
        &self.inner.common_dir
    }

    /// Returns a handle on the same repository that runs the given programs.
    pub(crate) fn with_allowed(self, allowed: Allowing) -> Self {
        let Inner { root, common_dir, is_bare, serial, .. } = &*self.inner;
        let (root, common_dir, serial) = (root.clone(), common_dir.clone(), serial.clone());
        Self { inner: Arc::new(Inner { root, common_dir, is_bare: *is_bare, serial, allowed }) }
    }

    pub(crate) fn allowing_cell(&self) -> &Allowing {
        &self.inner.allowed
    }

    pub(crate) fn is_bare(&self) -> bool {
        self.inner.is_bare
    }

    /// Starts a call about refs and objects, with no files in view.
    pub(crate) fn git(&self) -> Git {
        Git::of(self.common_dir(), None)
    }

    /// Starts a call that sees the main worktree's files, above all its attributes.
    pub(crate) fn git_at_root(&self) -> Git {
        Git::of(self.common_dir(), (!self.is_bare()).then(|| self.root()))
    }

    /// Waits for this repository's turn to be changed.
    pub(crate) async fn serialise(&self) -> Result<Serial, Error> {
        self.inner.serial.take().await
    }

    /// Returns the folder for our own files inside the git folder; only to be used while the serial lock is held.
    pub(crate) fn own_folder(&self) -> &Path {
        self.inner.serial.folder()
    }
}

/// Guesses the main worktree of a linked one; a common folder under another name has none that can be known.
fn main_worktree(common_dir: &Path) -> PathBuf {
    match (common_dir.file_name(), common_dir.parent()) {
        (Some(name), Some(parent)) if name == ".git" => parent.to_path_buf(),
        _ => common_dir.to_path_buf(),
    }
}

async fn ask_path(dir: &Path, question: &str) -> Result<PathBuf, Error> {
    let git = Git::discovering(dir).args(["rev-parse", "--path-format=absolute", question]);
    let mut bytes = git.success().await?.stdout;
    bytes.pop();
    let path = PathBuf::from(OsString::from_vec(bytes));
    path.canonicalize().map_err(Error::io("find", &path))
}
