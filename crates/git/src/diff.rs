//! The difference between two commits: its files, its size, its digest, its text.
//!
//! The digest stands for what a person approved, so the same two commits must give the same bytes whatever
//! the repository's settings, attributes and checkout are at the time: every option is given and no
//! attributes apply but those in the git folder's own `info/attributes`, which git has no option to ignore.
//! Renames are not detected, since that depends on limits. Blob ids are printed in full, which also covers
//! binary files without printing them.

use std::ops::ControlFlow;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::command::Git;
use crate::error::Error;
use crate::name::{CommitId, RelativePath};
use crate::repository::Repository;
use crate::stage::split;

const OPTIONS: [&str; 9] = [
    "diff-tree",
    "-r",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--ignore-submodules=none",
];
const PATCH_OPTIONS: [&str; 7] = [
    "--patch",
    "--full-index",
    "--unified=3",
    "--inter-hunk-context=0",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// What changed from one commit to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The older commit.
    pub base: CommitId,
    /// The newer commit.
    pub head: CommitId,
    /// `sha256:` and the hex digest of the whole patch.
    pub digest: String,
    /// The changed files, in git's order.
    pub files: Vec<FileChange>,
    /// Lines added in all text files together.
    pub lines_added: u64,
    /// Lines removed in all text files together.
    pub lines_removed: u64,
}

/// What changed in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path; bytes that are no UTF-8 are shown as replacement characters.
    pub path: String,
    /// What happened to it.
    pub status: ChangeKind,
    /// Lines added; 0 for a binary file.
    pub added: u64,
    /// Lines removed; 0 for a binary file.
    pub removed: u64,
    /// Git does not show it as lines.
    pub is_binary: bool,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content or its mode differs.
    Modified,
    /// It is gone.
    Deleted,
    /// It became another kind of thing, such as a symlink.
    TypeChanged,
}

impl ChangeKind {
    /// Returns git's letter for it.
    pub fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Modified => 'M',
            Self::Deleted => 'D',
            Self::TypeChanged => 'T',
        }
    }

    fn parse(letter: u8) -> Option<Self> {
        match letter {
            b'A' => Some(Self::Added),
            b'M' => Some(Self::Modified),
            b'D' => Some(Self::Deleted),
            b'T' => Some(Self::TypeChanged),
            _ => None,
        }
    }
}

/// The text of a difference, maybe only its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The patch, in whatever encodings the files have.
    pub text: Vec<u8>,
    /// There is more than was asked for.
    pub is_truncated: bool,
}

/// What is uncommitted in a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncommitted {
    /// The changed files, in git's order.
    pub files: Vec<FileChange>,
    /// Their patch.
    pub patch: Patch,
}

impl Repository {
    /// Returns what changed in a worktree since the commit it stands on, untracked files too; nothing if nothing did.
    ///
    /// The worktree and its index stay as they are, so this may be asked while somebody works there.
    pub async fn diff_uncommitted(
        &self,
        worktree: &Path,
        ignore: &[RelativePath],
        bytes_max: usize,
    ) -> Result<Option<Uncommitted>, Error> {
        let serial = self.serialise().await?;
        let location = self.seal(self.get_location(worktree)?).await?;
        let head = location.head().await?;
        let tree = self.uncommitted_tree(&serial, &location, head.as_ref(), ignore).await?;
        let (Some(head), Some(tree)) = (head, tree) else { return Ok(None) };
        // What git compares are trees, so the id of one serves as well.
        let tree = CommitId::parse(&tree)?;
        let files = self.changed_files(&head, &tree).await?;
        let patch = self.patch(&head, &tree, bytes_max).await?;
        Ok(Some(Uncommitted { files, patch }))
    }

