//! Throwaway repositories, made by running git without the user's configuration.
//!
//! Everything is synchronous and panics with git's output on failure, since a test that cannot set up its world has
//! nothing to say. The identity and the times are fixed, so that the same steps give the same commit ids.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Every commit of a [`TestRepo`] is made at this time.
const DATE: &str = "@1700000000 +0000";

/// A repository in a temporary folder, removed with it.
#[derive(Debug)]
pub struct TestRepo {
    folder: TempDir,
    path: PathBuf,
}

impl TestRepo {
    /// Makes a repository with the branch `main` and one commit that holds `README.md`.
    pub fn new() -> Self {
        Self::named("project")
    }

    /// Makes a repository like [`Self::new`] in a folder of this name.
    pub fn named(name: &str) -> Self {
        Self::made(name, &[])
    }

    /// Makes a repository like [`Self::new`], with further arguments for `git init`.
    pub fn with_init_arguments(arguments: &[&str]) -> Self {
        Self::made("project", arguments)
    }

    fn made(name: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().canonicalize().expect("the temporary folder exists").join(name);
        std::fs::create_dir(&path).expect("the project folder can be made");
        let repo = Self { folder, path };
        repo.git(&[&["init", "--quiet", "--template=", "--initial-branch=main"], arguments].concat());
        repo.write("README.md", "# A project\n");
        repo.commit("first commit");
        repo
    }

    /// Returns the checkout.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the temporary folder around the checkout, for what must lie outside it.
    pub fn outside(&self) -> &Path {
        self.path.parent().unwrap_or_else(|| self.folder.path())
    }

    /// Runs git in the checkout and returns its output without the newline at its end.
    pub fn git<S: AsRef<OsStr>>(&self, arguments: &[S]) -> String {
        git_in(&self.path, arguments)
    }

    /// Writes a file below the checkout, with the folders above it.
    pub fn write(&self, path: &str, text: &str) {
        write_below(&self.path, path, text);
    }

    /// Commits everything in the checkout and returns the commit's id.
    pub fn commit(&self, message: &str) -> String {
        commit_in(&self.path, message)
    }
}

impl Default for TestRepo {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns a git command in a folder, with a fixed identity and no configuration but the repository's own.
pub fn sealed_git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).env_clear();
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    for (key, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_EDITOR", "true"),
        ("LC_ALL", "C"),
        ("GIT_AUTHOR_NAME", "Test Author"),
        ("GIT_AUTHOR_EMAIL", "author@example.com"),
        ("GIT_AUTHOR_DATE", DATE),
        ("GIT_COMMITTER_NAME", "Test Committer"),
        ("GIT_COMMITTER_EMAIL", "committer@example.com"),
        ("GIT_COMMITTER_DATE", DATE),
    ] {
        command.env(key, value);
    }
    command
}

/// Runs git in any folder and returns its output without the newline at its end; panics when it fails.
pub fn git_in<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> String {
    let output = sealed_git(folder).args(arguments).output().expect("git can be started");
    let words: Vec<_> = arguments.iter().map(|word| word.as_ref().to_string_lossy()).collect();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "git {words:?} failed: {}\n{stdout}{stderr}", output.status);
    stdout.strip_suffix('\n').unwrap_or(&stdout).to_owned()
}

/// Commits everything in a worktree and returns the commit's id.
pub fn commit_in(worktree: &Path, message: &str) -> String {
    git_in(worktree, &["add", "--all"]);
    git_in(worktree, &["commit", "--quiet", "--allow-empty", "--message", message]);
    git_in(worktree, &["rev-parse", "HEAD"])
}

/// Writes a file below a folder, with the folders above it.
pub fn write_below(folder: &Path, path: &str, text: &str) {
    let place = folder.join(path);
    if let Some(parent) = place.parent() {
        std::fs::create_dir_all(parent).expect("the folders above the file can be made");
    }
    std::fs::write(&place, text)
        .unwrap_or_else(|error| panic!("{} can be written: {error}", place.display()));
}

/// Returns mode and bytes of every file below a folder, to show later that none was touched.
///
/// A symlink counts with its target as bytes. `.git` and `.regatta` at the top are left out.
pub fn fingerprint(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(current) = folders.pop() {
        for entry in std::fs::read_dir(&current).expect("the folder can be listed") {
            let path = entry.expect("the folder can be listed").path();
            let relative = path.strip_prefix(folder).expect("it is below the folder").to_path_buf();
            if relative == Path::new(".git") || relative == Path::new(".regatta") {
                continue;
            }
            let metadata = path.symlink_metadata().expect("the entry exists");
            if metadata.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = if metadata.is_symlink() {
                let target = std::fs::read_link(&path).expect("the symlink can be read");
                target.into_os_string().into_encoded_bytes()
            } else {
                std::fs::read(&path).expect("the file can be read")
            };
            found.insert(relative, (metadata.mode(), bytes));
        }
    }
    found
}

/// Writes an executable shell script.
pub fn write_program(place: &Path, script: &str) {
    std::fs::write(place, format!("#!/bin/sh\n{script}\n")).expect("the program can be written");
    std::fs::set_permissions(place, PermissionsExt::from_mode(0o755))
        .expect("the program can be made executable");
}
