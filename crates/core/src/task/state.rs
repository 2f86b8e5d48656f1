//! What is known of one task.
//!
//! [`Stage`] is an enum of situations, each with just the data it needs. What is read off it is in `reading.rs`.

use super::Findings;
use super::Forecast;
use super::{Handover, TaskSource};
use crate::{
    AgentId, Approval, Code, Comment, CommitId, EpicId, FailureClass, InputNote, PrdSlug, Problem,
    ProgressNote, RunId, TaskId, render_comments,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// One task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its number.
    pub id: TaskId,
    /// What it is called.
    pub title: String,
    /// What is to be done.
    pub description: String,
    /// When it counts as done.
    pub criteria: Vec<Criterion>,
    /// The tasks that must be verified first.
    pub dependencies: BTreeSet<TaskId>,
    /// How urgent it is.
    pub priority: Priority,
    /// The epic that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epic: Option<EpicId>,
    /// The PRD that it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prd: Option<PrdSlug>,
    /// The name that its branch is to have, if not the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit or branch that its work starts from, if not the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last moved; what is written in its file does not count.
    pub updated_at: Timestamp,
    /// How often its diff was rejected.
    pub rejection_count: u32,
    /// How often it was assigned.
    pub attempts: u32,
    /// The number of its newest session.
    pub sessions: u32,
    /// How often in a row its sessions broke off and were tried again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: u32,
    /// The sessions that follow one another by themselves.
    #[serde(default, skip_serializing_if = "Row::is_new")]
    pub row: Row,
    /// What the reviewer of its last diff said, until the next one is put up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_note: Option<ReviewNote>,
    /// How often it was completed; each completion pins its own head.
    pub completions: u32,
    /// Work that was set aside before a worktree was removed.
    pub salvages: Vec<Salvage>,
    /// What its file says beside the criteria.
    pub memory: Memory,
    /// The run that works on it, if one does.
    pub run: Option<RunId>,
    /// The person who does the work, if no agent does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// What a reviewer found of its criteria last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<Findings>,
    /// What its branch is going to collide with.
    #[serde(default, skip_serializing_if = "Forecast::is_empty")]
    pub forecast: Forecast,
    /// What the project's checks said at the newest commit that they were run at.
    pub proof: Option<Proof>,
    /// The files of another tool that it was made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Box<TaskSource>>,
    /// Whether it is left out of the list; in the backlog, that it was done before it was imported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// What went wrong last, until something goes right.
    pub error: Option<Failure>,
    /// Where it stands.
    pub stage: Stage,
}

/// Sessions in a row, each of which ticked something while criteria were open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// How many there were before the one under way.
    pub sessions: u32,
    /// Whether a criterion was ticked since the one under way began.
    pub ticked: bool,
}

/// Where a task stands. What a stage holds is boxed, so that going from one to the next moves a pointer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Stage {
    /// Waits to be assigned, or for a free place.
    Backlog,
    /// An agent has it.
    InProgress(Box<Work>),
    /// A diff waits for a decision.
    WaitingApproval(Box<Review>),
    /// Merged. Final.
    Verified(Box<Landed>),
}

/// The branch and folder that a task has to itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// `task/<id>`, unless a workflow named it.
    pub branch: String,
    /// The branch that it is merged into.
    pub target: String,
    /// The target's head when the task was assigned.
    pub base: CommitId,
    /// The folder, from the project's root unless absolute.
    pub path: String,
}

/// A task that is being worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The agent, unless a person does the work.
    pub agent: Option<AgentId>,
    /// Its branch and folder.
    pub worktree: Worktree,
    /// How far it is.
    pub phase: WorkPhase,
}

