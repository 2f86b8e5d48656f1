//! Facts: what has happened, in the words of the log.
//!
//! The log outlives the program: kinds and fields are added, the meaning of an old one never changes. The names
//! are contracts (`task:assigned`), and so are the camel-case fields.

use crate::{
    Actor, AgentId, Approval, Code, Comment, CommitId, CriterionNote, Diff, EpicId, Evidence, Failure,
    FailureClass, Filed, Findings, Handover, InputNote, Lacks, MovedRef, Origin, PrdSlug, Priority,
    ProgressNote, RunId, Salvage, Settings, Splice, TaskId,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One event with when it happened and who caused it; an event of a task unless another family is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact<E = Event> {
    /// When it was decided.
    pub at: Timestamp,
    /// Who gave the command.
    pub actor: Actor,
    /// What happened.
    pub event: E,
}

/// What became of a checkout that stands on the branch a merge landed on.
///
/// Only logs of earlier versions have one that was left alone: today a merge moves every checkout, or does not land.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CheckoutNote {
    /// No checkout stands on that branch.
    NotThere,
    /// It shows the merge, with its user's edits to other files.
    FastForwarded {
        /// Its folder.
        path: String,
    },
    /// It was left exactly as it was.
    LeftAlone {
        /// Its folder.
        path: String,
        /// What stood in the way.
        why: String,
    },
}

