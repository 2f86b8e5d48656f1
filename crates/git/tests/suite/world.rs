//! What the tests share: a throwaway repository with its handle, and short ways to name things.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use regatta_git::{BranchName, CommitId, RefName, RelativePath, Repository, Signature};
use regatta_testkit::repo::{TestRepo, commit_in, git_in, write_below};

/// A throwaway repository and the handle under test.
pub(crate) struct World {
    pub(crate) disk: TestRepo,
    pub(crate) repository: Repository,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::around(TestRepo::new()).await
    }

    pub(crate) async fn around(disk: TestRepo) -> Self {
        let repository = Repository::open(disk.path()).await.expect("the repository opens");
        Self { disk, repository }
    }

    pub(crate) async fn main_head(&self) -> CommitId {
        self.repository.find_branch(&branch("main")).await.expect("a look-up").expect("main exists")
    }

    /// Returns where the tests put the worktree of a task.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.disk.outside().join("worktrees").join(name)
    }

    /// Makes a worktree on the branch `task/<name>` at main's head.
    pub(crate) async fn worktree(&self, name: &str) -> PathBuf {
        let path = self.place(name);
        let start = self.main_head().await;
        self.repository.ensure_worktree(&path, &task(name), &start).await.expect("the worktree is made");
        path
    }

    /// Makes a worktree whose branch has one commit that writes the given files, and returns the commit.
    pub(crate) async fn task_commit(&self, name: &str, files: &[(&str, &str)]) -> CommitId {
        let path = self.worktree(name).await;
        for (file, text) in files {
            write_below(&path, file, text);
        }
        commit(&commit_in(&path, name))
    }

    /// Returns every ref with its value, to show that nothing moved.
    pub(crate) fn refs(&self) -> String {
        self.disk.git(&["for-each-ref"])
    }

    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.disk.path().join(name)).expect("the file can be read")
    }
}

pub(crate) fn branch(name: &str) -> BranchName {
    BranchName::parse(name).expect("a branch name")
}

pub(crate) fn task(name: &str) -> BranchName {
    branch(&format!("task/{name}"))
}

pub(crate) fn commit(id: &str) -> CommitId {
    CommitId::parse(id).expect("a commit id")
}

pub(crate) fn ref_name(name: &str) -> RefName {
    RefName::parse(name).expect("a ref name")
}

pub(crate) fn paths(names: &[&str]) -> Vec<RelativePath> {
    names.iter().map(|name| RelativePath::parse(name).expect("a relative path")).collect()
}

pub(crate) fn signature() -> Signature {
    let at = Timestamp::from_second(1_750_000_000).expect("a time");
    Signature { name: "Agent One".to_owned(), email: "agent-one@example.com".to_owned(), at }
}

/// Returns a file's content as committed.
pub(crate) fn committed(folder: &Path, commit: &CommitId, path: &str) -> String {
    git_in(folder, &["show", &format!("{commit}:{path}")])
}
