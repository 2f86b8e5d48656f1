//! Makes a worktree on a new branch, whole or not at all.
//!
//! `git worktree add` makes the branch, then the entry, then the folder, and `git read-tree` the files and
//! last the index; either may die at any point. A failed call undoes what it made. A call that died itself
//! left a note (`journal`), and the next one undoes what that names, unless somebody has put work there.
//!
//! `git worktree add` could write the files too. But it does so by `git reset`, which locks the packed refs
//! of the whole repository: if it died with that lock, nobody could delete a ref any more.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::journal::Begun;
use crate::command::CHECKOUT_TIME_MAX;
use crate::error::Error;
use crate::folder;
use crate::location::{Location, settle};
use crate::name::{BranchName, CommitId};
use crate::repository::Repository;
use crate::serial::Serial;

impl Repository {
    /// Makes a worktree at the path on a new branch that begins at `start`.
    ///
    /// May be repeated: the same worktree on the same branch is left as it is. A path or a branch that exists and is
    /// not ours is an error. After an error nothing that the call made is left: no folder, no entry, no branch.
    pub async fn ensure_worktree(
        &self,
        path: &Path,
        branch: &BranchName,
        start: &CommitId,
    ) -> Result<(), Error> {
        let serial = self.serialise().await?;
        let path = settle(path)?;
        self.finish_or_undo_begun(&serial, &path).await?;
        if path == self.root() {
            return Err(Error::PathTaken { path });
        }
        let head = self.find_branch(branch).await?;
        match (self.find_location(&path)?, head) {
            (Some(location), head) => self.accept_existing(&serial, location, branch, head).await,
            (None, _) if path.symlink_metadata().is_ok() => Err(Error::PathTaken { path }),
            (None, Some(at)) => Err(Error::BranchTaken { branch: branch.clone(), at }),
            (None, None) => {
                self.make(&serial, &Begun { path, branch: branch.clone(), start: start.clone() }).await
            }
        }
    }

    async fn accept_existing(
        &self,
        serial: &Serial,
        location: Location,
        branch: &BranchName,
        head: Option<CommitId>,
    ) -> Result<(), Error> {
        let found = location.branch().await?;
        let Location { git_dir, path, .. } = location;
        if found.as_ref() != Some(branch) {
            return Err(Error::WorktreeElsewhere { path, found, wanted: branch.clone() });
        }
        if head.is_none() {
            return Err(Error::WorktreeBroken { path, why: "its branch was deleted" });
        }
        if path.symlink_metadata().is_err() {
            // Someone deleted the folder; the branch has all that was committed.
            folder::remove(&git_dir)?;
            let add = self.git().args(["worktree", "add", "--quiet", "--no-checkout", "--"]);
            add.arg(&path).arg(branch.as_str()).holding(serial)?.success().await?;
            return self.fill(serial, &path).await;
        }
        if !names_git_dir(&path, &git_dir) {
            return Err(Error::WorktreeBroken { path, why: "its .git file does not lead to the repository" });
        }
        if git_dir.join("index").exists() {
            return Ok(());
        }
        // A call that made a deleted folder again died on the way. What it locked is nobody's.
        folder::remove(&git_dir.join("index.lock"))?;
        folder::remove(&git_dir.join("locked"))?;
        self.fill(serial, &path).await
    }

    async fn make(&self, serial: &Serial, begun: &Begun) -> Result<(), Error> {
        let new_folders = missing_ancestors(&begun.path);
        let made = self.make_noted(serial, begun).await;
        if made.is_err() {
            // The first error is the one to show; a note that stays lets the next call try the undoing again.
            let _ = self.undo(serial, begun).await;
            for folder in &new_folders {
                let _ = std::fs::remove_dir(folder);
            }
        }
        made
    }

    async fn make_noted(&self, serial: &Serial, begun: &Begun) -> Result<(), Error> {
        if let Some(parent) = begun.path.parent() {
            std::fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        }
        self.save_begun(begun)?;
        let add = self.git().args(["worktree", "add", "--quiet", "--no-checkout", "--no-track"]);
        let add = add.args(["-b", begun.branch.as_str(), "--"]).arg(&begun.path).arg(begun.start.as_str());
        add.holding(serial)?.success().await?;
        self.fill(serial, &begun.path).await?;
        self.forget_begun(&begun.path)
    }

    /// Writes the files of a worktree's commit, and then its index.
    pub(crate) async fn fill(&self, serial: &Serial, path: &Path) -> Result<(), Error> {
        let location = self.seal(self.get_location(path)?).await?;
        let read = location.git().args(["read-tree", "--reset", "-u", "HEAD"]);
        read.time_max(CHECKOUT_TIME_MAX).holding(serial)?.success().await.map(drop)
    }

