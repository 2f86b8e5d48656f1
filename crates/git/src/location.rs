//! Where worktrees are on disk, read from the repository's own entries.
//!
//! Git calls in a worktree name its git folder outright instead of letting git look for it: an agent may have
//! replaced or deleted the `.git` file, and git would then find some other repository, in the worst case the
//! user's own checkout above. The entries under `<common dir>/worktrees` say which folder belongs to which worktree.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::command::Git;
use crate::error::Error;
use crate::name::{BranchName, CommitId};
use crate::programs::Overrides;
use crate::reference::parse_commit;
use crate::repository::Repository;
use crate::stand_in::read_plain;

/// The branch that HEAD names in a repository whose refs are in tables: one that cannot exist.
const REFTABLE_STUB: &str = ".invalid";

/// A worktree and the git folder that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// The folder with HEAD and the index: the common folder for the main worktree, an entry for the others.
    pub(crate) git_dir: PathBuf,
    /// The folder with the files.
    pub(crate) path: PathBuf,
    /// What keeps a call from running a program that the config names; empty until [`Repository::seal`] fills it.
    pub(crate) overrides: Overrides,
}

impl Location {
    /// Starts a call in this worktree.
    pub(crate) fn git(&self) -> Git {
        Git::of(&self.git_dir, Some(&self.path)).overriding(&self.overrides)
    }

    /// Returns the branch this worktree stands on, or nothing when its HEAD is detached.
    pub(crate) async fn branch(&self) -> Result<Option<BranchName>, Error> {
        // A merge asks this of every worktree, and starting git for each would cost more than the merge itself.
        if let Some(name) = read_branch(&self.git_dir.join("HEAD")) {
            return Ok(Some(BranchName::parse(&name)?));
        }
        let finished = Git::of(&self.git_dir, None).args(["symbolic-ref", "--quiet", "HEAD"]).run().await?;
        match finished.code {
            Some(0) => {
                let text = String::from_utf8_lossy(&finished.stdout);
                Ok(text.trim_end().strip_prefix("refs/heads/").map(BranchName::parse).transpose()?)
            }
            Some(1) => Ok(None),
            _ => Err(finished.into_error()),
        }
    }

    /// Returns the commit this worktree stands on, or nothing before the first one.
    pub(crate) async fn head(&self) -> Result<Option<CommitId>, Error> {
        let words = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        // The folder with the files may be gone, and a submodule's config names it: git then fails unless another is named.
        let finished = Git::of(&self.git_dir, Some(&self.git_dir)).args(words).run().await?;
        match finished.code {
            Some(0) => parse_commit(&finished).map(Some),
            Some(1) => Ok(None),
            _ => Err(finished.into_error()),
        }
    }
}

impl Repository {
    /// Returns a folder seen through the git folder of the main worktree.
    pub(crate) fn main_location(&self, path: PathBuf) -> Location {
        Location { git_dir: self.common_dir().to_path_buf(), path, overrides: Overrides::default() }
    }

    /// Finds the worktree at a path, whether or not the folder is still there.
    pub(crate) fn find_location(&self, path: &Path) -> Result<Option<Location>, Error> {
        let path = settle(path)?;
        if !self.is_bare() && path == self.root() {
            return Ok(Some(self.main_location(path)));
        }
        Ok(self.linked_locations()?.into_iter().find(|location| location.path == path))
    }

    /// Makes calls in a worktree run no filter and no merge driver that was not allowed.
    pub(crate) async fn seal(&self, location: Location) -> Result<Location, Error> {
        let overrides = self.overrides(Git::of(&location.git_dir, None)).await?;
        Ok(Location { overrides, ..location })
    }

    /// Returns the worktree at a path; its folder must be there.
    pub(crate) fn get_location(&self, path: &Path) -> Result<Location, Error> {
        match self.find_location(path)? {
            Some(location) if location.path.is_dir() => Ok(location),
            _ if path.symlink_metadata().is_err() => Err(Error::WorktreeGone { path: path.to_path_buf() }),
            _ => Err(Error::NotAWorktree { path: path.to_path_buf() }),
        }
    }

    /// Lists every worktree but the main one; an entry that says nothing readable, or leads elsewhere, is left out.
    pub(crate) fn linked_locations(&self) -> Result<Vec<Location>, Error> {
        let folder = self.common_dir().join("worktrees");
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("list", &folder)(error)),
        };
        let mut locations = Vec::new();
        for entry in entries {
            let git_dir = entry.map_err(Error::io("list", &folder))?.path();
            if leads_to(&git_dir, self.common_dir())
                && let Ok(content) = std::fs::read(git_dir.join("gitdir"))
                && let Some(path) = parse_gitdir(&git_dir, &content)
            {
                let overrides = Overrides::default();
                locations.push(Location { path: settle(&path)?, git_dir, overrides });
            }
        }
        Ok(locations)
    }
}

