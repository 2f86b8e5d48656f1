//! What the world must be asked to do: every kind of effect, and which ones a fact about a task asks for.
//!
//! Each fact about a task leads to at most one effect, and the outcome of an effect leads to the fact that leads to the
//! next: that keeps the order of the table, and a crash in between loses nothing. What a run asks for is decided in
//! [`crate::run::effects`].

use crate::{
    AgentId, Approval, CommitId, Event, Failure, ReviewPhase, RunId, Stage, Task, TaskId, WorkPhase, Worktree,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A request to the world, stored with the fact that asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the variants are requests, and their fields what is needed")]
pub enum Effect {
    CreateWorktree {
        task: TaskId,
        branch: String,
        path: String,
        base: CommitId,
    },
    RunSession {
        task: TaskId,
        agent: AgentId,
        session: u32,
        resume: Option<Resume>,
    },
    Wait {
        task: TaskId,
        session: u32,
        until: Timestamp,
    },
    RecordDiff {
        task: TaskId,
        head: CommitId,
        number: u32,
    },
    PauseAgent {
        task: TaskId,
        session: u32,
    },
    RunChecks {
        task: TaskId,
        commit: CommitId,
        names: Vec<String>,
    },
    ApproveByPolicy {
        task: TaskId,
        head: CommitId,
    },
    MergeBranch {
        task: TaskId,
        branch: String,
        target: String,
        head: CommitId,
        /// Where the approved diff begins, which the target must still hold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<CommitId>,
        title: String,
        approver: String,
    },
    StopAgent {
        task: TaskId,
        session: u32,
    },
    RemoveWorktree {
        task: TaskId,
        branch: String,
        path: String,
        base: CommitId,
        target: String,
    },
    PublishItems {
        run: RunId,
        step: u64,
    },
    PerformNode {
        run: RunId,
        step: u64,
        #[serde(default, skip_serializing_if = "is_zero")]
        asks: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
    },
    StartChildren {
        run: RunId,
        step: u64,
    },
    LandTask {
        run: RunId,
        step: u64,
        task: TaskId,
    },
    StopRun {
        run: RunId,
    },
    ReleaseTask {
        run: RunId,
        task: TaskId,
        /// Why it is given up; nothing when the run has completed.
        error: Option<Failure>,
    },
    DropTask {
        run: RunId,
        task: TaskId,
        /// Why it is cancelled.
        reason: String,
    },
    TellParent {
        run: RunId,
        parent: RunId,
        item: String,
    },
}

/// Who asks for an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asker {
    /// A task.
    Task(TaskId),
    /// A run.
    Run(RunId),
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What the prompt of a resumed agent says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// Why the work was rejected, if it was.
    pub reason: Option<String>,
    /// What to do about it.
    pub feedback: Option<String>,
    /// How the last session broke off, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broke_off: Option<String>,
    /// Whether the session before ended well, and this one begins afresh with the next criterion.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follows: bool,
}

impl Effect {
    /// Returns the name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Effect::CreateWorktree { .. } => "create_worktree",
            Effect::RunSession { .. } => "run_session",
            Effect::Wait { .. } => "wait",
            Effect::RecordDiff { .. } => "record_diff",
            Effect::PauseAgent { .. } => "pause_agent",
            Effect::RunChecks { .. } => "run_checks",
            Effect::ApproveByPolicy { .. } => "approve_by_policy",
            Effect::MergeBranch { .. } => "merge_branch",
            Effect::StopAgent { .. } => "stop_agent",
            Effect::RemoveWorktree { .. } => "remove_worktree",
            Effect::PublishItems { .. } => "publish_items",
            Effect::PerformNode { .. } => "perform_node",
            Effect::StartChildren { .. } => "start_children",
            Effect::LandTask { .. } => "land_task",
            Effect::StopRun { .. } => "stop_run",
            Effect::ReleaseTask { .. } => "release_task",
            Effect::DropTask { .. } => "drop_task",
            Effect::TellParent { .. } => "tell_parent",
        }
    }

    /// Returns who asks for it.
    pub fn asker(&self) -> Asker {
        match self {
            Effect::CreateWorktree { task, .. }
            | Effect::RunSession { task, .. }
            | Effect::Wait { task, .. }
            | Effect::RecordDiff { task, .. }
            | Effect::PauseAgent { task, .. }
            | Effect::RunChecks { task, .. }
            | Effect::ApproveByPolicy { task, .. }
            | Effect::MergeBranch { task, .. }
            | Effect::StopAgent { task, .. }
            | Effect::RemoveWorktree { task, .. } => Asker::Task(*task),
            Effect::PublishItems { run, .. }
            | Effect::PerformNode { run, .. }
            | Effect::StartChildren { run, .. }
            | Effect::LandTask { run, .. }
            | Effect::StopRun { run }
            | Effect::ReleaseTask { run, .. }
            | Effect::DropTask { run, .. }
            | Effect::TellParent { run, .. } => Asker::Run(*run),
        }
    }
}