    /// Returns what changed from one commit to another; the patch itself is only streamed through the digest.
    pub async fn diff(&self, base: &CommitId, head: &CommitId) -> Result<Diff, Error> {
        let files = self.changed_files(base, head).await?;
        let mut hasher = Sha256::new();
        let streamed = self
            .patch_of(base, head)
            .stream(|chunk| {
                hasher.update(chunk);
                ControlFlow::Continue(())
            })
            .await?;
        if streamed.code != Some(0) {
            return Err(streamed.into_error());
        }
        let hex: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Diff {
            base: base.clone(),
            head: head.clone(),
            digest: format!("sha256:{hex}"),
            lines_added: files.iter().map(|file| file.added).sum(),
            lines_removed: files.iter().map(|file| file.removed).sum(),
            files,
        })
    }

    /// Returns which files changed from one commit to another: the diff without its digest, in one process.
    pub async fn changed_files(&self, base: &CommitId, head: &CommitId) -> Result<Vec<FileChange>, Error> {
        let listed = self.diff_tree().args(["-z", "--raw", "--numstat"]).args([base.as_str(), head.as_str()]);
        let listed = listed.success().await?;
        parse_files(&listed.stdout).map_err(|record| listed.unexpected(record))
    }

    /// Returns the paths that differ between two commits, in git's order, at most so many; bytes that are no UTF-8 are
    /// shown as replacement characters.
    pub async fn changed_paths(
        &self,
        base: &CommitId,
        head: &CommitId,
        count_max: usize,
    ) -> Result<Vec<String>, Error> {
        let mut output = Vec::new();
        let mut count = 0;
        let listing = self.diff_tree().args(["-z", "--name-only"]).args([base.as_str(), head.as_str()]);
        let listed = listing
            .stream(|chunk| {
                output.extend_from_slice(chunk);
                count += chunk.iter().filter(|byte| **byte == 0).count();
                if count < count_max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
            .await?;
        if count < count_max && listed.code != Some(0) {
            return Err(listed.into_error());
        }
        let paths = split(&output).take(count.min(count_max));
        Ok(paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }

    /// Returns the patch from one commit to another, cut at a number of bytes.
    pub async fn patch(&self, base: &CommitId, head: &CommitId, bytes_max: usize) -> Result<Patch, Error> {
        collect(self.patch_of(base, head), bytes_max).await
    }

    /// Returns the patch as people read it, with renames and copies found, cut at a number of bytes.
    ///
    /// It is for showing only: what counts as a rename depends on limits, so it has no digest.
    pub async fn patch_for_reading(
        &self,
        base: &CommitId,
        head: &CommitId,
        bytes_max: usize,
    ) -> Result<Patch, Error> {
        let renames = ["--find-renames=50%", "-l400"];
        collect(self.patch_of(base, head).args(renames), bytes_max).await
    }

    fn patch_of(&self, base: &CommitId, head: &CommitId) -> Git {
        self.diff_tree().args(PATCH_OPTIONS).args([base.as_str(), head.as_str()])
    }

    fn diff_tree(&self) -> Git {
        // With neither files nor an index in view, git finds no attributes.
        self.git().env("GIT_INDEX_FILE", self.no_index()).args(OPTIONS)
    }
}

/// Keeps the patch that a call prints, cut at a number of bytes.
async fn collect(git: Git, bytes_max: usize) -> Result<Patch, Error> {
    let mut patch = Patch { text: Vec::new(), is_truncated: false };
    let streamed = git
        .stream(|chunk| {
            let room = bytes_max - patch.text.len();
            patch.text.extend_from_slice(&chunk[..chunk.len().min(room)]);
            patch.is_truncated = chunk.len() > room;
            if patch.is_truncated { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .await?;
    if !patch.is_truncated && streamed.code != Some(0) {
        return Err(streamed.into_error());
    }
    Ok(patch)
}

/// Reads `--raw --numstat -z`: first `:… X\0path\0` for every file, then `added\tremoved\tpath\0` for every file.
fn parse_files(output: &[u8]) -> Result<Vec<FileChange>, &[u8]> {
    let mut records = split(output).peekable();
    let mut files: Vec<(&[u8], FileChange)> = Vec::new();
    while let Some(record) = records.next_if(|record| record.starts_with(b":")) {
        let status = record.last().copied().and_then(ChangeKind::parse).ok_or(record)?;
        let raw = records.next().ok_or(record)?;
        let path = String::from_utf8_lossy(raw).into_owned();
        files.push((raw, FileChange { path, status, added: 0, removed: 0, is_binary: false }));
    }
    // Both lists have the same order, but a file may be missing from the second.
    let mut waiting = files.iter_mut();
    for record in records {
        let mut fields = record.splitn(3, |byte| *byte == b'\t');
        let mut field = || fields.next().ok_or(record);
        let (added, removed, raw) = (field()?, field()?, field()?);
        let (_, file) = waiting.find(|(path, _)| *path == raw).ok_or(record)?;
        if added == b"-" {
            file.is_binary = true;
        } else {
            file.added = parse_number(added).ok_or(record)?;
            file.removed = parse_number(removed).ok_or(record)?;
        }
    }
    Ok(files.into_iter().map(|(_, file)| file).collect())
}

fn parse_number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
