//! What a session of a run added to its task's branch, as git said when it ended: so it is read once, and never again.

use super::one_line;
use crate::{CommitId, Event, TaskId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// So many commits of a session are listed; the rest is counted.
const COMMITS_MAX: usize = 1_000;
/// So many files of a session are listed; the rest is counted.
const FILES_MAX: usize = 1_000;

/// What a session added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Worked {
    /// The session number within the task.
    pub session: u32,
    /// The commit that it began at.
    pub base: CommitId,
    /// The commit that it ended at.
    pub head: CommitId,
    /// Its commits, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<WorkedCommit>,
    /// How many commits more there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_commits: u32,
    /// The files that differ between the two, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<WorkedFile>,
    /// How many files more there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_files: u32,
}

/// A commit of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkedCommit {
    /// The commit.
    pub id: CommitId,
    /// The first line of its message.
    pub title: String,
    /// When it was made, as its committer says.
    pub at: Timestamp,
}

/// A file that a session changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkedFile {
    /// The file, from the top of the repository.
    pub path: String,
    /// What happened to it.
    pub action: WorkedAction,
    /// The lines that were added; none in a file that is not text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub added: u32,
    /// The lines that were removed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed: u32,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum WorkedAction {
    Added,
    Modified,
    Deleted,
}

impl WorkedAction {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            WorkedAction::Added => "added",
            WorkedAction::Modified => "modified",
            WorkedAction::Deleted => "deleted",
        }
    }
}

impl Worked {
    /// Cuts it to what is recorded, and makes one line of each text.
    #[must_use]
    fn cut(mut self) -> Self {
        let over =
            |length: usize, most: usize| u32::try_from(length.saturating_sub(most)).unwrap_or(u32::MAX);
        self.more_commits = self.more_commits.saturating_add(over(self.commits.len(), COMMITS_MAX));
        self.commits.drain(..self.commits.len().saturating_sub(COMMITS_MAX));
        self.commits.iter_mut().for_each(|commit| commit.title = one_line(&commit.title));
        self.more_files = self.more_files.saturating_add(over(self.files.len(), FILES_MAX));
        self.files.truncate(FILES_MAX);
        self.files.iter_mut().for_each(|file| file.path = one_line(&file.path));
        self
    }
}

/// Records what a session added.
pub(crate) fn note_worked(task_id: TaskId, worked: &Worked) -> Event {
    Event::TaskWorked { task_id, worked: worked.clone().cut() }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