    async fn finish_or_undo_begun(&self, serial: &Serial, path: &Path) -> Result<(), Error> {
        let Some(begun) = self.find_begun(path)? else { return Ok(()) };
        let is_complete = match self.find_location(path)? {
            Some(location) => is_complete(&location, &begun.branch).await,
            None => false,
        };
        if !is_complete {
            self.refuse_work(&begun).await?;
            self.undo(serial, &begun).await?;
        }
        self.forget_begun(path)
    }

    /// Refuses to undo a half-made worktree with a commit of its own or with a file that git did not put there.
    ///
    /// A file that differs from its committed content does not count: git died while writing it, and no agent was
    /// started in a worktree whose making never returned.
    async fn refuse_work(&self, begun: &Begun) -> Result<(), Error> {
        let holds = |what: String| Err(Error::WorktreeHoldsWork { path: begun.path.clone(), what });
        match self.find_branch(&begun.branch).await? {
            Some(head) if head != begun.start => return holds(format!("the commit {head}")),
            _ => {}
        }
        if !begun.path.is_dir() {
            return Ok(());
        }
        let listed =
            self.git().args(["ls-tree", "-r", "-z", "--name-only", begun.start.as_str()]).success().await?;
        let known: HashSet<&[u8]> = listed.stdout.split(|byte| *byte == 0).collect();
        let path = begun.path.clone();
        let files = folder::blocking(move || folder::files(&path)).await?;
        match files.iter().find(|file| !known.contains(file.as_os_str().as_bytes())) {
            Some(file) => holds(format!("the file {}", file.display())),
            None => Ok(()),
        }
    }

    async fn undo(&self, serial: &Serial, begun: &Begun) -> Result<(), Error> {
        let git_dir = self.find_location(&begun.path)?.map(|location| location.git_dir);
        let path = begun.path.clone();
        // A git that was killed while making the branch left this; nobody else makes a branch of that name.
        let branch_lock = self.common_dir().join(format!("{}.lock", begun.branch.to_ref()));
        folder::blocking(move || {
            folder::remove(&path)?;
            folder::remove(&branch_lock)?;
            git_dir.map_or(Ok(()), |git_dir| folder::remove(&git_dir))
        })
        .await?;
        if self.find_branch(&begun.branch).await?.as_ref() == Some(&begun.start) {
            self.delete_ref(serial, &begun.branch.to_ref(), &begun.start).await?;
        }
        self.forget_begun(&begun.path)
    }
}

/// Tells whether git finished: the index takes its place after the last file was written.
async fn is_complete(location: &Location, branch: &BranchName) -> bool {
    let Location { git_dir, path, .. } = location;
    let stands_on_branch = matches!(location.branch().await, Ok(Some(found)) if found == *branch);
    stands_on_branch
        && names_git_dir(path, git_dir)
        && git_dir.join("index").exists()
        && !git_dir.join("index.lock").exists()
        && !git_dir.join("locked").exists()
}

/// Tells whether a worktree's `.git` file leads to its entry.
fn names_git_dir(path: &Path, git_dir: &Path) -> bool {
    let place = path.join(".git");
    let Some(content) =
        place.symlink_metadata().ok().filter(|found| found.is_file()).and(std::fs::read(&place).ok())
    else {
        return false;
    };
    let Some(named) = content.strip_prefix(b"gitdir: ") else { return false };
    let named = path.join(std::ffi::OsStr::from_bytes(named.trim_ascii_end()));
    matches!((named.canonicalize(), git_dir.canonicalize()), (Ok(named), Ok(wanted)) if named == wanted)
}