/// How far the work on a task is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum WorkPhase {
    /// The worktree is being made.
    Preparing,
    /// The session has been asked for; it may wait for a free place.
    Starting {
        /// The number of the session.
        session: u32,
        /// The rejection that it answers, if it is not the first.
        rejection: Option<Box<Rejection>>,
        /// Whether it continues where a session broke off.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        woken: bool,
    },
    /// A session is under way.
    Running {
        /// The number of the session.
        session: u32,
    },
    /// A run works on it, one session of a role after the other.
    Driven {
        /// The session that is under way, if one is.
        session: Option<u32>,
        /// What a person said who sent the work back; the run has not continued since.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
        /// What the next session waits for, if the last one broke off.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        park: Option<Park>,
    },
    /// The last session broke off; another is to come.
    Parked {
        /// The session that broke off.
        session: u32,
        /// What is waited for.
        park: Park,
    },
    /// The last session ended badly; a person must choose.
    Halted,
    /// A person does the work; there is no session.
    ByHand,
    /// Reassigned: the agent is being stopped first.
    Handing {
        /// Who has it then.
        to: Box<Handover>,
    },
    /// The agent could not be started; its worktree is being removed.
    Unwinding,
    /// Cancelled: the agent is being stopped.
    Stopping {
        /// Why it was cancelled.
        reason: Option<String>,
        /// The session that was under way.
        session: Option<u32>,
    },
    /// Cancelled: the worktree is being salvaged and removed.
    Removing {
        /// Why it was cancelled.
        reason: Option<String>,
    },
}

/// A pause between two sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Park {
    /// Why the last session broke off.
    pub class: FailureClass,
    /// The number of the next try in a row, from 1.
    pub attempt: u32,
    /// When the next session begins.
    pub until: Timestamp,
}

/// What a reviewer said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewNote {
    /// Why the work was rejected.
    pub reason: String,
    /// What to do about it.
    pub feedback: Option<String>,
    /// What the reviewer wrote to lines of the diff.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<Comment>,
    /// What the agent said to them, by their numbers from 1.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<u32, String>,
}

/// A rejected review: what to tell the agent, and where to return if it cannot be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The reviewer's reason.
    pub reason: String,
    /// The review as it was.
    pub review: Review,
}

/// A diff that waits for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// The agent, paused, unless a person did the work.
    pub agent: Option<AgentId>,
    /// Its branch and folder.
    pub worktree: Worktree,
    /// What would be merged.
    pub diff: Diff,
    /// How many turns the agent took.
    pub turn_count: u32,
    /// What the agent says it did.
    pub summary: Option<String>,
    /// Who decides.
    pub approval: Approval,
    /// The checks that are run before the decision.
    pub checks: Vec<String>,
    /// Whether its diff is recorded and its agent paused, so that a failed cancellation can return to it.
    pub paused: bool,
    /// How far it is.
    pub phase: ReviewPhase,
}

/// How far a review is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum ReviewPhase {
    /// The diff is being recorded.
    Recording,
    /// A new diff is being recorded in place of the one that was ready.
    Resubmitting {
        /// The review to return to if that fails.
        before: Box<Review>,
    },
    /// The agent is being paused.
    Pausing,
    /// The project's checks are being run.
    Checking,
    /// Ready for a decision.
    Ready,
    /// Approved, and being merged.
    Merging {
        /// Who approved.
        approver: String,
    },
    /// Cancelled: the agent is being stopped.
    Stopping {
        /// Why it was cancelled.
        reason: Option<String>,
    },
    /// Cancelled: the worktree is being salvaged and removed.
    Removing {
        /// Why it was cancelled.
        reason: Option<String>,
    },
}

/// A task that is merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landed {
    /// The agent that did it, unless it was a person.
    pub agent: Option<AgentId>,
    /// Its branch and folder.
    pub worktree: Worktree,
    /// What was merged.
    pub diff: Diff,
    /// How many turns the agent took.
    pub turn_count: u32,
    /// What the agent says it did.
    pub summary: Option<String>,
    /// The merge commit.
    pub commit: CommitId,
    /// Who approved.
    pub approver: String,
    /// Whether its worktree is gone.
    pub cleanup: Cleanup,
}

/// What has become of the worktree of a merged task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cleanup {
    /// Being removed.
    Pending,
    /// Gone.
    Done,
    /// Could not be removed; `regatta doctor --fix` tries again.
    Failed,
}