/// Reads the branch that a HEAD file names. Returns nothing for anything else, which is left to git: a detached HEAD, a
/// symlink, or the stub that a repository with reftables keeps there.
fn read_branch(head: &Path) -> Option<String> {
    let content = read_plain(head)?;
    let name = std::str::from_utf8(&content).ok()?.strip_prefix("ref: refs/heads/")?.trim_end();
    (name != REFTABLE_STUB).then(|| name.to_owned())
}

/// Tells whether git, given an entry, works on this repository: a file in the entry says which refs and config it uses.
fn leads_to(git_dir: &Path, common_dir: &Path) -> bool {
    let named = std::fs::read(git_dir.join("commondir")).ok();
    let named = named.map(|content| git_dir.join(OsStr::from_bytes(content.trim_ascii_end())));
    named.and_then(|named| named.canonicalize().ok()).is_some_and(|named| named == common_dir)
}

/// Reads the content of an entry's `gitdir` file, which names the worktree's `.git` file, maybe relatively.
fn parse_gitdir(git_dir: &Path, content: &[u8]) -> Option<PathBuf> {
    let named = Path::new(OsStr::from_bytes(content.trim_ascii_end()));
    let named = git_dir.join(named);
    (named.file_name() == Some(OsStr::new(".git"))).then(|| named.parent().map(Path::to_path_buf))?
}

/// Makes a path absolute and free of symlinks, as git stores it, except for its last part: what stands there may
/// be missing, or be a symlink that must not be followed.
pub(crate) fn settle(path: &Path) -> Result<PathBuf, Error> {
    let absolute = std::path::absolute(path).map_err(Error::io("find", path))?;
    let mut missing: Vec<OsString> = Vec::new();
    let mut ancestor = absolute.as_path();
    while let (Some(parent), Some(name)) = (ancestor.parent(), ancestor.file_name()) {
        missing.push(name.to_owned());
        ancestor = parent;
        if let Ok(mut settled) = ancestor.canonicalize() {
            settled.extend(missing.iter().rev());
            return Ok(settled);
        }
    }
    Ok(absolute)
}

#[cfg(test)]
mod tests {
    use super::{parse_gitdir, read_branch, settle};
    use std::path::{Path, PathBuf};

    #[test]
    fn an_entry_names_its_worktree_absolutely_or_relatively() {
        let git_dir = Path::new("/r/.git/worktrees/x");
        assert_eq!(parse_gitdir(git_dir, b"/w/x/.git\n"), Some(PathBuf::from("/w/x")));
        assert_eq!(
            parse_gitdir(git_dir, b"../../../w/.git\n"),
            Some(PathBuf::from("/r/.git/worktrees/x/../../../w"))
        );
        assert_eq!(parse_gitdir(git_dir, b"garbage"), None);
    }

    #[test]
    fn only_the_last_part_may_stay_a_symlink() {
        let folder = tempfile::tempdir().expect("a folder");
        let real = folder.path().canonicalize().expect("a real folder");
        std::fs::create_dir(real.join("a")).expect("a folder");
        std::os::unix::fs::symlink(real.join("a"), real.join("link")).expect("a symlink");
        assert_eq!(settle(&real.join("link/x")).expect("settled"), real.join("a/x"));
        assert_eq!(settle(&real.join("link")).expect("settled"), real.join("link"));
        assert_eq!(settle(&real.join("no/such/folder")).expect("settled"), real.join("no/such/folder"));
    }

    #[test]
    fn a_head_file_names_a_branch_or_is_left_to_git() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("HEAD");
        let read = |content: &str| {
            std::fs::write(&path, content).expect("written");
            read_branch(&path)
        };
        assert_eq!(read("ref: refs/heads/task/12\n").as_deref(), Some("task/12"));
        assert_eq!(read("ref: refs/heads/.invalid\n"), None);
        assert_eq!(read("ref: refs/remotes/origin/main\n"), None);
        assert_eq!(read(&format!("{}\n", "a".repeat(40))), None);
        std::fs::remove_file(&path).expect("removed");
        std::os::unix::fs::symlink("refs/heads/main", &path).expect("linked");
        assert_eq!(read_branch(&path), None);
    }
}