/// Says what the world must be asked to do after `event`, which led to `task`: one thing at most.
pub fn effects(task: &Task, event: &Event) -> Option<Effect> {
    match &task.stage {
        Stage::Backlog => None,
        Stage::InProgress(work) => match (event, &work.phase) {
            (Event::TaskAssigned { from, .. }, _) => Some(create_worktree(task, from.as_ref())),
            (Event::WorktreeCreated { .. }, WorkPhase::Starting { session, .. }) => {
                run_session(task, *session, None)
            }
            (Event::TaskRejected { reason, feedback, .. }, WorkPhase::Starting { session, .. }) => {
                let (reason, feedback) = (Some(reason.clone()), feedback.clone());
                let resume = Resume { reason, feedback, broke_off: None, follows: false };
                run_session(task, *session, Some(resume))
            }
            (Event::AgentParked { session, until, .. }, WorkPhase::Parked { .. }) => {
                Some(Effect::Wait { task: task.id, session: *session, until: *until })
            }
            (Event::AgentWoken { session, feedback, .. }, WorkPhase::Starting { .. }) => {
                run_session(task, *session, Some(go_on(task, feedback.clone())))
            }
            (Event::AgentContinued { session, .. }, WorkPhase::Starting { .. }) => {
                let resume = Resume { follows: true, ..go_on(task, None) };
                run_session(task, *session, Some(resume))
            }
            (Event::AgentStopping { .. }, _) => Some(stop_agent(task)),
            (Event::AgentStopped { .. }, WorkPhase::Removing { .. })
            | (Event::AgentStartFailed { .. }, WorkPhase::Unwinding) => Some(remove_worktree(task)),
            (Event::TaskReassigned { from, feedback, .. }, WorkPhase::Starting { session, .. }) => {
                let mut resume = go_on(task, feedback.clone());
                let others = from.as_ref().map(|agent| format!("`{agent}` worked on it before you."));
                resume.broke_off = resume.broke_off.or(others);
                run_session(task, *session, Some(resume))
            }
            _ => None,
        },
        Stage::WaitingApproval(review) => match (event, &review.phase) {
            (Event::TaskCompleted { head, .. } | Event::TaskSubmitted { head, .. }, _) => {
                Some(Effect::RecordDiff { task: task.id, head: head.clone(), number: task.completions })
            }
            (Event::ApprovalRequested { .. }, ReviewPhase::Pausing) => {
                Some(Effect::PauseAgent { task: task.id, session: task.sessions })
            }
            (Event::AgentPaused { .. } | Event::ApprovalRequested { .. }, ReviewPhase::Checking) => {
                Some(Effect::RunChecks {
                    task: task.id,
                    commit: review.diff.head.clone(),
                    names: review.checks.clone(),
                })
            }
            (
                Event::AgentPaused { .. } | Event::ApprovalRequested { .. } | Event::ChecksRan { .. },
                ReviewPhase::Ready,
            ) if review.approval == Approval::Auto => {
                Some(Effect::ApproveByPolicy { task: task.id, head: review.diff.head.clone() })
            }
            (Event::ApprovalApproved { approver, .. }, _) => Some(Effect::MergeBranch {
                task: task.id,
                branch: review.worktree.branch.clone(),
                target: review.worktree.target.clone(),
                head: review.diff.head.clone(),
                base: Some(review.diff.base.clone()),
                title: task.title.clone(),
                approver: approver.clone(),
            }),
            (Event::AgentStopping { .. }, _) => Some(stop_agent(task)),
            (Event::AgentStopped { .. }, _) => Some(remove_worktree(task)),
            _ => None,
        },
        Stage::Verified(_) => match event {
            Event::TaskApproved { .. } => Some(remove_worktree(task)),
            _ => None,
        },
    }
}

fn create_worktree(task: &Task, from: Option<&CommitId>) -> Effect {
    let Worktree { branch, path, base, .. } = worktree(task);
    let base = from.unwrap_or(base).clone();
    Effect::CreateWorktree { task: task.id, branch: branch.clone(), path: path.clone(), base }
}

fn run_session(task: &Task, session: u32, resume: Option<Resume>) -> Option<Effect> {
    let agent = task.agent()?.clone();
    Some(Effect::RunSession { task: task.id, agent, session, resume })
}

/// What the prompt says after a session that broke off; the words of a person now come before those of the review.
fn go_on(task: &Task, feedback: Option<String>) -> Resume {
    let review_note = task.review_note.as_ref();
    Resume {
        reason: review_note.map(|review_note| review_note.reason.clone()),
        feedback: feedback.or_else(|| review_note.and_then(|review_note| review_note.feedback.clone())),
        broke_off: task.error.as_ref().map(|error| error.message.clone()),
        follows: false,
    }
}

fn stop_agent(task: &Task) -> Effect {
    Effect::StopAgent { task: task.id, session: task.sessions }
}

fn remove_worktree(task: &Task) -> Effect {
    let Worktree { branch, target, base, path } = worktree(task).clone();
    Effect::RemoveWorktree { task: task.id, branch, path, base, target }
}

fn worktree(task: &Task) -> &Worktree {
    task.worktree().expect("a task outside the backlog has a worktree")
}
