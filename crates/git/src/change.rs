//! Lists what is uncommitted in a worktree, and commits all of it.

use std::path::{Path, PathBuf};

use crate::command::Git;
use crate::entry::to_path;
use crate::error::Error;
use crate::location::Location;
use crate::name::{CommitId, RelativePath};
use crate::reference::parse_commit;
use crate::repository::Repository;
use crate::signature::Signature;
use crate::stage::{Stage, split};

/// One path that differs from the commit a worktree stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusEntry {
    /// The path below the worktree's root; bytes that are no UTF-8 are shown as replacement characters.
    pub path: String,
    /// The same path, byte for byte.
    pub place: PathBuf,
    /// Git's two letters for index and folder (`.` for no change), or `??` for an untracked file.
    pub code: String,
}

/// What a commit consists of.
pub(crate) struct CommitParts<'a> {
    pub(crate) tree: &'a str,
    pub(crate) parents: &'a [CommitId],
    pub(crate) author: &'a Signature,
    pub(crate) committer: &'a Signature,
    pub(crate) message: &'a str,
}

impl Repository {
    /// Lists what is uncommitted in a worktree, untracked files one by one, without the ignored paths.
    pub async fn status(&self, worktree: &Path, ignore: &[RelativePath]) -> Result<Vec<StatusEntry>, Error> {
        let words = ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames"];
        // A look into submodules would start a git in each, under that submodule's own settings.
        let location = self.seal(self.get_location(worktree)?).await?;
        let git = location.git().args(words).arg("--ignore-submodules=dirty");
        let finished = git.success().await?;
        let mut entries = Vec::new();
        for line in split(&finished.stdout) {
            let (code, path) = parse_status(line).ok_or_else(|| finished.unexpected(line))?;
            if !ignore.iter().any(|ignored| ignored.covers(path)) {
                let (place, path) = (to_path(path), String::from_utf8_lossy(path).into_owned());
                entries.push(StatusEntry { path, place, code: String::from_utf8_lossy(code).into_owned() });
            }
        }
        Ok(entries)
    }

    /// Commits everything uncommitted in a worktree but the ignored paths; nothing when there was nothing.
    ///
    /// A merge that was begun there is concluded. The index is filled before the commit is made, so an interrupted
    /// call can be repeated.
    pub async fn commit_all(
        &self,
        worktree: &Path,
        ignore: &[RelativePath],
        author: &Signature,
        committer: &Signature,
        message: &str,
    ) -> Result<Option<CommitId>, Error> {
        let serial = self.serialise().await?;
        let location = self.seal(self.get_location(worktree)?).await?;
        self.take_in_held(&serial, &location).await?;
        let head = location.head().await?;
        let stage = Stage { location: &location, index: None, head: head.as_ref(), ignore };
        let tree = self.stage(&serial, &stage).await?;
        let merged = read_merge_heads(&location)?;
        if merged.is_empty() && self.is_tree_of(&tree, head.as_ref()).await? {
            return Ok(None);
        }
        let parents: Vec<CommitId> = head.iter().cloned().chain(merged.iter().cloned()).collect();
        let parts = CommitParts { tree: &tree, parents: &parents, author, committer, message };
        let commit = self.commit_tree(&parts).await?;
        let old = head.as_ref().map_or("", CommitId::as_str);
        let swap = location.git().args(["update-ref", "-m", "regatta", "HEAD", commit.as_str(), old]);
        swap.signed(author, committer).holding(&serial)?.success().await?;
        if !merged.is_empty() {
            location.git().args(["merge", "--quit"]).holding(&serial)?.success().await?;
        }
        Ok(Some(commit))
    }

    /// Returns the commit a worktree stands on.
    pub async fn head_of_worktree(&self, worktree: &Path) -> Result<CommitId, Error> {
        let location = self.get_location(worktree)?;
        location.head().await?.ok_or(Error::NoCommit { path: location.path })
    }

    /// Tells whether a tree is that of the commit, or the empty one when there is no commit.
    pub(crate) async fn is_tree_of(&self, tree: &str, commit: Option<&CommitId>) -> Result<bool, Error> {
        match commit {
            Some(commit) => Ok(self.tree_of(commit).await? == tree),
            None => Ok(self.git().args(["ls-tree", tree]).success().await?.stdout.is_empty()),
        }
    }

    /// Returns the id of a commit's tree.
    pub(crate) async fn tree_of(&self, commit: &CommitId) -> Result<String, Error> {
        self.git().args(["rev-parse", "--verify", &format!("{commit}^{{tree}}")]).text().await
    }

    /// Writes a commit that nothing points to yet; the same parts make the same commit, so this needs no lock.
    pub(crate) async fn commit_tree(&self, parts: &CommitParts<'_>) -> Result<CommitId, Error> {
        commit_tree_in(self.git(), parts).await
    }
}

/// Writes a commit in the repository that the call is about.
pub(crate) async fn commit_tree_in(git: Git, parts: &CommitParts<'_>) -> Result<CommitId, Error> {
    let mut git = git.args(["commit-tree", parts.tree]);
    for parent in parts.parents {
        git = git.args(["-p", parent.as_str()]);
    }
    let git = git.args(["-F", "-"]).signed(parts.author, parts.committer);
    // A header ends at a NUL for some readers, so git refuses messages with one.
    let message = parts.message.replace('\0', "");
    parse_commit(&git.input(message.into_bytes()).success().await?)
}

/// Returns the commits of a merge that was begun in a worktree.
pub(crate) fn read_merge_heads(location: &Location) -> Result<Vec<CommitId>, Error> {
    let place = location.git_dir.join("MERGE_HEAD");
    match std::fs::read_to_string(&place) {
        Ok(text) => Ok(text.lines().map(CommitId::parse).collect::<Result<_, _>>()?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::io("read", &place)(error)),
    }
}

/// Reads one line of porcelain v2 without renames: the two letters and the path.
fn parse_status(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let fields_before_path = match line.first()? {
        b'?' => return Some((b"??", line.get(2..)?)),
        b'1' => 8,
        b'u' => 10,
        _ => return None,
    };
    let path = line.splitn(fields_before_path + 1, |byte| *byte == b' ').nth(fields_before_path)?;
    Some((line.get(2..4)?, path))
}

#[cfg(test)]
mod tests {
    use super::parse_status;

    #[test]
    fn paths_with_spaces_are_read_whole() {
        assert_eq!(parse_status(b"? a b"), Some((&b"??"[..], &b"a b"[..])));
        assert_eq!(parse_status(b"1 .M N... 1 2 3 aa bb a b"), Some((&b".M"[..], &b"a b"[..])));
        assert_eq!(parse_status(b"u UU N... 1 2 3 4 aa bb cc a b"), Some((&b"UU"[..], &b"a b"[..])));
        assert_eq!(parse_status(b"! x"), None);
    }
}
