//! Parses `git worktree list`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::error::Error;
use crate::name::{BranchName, CommitId};
use crate::repository::Repository;

/// One worktree as git knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeEntry {
    /// Its folder, which may be missing.
    pub path: PathBuf,
    /// Its branch; nothing when its HEAD is detached.
    pub branch: Option<BranchName>,
    /// Its commit; nothing before the first one.
    pub head: Option<CommitId>,
    /// Someone asked git to keep the entry, or git died while making it.
    pub locked: bool,
    /// Git would drop the entry, since its folder is gone.
    pub prunable: bool,
}

impl Repository {
    /// Lists the worktrees, the main one first.
    pub async fn list_worktrees(&self) -> Result<Vec<WorktreeEntry>, Error> {
        let finished = self.git().args(["worktree", "list", "--porcelain", "-z"]).success().await?;
        Ok(parse(&finished.stdout))
    }
}

/// Reads records of `attribute[ value]\0`, each ended by one more `\0`.
fn parse(output: &[u8]) -> Vec<WorktreeEntry> {
    let mut entries: Vec<WorktreeEntry> = Vec::new();
    for line in output.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let (key, value) = match line.iter().position(|byte| *byte == b' ') {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &b""[..]),
        };
        if key == b"worktree" {
            let path = PathBuf::from(OsStr::from_bytes(value));
            entries.push(WorktreeEntry { path, branch: None, head: None, locked: false, prunable: false });
        } else if let Some(entry) = entries.last_mut() {
            read_attribute(entry, key, &String::from_utf8_lossy(value));
        }
    }
    entries
}

fn read_attribute(entry: &mut WorktreeEntry, key: &[u8], value: &str) {
    match key {
        // Before the first commit git prints zeros.
        b"HEAD" if value.bytes().any(|digit| digit != b'0') => entry.head = CommitId::parse(value).ok(),
        b"branch" => {
            entry.branch = value.strip_prefix("refs/heads/").and_then(|name| BranchName::parse(name).ok())
        }
        b"locked" => entry.locked = true,
        b"prunable" => entry.prunable = true,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn records_are_told_apart_even_with_odd_paths() {
        let id = "0a".repeat(20);
        let zeros = "0".repeat(40);
        let output = format!(
            "worktree /r\n x\0HEAD {id}\0branch refs/heads/a/b\0\0worktree /w\0HEAD {zeros}\0detached\0locked why\0prunable gone\0\0"
        );
        let entries = parse(output.as_bytes());
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].path.to_str(), Some("/r\n x"));
        assert_eq!(entries[0].branch.as_ref().expect("a branch").as_str(), "a/b");
        assert_eq!(entries[0].head.as_ref().expect("a commit").as_str(), id);
        assert!(!entries[0].locked && !entries[0].prunable);
        assert!(entries[1].branch.is_none() && entries[1].head.is_none());
        assert!(entries[1].locked && entries[1].prunable);
    }
}