/// Lists the folders above a path that do not exist, the deepest first.
fn missing_ancestors(path: &Path) -> Vec<PathBuf> {
    path.ancestors()
        .skip(1)
        .take_while(|folder| folder.symlink_metadata().is_err())
        .map(Path::to_path_buf)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;

    use regatta_testkit::repo::{TestRepo, git_in, write_below};
    use rustix::fs::inotify;

    use super::{Begun, Error, Repository};
    use crate::name::{BranchName, CommitId};

    /// Returns a repository with the note of a call that died before it made anything.
    async fn begun() -> (TestRepo, Repository, Begun) {
        let disk = TestRepo::new();
        let repository = Repository::open(disk.path()).await.expect("it opens");
        let branch = BranchName::parse("task/1").expect("a branch name");
        let start = CommitId::parse(&disk.git(&["rev-parse", "HEAD"])).expect("a commit id");
        let begun = Begun { path: disk.outside().join("worktree"), branch, start };
        repository.save_begun(&begun).expect("the note is written");
        (disk, repository, begun)
    }

    async fn ensure(repository: &Repository, begun: &Begun) -> Result<(), Error> {
        repository.ensure_worktree(&begun.path, &begun.branch, &begun.start).await
    }

    async fn assert_made_good(repository: &Repository, begun: &Begun) {
        ensure(repository, begun).await.expect("the worktree is made");
        assert_eq!(git_in(&begun.path, &["status", "--porcelain", "--branch"]), "## task/1");
        assert_eq!(repository.find_begun(&begun.path).expect("a look-up"), None);
        assert_eq!(repository.list_worktrees().await.expect("a list").len(), 2);
    }

    fn add_by_hand(disk: &TestRepo, begun: &Begun) {
        let path = begun.path.to_str().expect("a readable path");
        disk.git(&["worktree", "add", "--quiet", "-b", "task/1", path]);
    }

    #[tokio::test]
    async fn a_branch_without_a_worktree_is_made_again() {
        let (disk, repository, begun) = begun().await;
        disk.git(&["branch", "task/1"]);
        assert_made_good(&repository, &begun).await;
    }

    #[tokio::test]
    async fn a_branch_that_was_still_locked_is_made() {
        let (disk, repository, begun) = begun().await;
        write_below(disk.path(), ".git/refs/heads/task/1.lock", "");
        assert_made_good(&repository, &begun).await;
    }

    #[tokio::test]
    async fn half_written_files_are_written_again() {
        let (disk, repository, begun) = begun().await;
        add_by_hand(&disk, &begun);
        let entry = disk.path().join(".git/worktrees/worktree");
        std::fs::write(entry.join("locked"), "initializing").expect("git's own lock");
        std::fs::rename(entry.join("index"), entry.join("index.lock")).expect("an unfinished index");
        std::fs::write(begun.path.join("README.md"), "# A pro").expect("half a file");
        assert_made_good(&repository, &begun).await;
        assert_eq!(std::fs::read_to_string(begun.path.join("README.md")).expect("a file"), "# A project\n");
    }

    #[tokio::test]
    async fn a_folder_that_was_being_made_again_is_made() {
        let (disk, repository, begun) = begun().await;
        ensure(&repository, &begun).await.expect("the worktree is made");
        std::fs::remove_dir_all(&begun.path).expect("someone deletes it");
        let entry = disk.path().join(".git/worktrees/worktree");
        std::fs::remove_dir_all(&entry).expect("the next call begins");
        disk.git(&[
            "worktree",
            "add",
            "--quiet",
            "--no-checkout",
            begun.path.to_str().expect("text"),
            "task/1",
        ]);
        std::fs::write(entry.join("locked"), "initializing").expect("git's own lock");
        std::fs::write(entry.join("index.lock"), "").expect("an unfinished index");
        std::fs::write(begun.path.join("README.md"), "# A pro").expect("half a file");
        assert_made_good(&repository, &begun).await;
        assert!(!entry.join("locked").exists());
    }

    #[tokio::test]
    async fn making_one_never_locks_the_refs_of_all() {
        let (disk, repository, begun) = begun().await;
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK).expect("a watch");
        inotify::add_watch(&watch, disk.path().join(".git"), inotify::WatchFlags::CREATE).expect("a folder");
        assert_made_good(&repository, &begun).await;
        std::fs::remove_dir_all(&begun.path).expect("someone deletes it");
        assert_made_good(&repository, &begun).await;
        let names = created(&watch);
        assert!(names.contains(&"worktrees".to_owned()), "{names:?}");
        assert!(!names.contains(&"packed-refs.lock".to_owned()), "{names:?}");
    }

    /// Returns the names of what was made in a watched folder.
    fn created(watch: &OwnedFd) -> Vec<String> {
        let mut buffer = [MaybeUninit::uninit(); 4_096];
        let mut reader = inotify::Reader::new(watch, &mut buffer);
        let mut names = Vec::new();
        while let Ok(event) = reader.next() {
            names.extend(event.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
        names
    }

    #[tokio::test]
    async fn a_worktree_that_was_complete_is_kept() {
        let (disk, repository, begun) = begun().await;
        add_by_hand(&disk, &begun);
        write_below(&begun.path, "mine", "x");
        ensure(&repository, &begun).await.expect("it is accepted");
        assert!(begun.path.join("mine").exists());
        assert_eq!(repository.find_begun(&begun.path).expect("a look-up"), None);
    }

    #[tokio::test]
    async fn work_in_a_half_made_worktree_is_not_removed() {
        let (disk, repository, begun) = begun().await;
        write_below(&begun.path, "mine", "x");
        let refused = ensure(&repository, &begun).await;
        assert!(matches!(refused, Err(Error::WorktreeHoldsWork { what, .. }) if what == "the file mine"));
        assert!(begun.path.join("mine").exists());

        std::fs::remove_dir_all(&begun.path).expect("it is moved away");
        disk.commit("more");
        disk.git(&["branch", "task/1"]);
        let refused = ensure(&repository, &begun).await;
        assert!(
            matches!(refused, Err(Error::WorktreeHoldsWork { what, .. }) if what.starts_with("the commit "))
        );
    }
}