/// Everything that can happen to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract, and the variants say what happened")]
pub enum Event {
    #[serde(rename = "task:created")]
    TaskCreated {
        task_id: TaskId,
        title: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        description: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        criteria: Vec<String>,
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        dependencies: BTreeSet<TaskId>,
        priority: Priority,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epic_id: Option<EpicId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prd: Option<PrdSlug>,
    },
    #[serde(rename = "task:dependencies_set")]
    TaskDependenciesSet { task_id: TaskId, dependencies: BTreeSet<TaskId> },
    /// Only what changed is there.
    #[serde(rename = "task:edited")]
    TaskEdited {
        task_id: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        priority: Option<Priority>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filed: Option<Filed>,
    },
    #[serde(rename = "task:queued")]
    TaskQueued {
        task_id: TaskId,
        agent_id: AgentId,
        priority: Priority,
        working: u32,
        limit: u32,
        #[serde(default = "limit_exceeded")]
        code: Code,
    },
    #[serde(rename = "task:dequeued")]
    TaskDequeued { task_id: TaskId, agent_id: AgentId },
    #[serde(rename = "task:assign:failed")]
    TaskAssignFailed { task_id: TaskId, agent_id: AgentId, error: Failure },
    #[serde(rename = "task:assigned")]
    TaskAssigned {
        task_id: TaskId,
        #[serde(default)]
        agent_id: Option<AgentId>,
        priority: Priority,
        branch: String,
        target: String,
        base: CommitId,
        path: String,
        attempt: u32,
        working: u32,
        limit: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_id: Option<RunId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<CommitId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
    },
    #[serde(rename = "task:reassigned")]
    TaskReassigned {
        task_id: TaskId,
        agent_id: Option<AgentId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<AgentId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    #[serde(rename = "worktree:created")]
    WorktreeCreated { task_id: TaskId, branch: String, path: String },
    #[serde(rename = "worktree:create:failed")]
    WorktreeCreateFailed { task_id: TaskId, error: Failure },
    #[serde(rename = "agent:assigned")]
    AgentAssigned { task_id: TaskId, agent_id: AgentId, session: u32 },
    #[serde(rename = "agent:start:failed")]
    AgentStartFailed { task_id: TaskId, agent_id: AgentId, session: u32, error: Failure },
    #[serde(rename = "agent:session:failed")]
    AgentSessionFailed { task_id: TaskId, agent_id: AgentId, session: u32, error: Failure },
    #[serde(rename = "task:completed")]
    TaskCompleted {
        task_id: TaskId,
        diff: String,
        base: CommitId,
        head: CommitId,
        files_changed: u64,
        lines_added: u64,
        lines_removed: u64,
        turn_count: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        approval: Approval,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        checks: Vec<String>,
        /// The criteria that are not ticked.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        open: Vec<String>,
        /// The limit on sessions in a row, if it is why no other session follows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_limit: Option<u32>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        obeyed_files: Vec<String>,
    },
    #[serde(rename = "task:complete:failed")]
    TaskCompleteFailed { task_id: TaskId, error: Failure },
    #[serde(rename = "task:submitted")]
    TaskSubmitted {
        task_id: TaskId,
        diff: String,
        base: CommitId,
        head: CommitId,
        files_changed: u64,
        lines_added: u64,
        lines_removed: u64,
        approval: Approval,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        checks: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        obeyed_files: Vec<String>,
    },
    #[serde(rename = "task:released")]
    TaskReleased {
        task_id: TaskId,
        run_id: RunId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
    },
    #[serde(rename = "approval:requested")]
    ApprovalRequested { task_id: TaskId, diff: String },
    #[serde(rename = "approval:request:failed")]
    ApprovalRequestFailed { task_id: TaskId, error: Failure },
    #[serde(rename = "agent:paused")]
    AgentPaused { task_id: TaskId, agent_id: AgentId, reason: String },
    #[serde(rename = "agent:pause:failed")]
    AgentPauseFailed { task_id: TaskId, agent_id: AgentId, error: Failure },
    #[serde(rename = "checks:ran")]
    ChecksRan { task_id: TaskId, commit: CommitId, results: Vec<Evidence> },
    #[serde(rename = "checks:run:failed")]
    ChecksRunFailed { task_id: TaskId, error: Failure },
    #[serde(rename = "approval:approved")]
    ApprovalApproved {
        task_id: TaskId,
        approver: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
        diff: String,
        head: CommitId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overrode: Option<Lacks>,
    },
    #[serde(rename = "approval:approve:failed")]
    ApprovalApproveFailed { task_id: TaskId, error: Failure },
    #[serde(rename = "worktree:merged")]
    WorktreeMerged {
        task_id: TaskId,
        branch: String,
        target: String,
        commit: CommitId,
        approver: String,
        checkout: CheckoutNote,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        checkouts: Vec<CheckoutNote>,
    },
    #[serde(rename = "worktree:merge:failed")]
    WorktreeMergeFailed {
        task_id: TaskId,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
        error: Failure,
    },
    #[serde(rename = "task:approved")]
    TaskApproved { task_id: TaskId, approver: String },
    #[serde(rename = "approval:rejected")]
    ApprovalRejected { task_id: TaskId, reason: String },
    #[serde(rename = "task:rejected")]
    TaskRejected {
        task_id: TaskId,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
        rejection_count: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<AgentId>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        comments: Vec<Comment>,
    },
    #[serde(rename = "agent:resumed")]
    AgentResumed { task_id: TaskId, agent_id: AgentId, session: u32, feedback: String },
    #[serde(rename = "agent:resume:failed")]
    AgentResumeFailed {
        task_id: TaskId,
        agent_id: AgentId,
        session: u32,
        error: Failure,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rejection_count: Option<u32>,
    },
    #[serde(rename = "agent:parked")]
    AgentParked {
        task_id: TaskId,
        agent_id: AgentId,
        session: u32,
        class: FailureClass,
        attempt: u32,
        until: Timestamp,
        error: Failure,
    },
    #[serde(rename = "agent:woken")]
    AgentWoken {
        task_id: TaskId,
        agent_id: AgentId,
        session: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    #[serde(rename = "agent:continued")]
    AgentContinued {
        task_id: TaskId,
        agent_id: AgentId,
        session: u32,
        /// How many criteria are not ticked.
        open: u32,
        /// How many sessions in a row there may be.
        limit: u32,
    },
    #[serde(rename = "agent:stopping")]
    AgentStopping {
        task_id: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<AgentId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handover: Option<Handover>,
    },
    #[serde(rename = "agent:stopped")]
    AgentStopped {
        task_id: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<AgentId>,
    },
    #[serde(rename = "agent:stop:failed")]
    AgentStopFailed {
        task_id: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<AgentId>,
        error: Failure,
    },
    #[serde(rename = "agent:refused")]
    AgentRefused { task_id: TaskId, agent_id: AgentId, session: u32, what: String },
    #[serde(rename = "agent:refs_moved")]
    AgentRefsMoved {
        task_id: TaskId,
        agent_id: AgentId,
        session: u32,
        refs: Vec<MovedRef>,
        #[serde(default, skip_serializing_if = "is_zero")]
        more: u32,
    },
    #[serde(rename = "worktree:salvaged")]
    WorktreeSalvaged {
        task_id: TaskId,
        salvage: Salvage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<AgentId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<u32>,
    },
    #[serde(rename = "worktree:removed")]
    WorktreeRemoved { task_id: TaskId, branch: String },
    #[serde(rename = "worktree:remove:failed")]
    WorktreeRemoveFailed { task_id: TaskId, branch: String, error: Failure },
    #[serde(rename = "file:changed")]
    FileChanged { task_id: TaskId, digest: String, splice: Splice, origin: Origin },
    #[serde(rename = "file:written")]
    FileWritten { task_id: TaskId, digest: String },
    #[serde(rename = "file:write:failed")]
    FileWriteFailed { task_id: TaskId, error: Failure },
    #[serde(rename = "file:conflicted")]
    FileConflicted { task_id: TaskId, section: String },
    #[serde(rename = "file:corrupt")]
    FileCorrupt { task_id: TaskId, kept: String, error: Failure },
    #[serde(rename = "file:archived")]
    FileArchived { task_id: TaskId, first: u32, last: u32, bytes: u64 },
    #[serde(rename = "criterion:checked")]
    CriterionChecked { task_id: TaskId, index: u32, text: String },
    #[serde(rename = "criterion:unchecked")]
    CriterionUnchecked { task_id: TaskId, index: u32, text: String },
    #[serde(rename = "criteria:set")]
    CriteriaSet { task_id: TaskId, criteria: Vec<CriterionNote> },
    #[serde(rename = "criteria:judged")]
    CriteriaJudged {
        task_id: TaskId,
        #[serde(flatten)]
        findings: Findings,
    },
    #[serde(rename = "progress:logged")]
    ProgressLogged { task_id: TaskId, entry: ProgressNote },
    #[serde(rename = "output:written")]
    OutputWritten { task_id: TaskId, digest: String, summary: String },
    #[serde(rename = "output:removed")]
    OutputRemoved { task_id: TaskId },
    #[serde(rename = "requirements:edited")]
    RequirementsEdited { task_id: TaskId, text: String },
    #[serde(rename = "inputs:embedded")]
    InputsEmbedded { task_id: TaskId, inputs: Vec<InputNote> },
    #[serde(rename = "task:cancelled")]
    TaskCancelled {
        task_id: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    #[serde(rename = "task:hidden")]
    TaskHidden { task_id: TaskId },
    #[serde(rename = "task:unhidden")]
    TaskUnhidden { task_id: TaskId },
    #[serde(rename = "task:deleted")]
    TaskDeleted { task_id: TaskId },
}

macro_rules! kinds {
    ($($variant:ident => $name:literal,)*) => {
        impl Event {
            /// Every kind of event, by its name in the log.
            pub const KINDS: &'static [&'static str] = &[$($name),*];

            /// Returns the name of the event's kind.
            pub fn kind(&self) -> &'static str {
                match self { $(Event::$variant { .. } => $name,)* }
            }

            /// Returns the task it happened to.
            pub fn task(&self) -> TaskId {
                match self { $(Event::$variant { task_id, .. } => *task_id,)* }
            }
        }
    };
}

kinds! {
    TaskCreated => "task:created",
    TaskDependenciesSet => "task:dependencies_set",
    TaskEdited => "task:edited",
    TaskQueued => "task:queued",
    TaskDequeued => "task:dequeued",
    TaskAssignFailed => "task:assign:failed",
    TaskAssigned => "task:assigned",
    TaskReassigned => "task:reassigned",
    WorktreeCreated => "worktree:created",
    WorktreeCreateFailed => "worktree:create:failed",
    AgentAssigned => "agent:assigned",
    AgentStartFailed => "agent:start:failed",
    AgentSessionFailed => "agent:session:failed",
    TaskCompleted => "task:completed",
    TaskCompleteFailed => "task:complete:failed",
    TaskSubmitted => "task:submitted",
    TaskReleased => "task:released",
    ApprovalRequested => "approval:requested",
    ApprovalRequestFailed => "approval:request:failed",
    AgentPaused => "agent:paused",
    AgentPauseFailed => "agent:pause:failed",
    ChecksRan => "checks:ran",
    ChecksRunFailed => "checks:run:failed",
    ApprovalApproved => "approval:approved",
    ApprovalApproveFailed => "approval:approve:failed",
    WorktreeMerged => "worktree:merged",
    WorktreeMergeFailed => "worktree:merge:failed",
    TaskApproved => "task:approved",
    ApprovalRejected => "approval:rejected",
    TaskRejected => "task:rejected",
    AgentResumed => "agent:resumed",
    AgentResumeFailed => "agent:resume:failed",
    AgentParked => "agent:parked",
    AgentWoken => "agent:woken",
    AgentContinued => "agent:continued",
    AgentStopping => "agent:stopping",
    AgentStopped => "agent:stopped",
    AgentStopFailed => "agent:stop:failed",
    AgentRefused => "agent:refused",
    AgentRefsMoved => "agent:refs_moved",
    WorktreeSalvaged => "worktree:salvaged",
    WorktreeRemoved => "worktree:removed",
    WorktreeRemoveFailed => "worktree:remove:failed",
    FileChanged => "file:changed",
    FileWritten => "file:written",
    FileWriteFailed => "file:write:failed",
    FileConflicted => "file:conflicted",
    FileCorrupt => "file:corrupt",
    FileArchived => "file:archived",
    CriterionChecked => "criterion:checked",
    CriterionUnchecked => "criterion:unchecked",
    CriteriaSet => "criteria:set",
    CriteriaJudged => "criteria:judged",
    ProgressLogged => "progress:logged",
    OutputWritten => "output:written",
    OutputRemoved => "output:removed",
    RequirementsEdited => "requirements:edited",
    InputsEmbedded => "inputs:embedded",
    TaskCancelled => "task:cancelled",
    TaskHidden => "task:hidden",
    TaskUnhidden => "task:unhidden",
    TaskDeleted => "task:deleted",
}

/// Early logs queued a task for this reason only, and did not say it.
fn limit_exceeded() -> Code {
    Code::ConcurrencyLimitExceeded
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Event {
    /// Tells whether it is a note about an agent and nothing more, which can happen in every stage.
    pub fn is_note(&self) -> bool {
        matches!(
            self,
            Event::AgentRefused { .. } | Event::AgentRefsMoved { .. } | Event::CriteriaJudged { .. }
        )
    }

    /// Tells whether the assignments changes with this event.
    pub fn concerns_assignments(&self) -> bool {
        matches!(
            self,
            Event::TaskQueued { .. }
                | Event::TaskDequeued { .. }
                | Event::TaskAssigned { .. }
                | Event::TaskReassigned { .. }
                | Event::TaskDeleted { .. }
                | Event::TaskEdited { priority: Some(_), .. }
                | Event::TaskRejected { .. }
                | Event::AgentAssigned { .. }
                | Event::AgentResumed { .. }
                | Event::AgentPaused { .. }
                | Event::AgentResumeFailed { .. }
                | Event::AgentParked { .. }
                | Event::AgentWoken { .. }
                | Event::AgentContinued { .. }
                | Event::AgentSessionFailed { .. }
                | Event::TaskCompleteFailed { .. }
                | Event::TaskReleased { .. }
                | Event::AgentStartFailed { .. }
                | Event::ApprovalRequestFailed { .. }
                | Event::AgentPauseFailed { .. }
                | Event::AgentStopped { .. }
                | Event::AgentStopFailed { .. }
                | Event::WorktreeCreateFailed { .. }
                | Event::WorktreeRemoved { .. }
                | Event::TaskApproved { .. }
                | Event::TaskCancelled { .. }
        )
    }

    /// Tells whether it is about the task file and what it says, which can happen in every stage.
    pub fn is_of_file(&self) -> bool {
        matches!(
            self,
            Event::FileChanged { .. }
                | Event::FileWritten { .. }
                | Event::FileWriteFailed { .. }
                | Event::FileConflicted { .. }
                | Event::FileCorrupt { .. }
                | Event::FileArchived { .. }
                | Event::CriterionChecked { .. }
                | Event::CriterionUnchecked { .. }
                | Event::CriteriaSet { .. }
                | Event::ProgressLogged { .. }
                | Event::OutputWritten { .. }
                | Event::OutputRemoved { .. }
                | Event::RequirementsEdited { .. }
                | Event::InputsEmbedded { .. }
                | Event::TaskEdited { .. }
        )
    }

    /// Tells whether the text of the task file changes with this event.
    pub fn concerns_file(&self) -> bool {
        matches!(self, Event::FileChanged { .. } | Event::FileWritten { .. })
    }

    /// Tells whether the plan changes with this event.
    pub fn concerns_plan(&self) -> bool {
        matches!(
            self,
            Event::TaskCreated { .. } | Event::TaskDependenciesSet { .. } | Event::TaskDeleted { .. }
        )
    }

    pub(crate) fn submitted(task_id: TaskId, diff: &Diff, settings: &Settings) -> Self {
        Event::TaskSubmitted {
            task_id,
            diff: diff.digest.clone(),
            base: diff.base.clone(),
            head: diff.head.clone(),
            files_changed: diff.files_changed,
            lines_added: diff.lines_added,
            lines_removed: diff.lines_removed,
            approval: settings.approval,
            checks: settings.checks.clone(),
            obeyed_files: diff.obeyed_files.clone(),
        }
    }

    pub(crate) fn completed(
        task_id: TaskId,
        diff: &Diff,
        turn_count: u32,
        summary: Option<String>,
        settings: &Settings,
        open: Vec<String>,
    ) -> Self {
        Event::TaskCompleted {
            task_id,
            diff: diff.digest.clone(),
            base: diff.base.clone(),
            head: diff.head.clone(),
            files_changed: diff.files_changed,
            lines_added: diff.lines_added,
            lines_removed: diff.lines_removed,
            turn_count,
            summary,
            approval: settings.approval,
            checks: settings.checks.clone(),
            open,
            session_limit: None,
            obeyed_files: diff.obeyed_files.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{id, samples};
    use expect_test::expect;

    #[test]
    fn every_kind_survives_json_under_its_name() {
        let samples = samples(id(7), 2);
        let kinds: Vec<&str> = samples.iter().map(Event::kind).collect();
        assert_eq!(kinds, Event::KINDS, "there is one sample of each kind");
        for event in samples {
            let text = serde_json::to_string(&event).unwrap();
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!((&value["type"], &value["taskId"]), (&event.kind().into(), &7.into()), "{text}");
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
        }
    }

    #[test]
    fn the_log_is_written_in_these_words() {
        let lines: Vec<String> =
            samples(id(7), 2).iter().map(|event| serde_json::to_string(event).unwrap()).collect();
        expect![[r#"
            {"type":"task:created","taskId":7,"title":"Title","description":"Text","criteria":["It works"],"dependencies":[1],"priority":"high","epicId":3,"prd":"user-auth"}
            {"type":"task:dependencies_set","taskId":7,"dependencies":[1,2]}
            {"type":"task:edited","taskId":7,"title":"Another title","description":"More text","priority":"low","filed":{"epicId":3,"prd":"user-auth"}}
            {"type":"task:queued","taskId":7,"agentId":"alpha","priority":"low","working":2,"limit":2,"code":"AGENT_ALREADY_RUNNING"}
            {"type":"task:dequeued","taskId":7,"agentId":"alpha"}
            {"type":"task:assign:failed","taskId":7,"agentId":"alpha","error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"task:assigned","taskId":7,"agentId":"alpha","priority":"medium","branch":"task/7","target":"main","base":"0000000000000000000000000000000000000000","path":"trees/task-7","attempt":1,"working":0,"limit":2,"from":"0000002000000000000000000000000000000000"}
            {"type":"task:reassigned","taskId":7,"agentId":"beta","from":"alpha","session":2,"feedback":"Continue"}
            {"type":"worktree:created","taskId":7,"branch":"task/7","path":"trees/task-7"}
            {"type":"worktree:create:failed","taskId":7,"error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"agent:assigned","taskId":7,"agentId":"alpha","session":2}
            {"type":"agent:start:failed","taskId":7,"agentId":"alpha","session":2,"error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"agent:session:failed","taskId":7,"agentId":"alpha","session":2,"error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"task:completed","taskId":7,"diff":"sha256:0000001000","base":"0000000000000000000000000000000000000000","head":"0000001000000000000000000000000000000000","filesChanged":2,"linesAdded":20,"linesRemoved":1,"turnCount":3,"summary":"Done","approval":"person","checks":["test"],"open":["It is fast"],"obeyedFiles":[".regatta/config.toml"]}
            {"type":"task:complete:failed","taskId":7,"error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"task:submitted","taskId":7,"diff":"sha256:0000002000","base":"0000000000000000000000000000000000000000","head":"0000002000000000000000000000000000000000","filesChanged":2,"linesAdded":20,"linesRemoved":1,"approval":"person","checks":["test"]}
            {"type":"task:released","taskId":7,"runId":1,"error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"approval:requested","taskId":7,"diff":"sha256:00"}
            {"type":"approval:request:failed","taskId":7,"error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"agent:paused","taskId":7,"agentId":"alpha","reason":"awaiting_approval"}
            {"type":"agent:pause:failed","taskId":7,"agentId":"alpha","error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"checks:ran","taskId":7,"commit":"0000001000000000000000000000000000000000","results":[{"name":"test","passed":true,"exit":0,"milliseconds":1500},{"name":"broken","passed":false,"exit":1,"milliseconds":1500,"tail":"it is broken"}]}
            {"type":"checks:run:failed","taskId":7,"error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"approval:approved","taskId":7,"approver":"local","feedback":"Good","diff":"sha256:00","head":"0000001000000000000000000000000000000000","overrode":{"openCriteria":["It works"]}}
            {"type":"approval:approve:failed","taskId":7,"error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"worktree:merged","taskId":7,"branch":"task/7","target":"main","commit":"0000002000000000000000000000000000000000","approver":"local","checkout":{"state":"left_alone","path":"project","why":"it is dirty"},"checkouts":[{"state":"fast_forwarded","path":"project"}]}
            {"type":"worktree:merge:failed","taskId":7,"files":["a.txt"],"error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"task:approved","taskId":7,"approver":"local"}
            {"type":"approval:rejected","taskId":7,"reason":"because"}
            {"type":"task:rejected","taskId":7,"reason":"because","feedback":"More","rejectionCount":1,"agentId":"beta","comments":[{"path":"src/a.rs","side":"old","line":12,"endLine":14,"text":"Why?","quote":"let a = 1;"},{"part":"output","side":"new","text":"Say more"}]}
            {"type":"agent:resumed","taskId":7,"agentId":"alpha","session":2,"feedback":"because"}
            {"type":"agent:resume:failed","taskId":7,"agentId":"alpha","session":2,"error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"},"rejectionCount":0}
            {"type":"agent:parked","taskId":7,"agentId":"alpha","session":2,"class":"rate_limit","attempt":1,"until":"2026-01-01T00:00:00Z","error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"agent:woken","taskId":7,"agentId":"alpha","session":2,"feedback":"Continue"}
            {"type":"agent:continued","taskId":7,"agentId":"alpha","session":2,"open":1,"limit":8}
            {"type":"agent:stopping","taskId":7,"agentId":"alpha","reason":"because"}
            {"type":"agent:stopped","taskId":7,"agentId":"alpha"}
            {"type":"agent:stop:failed","taskId":7,"agentId":"alpha","error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"agent:refused","taskId":7,"agentId":"alpha","session":2,"what":"the tool approve_task"}
            {"type":"agent:refs_moved","taskId":7,"agentId":"alpha","session":2,"refs":[{"ref":"refs/heads/main","from":"0000001000000000000000000000000000000000","to":"0000002000000000000000000000000000000000"},{"ref":"refs/tags/v1","from":"0000001000000000000000000000000000000000"}],"more":1}
            {"type":"worktree:salvaged","taskId":7,"salvage":{"ref":"refs/regatta/salvage/7/1","commit":"0000003000000000000000000000000000000000"},"agentId":"judge","session":2}
            {"type":"worktree:removed","taskId":7,"branch":"task/7"}
            {"type":"worktree:remove:failed","taskId":7,"branch":"task/7","error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"file:changed","taskId":7,"digest":"00","splice":{"start":3,"end":4,"text":"x"},"origin":"edit"}
            {"type":"file:written","taskId":7,"digest":"00"}
            {"type":"file:write:failed","taskId":7,"error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"file:conflicted","taskId":7,"section":"Context"}
            {"type":"file:corrupt","taskId":7,"kept":"aside","error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
            {"type":"file:archived","taskId":7,"first":1,"last":3,"bytes":900}
            {"type":"criterion:checked","taskId":7,"index":0,"text":"It works"}
            {"type":"criterion:unchecked","taskId":7,"index":0,"text":"It works"}
            {"type":"criteria:set","taskId":7,"criteria":[{"text":"It works","checked":true,"check":"test"}]}
            {"type":"criteria:judged","taskId":7,"agentId":"judge","commit":"0000001000000000000000000000000000000000","results":[{"criterion":"It works","met":true}]}
            {"type":"progress:logged","taskId":7,"entry":{"number":1,"at":"2026-01-01 00:00","did":"something","issues":"None","next":"more"}}
            {"type":"output:written","taskId":7,"digest":"01","summary":"There is a file"}
            {"type":"output:removed","taskId":7}
            {"type":"requirements:edited","taskId":7,"text":"Text"}
            {"type":"inputs:embedded","taskId":7,"inputs":[{"taskId":1,"digest":"01","summary":"There is a file","stale":true}]}
            {"type":"task:cancelled","taskId":7,"reason":"because"}
            {"type":"task:hidden","taskId":7}
            {"type":"task:unhidden","taskId":7}
            {"type":"task:deleted","taskId":7}"#]].assert_eq(&lines.join("\n"));
    }

    #[test]
    fn fields_that_were_left_out_have_a_default() {
        let text = r#"{"type":"task:created","taskId":1,"title":"Title","priority":"low"}"#;
        let event: Event = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
    }

    #[test]
    fn a_kind_that_is_not_known_is_not_taken_for_another() {
        assert!(serde_json::from_str::<Event>(r#"{"type":"task:renamed","taskId":1}"#).is_err());
    }
}