/// What becomes of a worktree over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are those of the contract")]
pub enum WorktreeState {
    Creating,
    Active,
    Merging,
    Conflict,
    Removing,
    Removed,
    Error,
}

/// How urgent a task is; high sorts first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Priority {
    High,
    #[default]
    Medium,
    Low,
}

/// One acceptance criterion, as it is claimed; what is shown is in [`Proof`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// What must hold.
    pub text: String,
    /// Whether somebody claims that it does.
    pub checked: bool,
    /// The check that shows it, if one is named.
    pub check: Option<String>,
}

/// What a task's file says beside the criteria.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// How many entries its progress log has had.
    pub entries: u32,
    /// The newest entry.
    pub last: Option<ProgressNote>,
    /// Its output for the tasks that depend on it.
    pub output: Option<OutputNote>,
    /// The outputs of upstream tasks that stand in its file.
    pub inputs: Vec<InputNote>,
    /// How large its file is.
    #[serde(default)]
    pub file_bytes: u64,
    /// The newest entry that is in the archive.
    pub archived: Option<u32>,
    /// How many conflicts its file has kept.
    pub conflicts: u32,
}

/// The chain output of a task, by name and summary; its text is in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputNote {
    /// The hash of its text.
    pub digest: String,
    /// What dependents are shown of it.
    pub summary: String,
}

/// What the project's checks said at one commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The commit.
    pub commit: CommitId,
    /// What each check said.
    pub results: Vec<Evidence>,
}

/// What one check said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The check's name in the config.
    pub name: String,
    /// Whether it passed.
    pub passed: bool,
    /// Its exit code, unless it was ended.
    pub exit: Option<i32>,
    /// How long it took.
    pub milliseconds: u64,
    /// Its last words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
}

/// A diff, by name and size; its text is fetched from git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// How many files it changes.
    pub files_changed: u64,
    /// How many lines it adds.
    pub lines_added: u64,
    /// How many lines it removes.
    pub lines_removed: u64,
    /// The hash of its text.
    pub digest: String,
    /// The commit it starts from.
    pub base: CommitId,
    /// The commit it leads to.
    pub head: CommitId,
    /// The changed files that the engine obeys, such as its config.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obeyed_files: Vec<String>,
}

/// Work that was set aside before its worktree was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Salvage {
    /// The ref that holds it.
    #[serde(rename = "ref")]
    pub name: String,
    /// The commit.
    pub commit: CommitId,
}

/// What went wrong, as it is kept in the log and shown with the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The code.
    pub code: Code,
    /// What failed and why.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// What a program may want to know.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl ReviewNote {
    /// Returns all of it as one text.
    pub fn as_text(&self) -> String {
        let comments = Some(render_comments(&self.comments)).filter(|comments| !comments.is_empty());
        let words = [Some(self.reason.clone()), self.feedback.clone(), comments];
        words.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }
}

impl Row {
    fn is_new(&self) -> bool {
        *self == Row::default()
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let mut message = problem.what;
        for why in problem.why {
            message.push_str(": ");
            message.push_str(&why);
        }
        Failure { code: problem.code, message, hint: problem.next, details: problem.details }
    }
}

impl WorkPhase {
    /// In the hands of a run, with or without a session under way.
    pub(crate) fn driven(session: Option<u32>) -> Self {
        WorkPhase::Driven { session, feedback: None, park: None }
    }
}

impl Criterion {
    /// How a criterion begins to name its check.
    const CHECK: &str = "(check:";

    /// Reads `The tests pass (check: test)`; only a name at the very end counts.
    pub fn parse(text: &str) -> Self {
        let named = text.trim_end().strip_suffix(')').and_then(|rest| rest.rsplit_once(Self::CHECK));
        match named.map(|(words, name)| (words.trim_end(), name.trim())) {
            Some((words, name)) if !words.is_empty() && !name.is_empty() && !name.contains(['(', ')']) => {
                Criterion { text: words.to_owned(), checked: false, check: Some(name.to_owned()) }
            }
            _ => Criterion { text: text.to_owned(), checked: false, check: None },
        }
    }
}

impl Diff {
    /// Tells whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.files_changed == 0
    }
}
