//! Facts: what has happened, in the words of the log.
//!
//! The log outlives the program: kinds and fields are added, the meaning of an old one never changes. The names
//! are contracts (`task:assigned`), and so are the camel-case fields.

use crate::{
    Actor, AgentId, Approval, Code, Comment, CommentAnswers, CommitId, CriterionNote, Diff, EpicId, Evidence,
    Failure, FailureClass, Filed, Findings, Forecast, Handover, InputNote, Lacks, MovedRef, Origin, PrdSlug,
    Priority, ProgressNote, RunId, Salvage, Settings, Splice, TaskId, TaskSource, Worked,
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

events! {
    each has task_id: TaskId as task;

    /// Everything that can happen to a task.
    pub enum Event {
        TaskCreated = "task:created" {
            task_id: TaskId,
            title: String,
            #[serde(default, skip_serializing_if = "String::is_empty")]
            description: String,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            criteria: Vec<String>,
            #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
            dependencies: BTreeSet<TaskId>,
            priority: Priority,
            epic_id: Option<EpicId>,
            prd: Option<PrdSlug>,
            /// The name that its branch is to have, if not the usual one.
            branch: Option<String>,
            /// The commit or branch that the work starts from, if not the target.
            base: Option<String>,
        },
        TaskDependenciesSet = "task:dependencies_set" { task_id: TaskId, dependencies: BTreeSet<TaskId> },
        /// Only what changed is there.
        TaskEdited = "task:edited" {
            task_id: TaskId,
            title: Option<String>,
            description: Option<String>,
            priority: Option<Priority>,
            filed: Option<Filed>,
        },
        TaskQueued = "task:queued" {
            task_id: TaskId,
            agent_id: AgentId,
            priority: Priority,
            working: u32,
            limit: u32,
            #[serde(default = "limit_exceeded")]
            code: Code,
        },
        TaskDequeued = "task:dequeued" { task_id: TaskId, agent_id: AgentId },
        TaskAssignFailed = "task:assign:failed" { task_id: TaskId, agent_id: AgentId, error: Failure },
        TaskAssigned = "task:assigned" {
            task_id: TaskId,
            #[serde(default)]
            #[serialize_always]
            agent_id: Option<AgentId>,
            priority: Priority,
            branch: String,
            target: String,
            base: CommitId,
            path: String,
            attempt: u32,
            working: u32,
            limit: u32,
            run_id: Option<RunId>,
            from: Option<CommitId>,
            owner: Option<String>,
        },
        TaskReassigned = "task:reassigned" {
            task_id: TaskId,
            #[serialize_always]
            agent_id: Option<AgentId>,
            owner: Option<String>,
            from: Option<AgentId>,
            session: Option<u32>,
            feedback: Option<String>,
        },
        WorktreeCreated = "worktree:created" { task_id: TaskId, branch: String, path: String },
        WorktreeCreateFailed = "worktree:create:failed" { task_id: TaskId, error: Failure },
        AgentAssigned = "agent:assigned" { task_id: TaskId, agent_id: AgentId, session: u32 },
        AgentStartFailed = "agent:start:failed" { task_id: TaskId, agent_id: AgentId, session: u32, error: Failure },
        AgentSessionFailed = "agent:session:failed" { task_id: TaskId, agent_id: AgentId, session: u32, error: Failure },
        TaskCompleted = "task:completed" {
            task_id: TaskId,
            diff: String,
            base: CommitId,
            head: CommitId,
            files_changed: u64,
            lines_added: u64,
            lines_removed: u64,
            turn_count: u32,
            summary: Option<String>,
            approval: Approval,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            checks: Vec<String>,
            /// The criteria that are not ticked.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            open: Vec<String>,
            /// The limit on sessions in a row, if it is why no other session follows.
            session_limit: Option<u32>,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            obeyed_files: Vec<String>,
        },
        TaskCompleteFailed = "task:complete:failed" { task_id: TaskId, error: Failure },
        TaskSubmitted = "task:submitted" {
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
        TaskReleased = "task:released" {
            task_id: TaskId,
            run_id: RunId,
            error: Option<Failure>,
        },
        /// It was made of the files of another tool.
        TaskImported = "task:imported" {
            task_id: TaskId,
            #[serde(flatten)]
            source: TaskSource,
        },
        /// A run that had ended continues, and has the task again that it released.
        TaskTakenUp = "task:taken_up" { task_id: TaskId, run_id: RunId },
        ApprovalRequested = "approval:requested" { task_id: TaskId, diff: String },
        ApprovalRequestFailed = "approval:request:failed" { task_id: TaskId, error: Failure },
        AgentPaused = "agent:paused" { task_id: TaskId, agent_id: AgentId, reason: String },
        AgentPauseFailed = "agent:pause:failed" { task_id: TaskId, agent_id: AgentId, error: Failure },
        ChecksRan = "checks:ran" { task_id: TaskId, commit: CommitId, results: Vec<Evidence> },
        ChecksRunFailed = "checks:run:failed" { task_id: TaskId, error: Failure },
        ApprovalApproved = "approval:approved" {
            task_id: TaskId,
            approver: String,
            feedback: Option<String>,
            diff: String,
            head: CommitId,
            overrode: Option<Lacks>,
        },
        ApprovalApproveFailed = "approval:approve:failed" { task_id: TaskId, error: Failure },
        WorktreeMerged = "worktree:merged" {
            task_id: TaskId,
            branch: String,
            target: String,
            commit: CommitId,
            approver: String,
            checkout: CheckoutNote,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            checkouts: Vec<CheckoutNote>,
        },
        WorktreeMergeFailed = "worktree:merge:failed" {
            task_id: TaskId,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            files: Vec<String>,
            error: Failure,
        },
        TaskApproved = "task:approved" { task_id: TaskId, approver: String },
        ApprovalRejected = "approval:rejected" { task_id: TaskId, reason: String },
        TaskRejected = "task:rejected" {
            task_id: TaskId,
            reason: String,
            feedback: Option<String>,
            rejection_count: u32,
            agent_id: Option<AgentId>,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            comments: Vec<Comment>,
        },
        AgentResumed = "agent:resumed" { task_id: TaskId, agent_id: AgentId, session: u32, feedback: String },
        AgentResumeFailed = "agent:resume:failed" {
            task_id: TaskId,
            agent_id: AgentId,
            session: u32,
            error: Failure,
            rejection_count: Option<u32>,
        },
        AgentParked = "agent:parked" {
            task_id: TaskId,
            agent_id: AgentId,
            session: u32,
            class: FailureClass,
            attempt: u32,
            until: Timestamp,
            error: Failure,
        },
        AgentWoken = "agent:woken" {
            task_id: TaskId,
            agent_id: AgentId,
            session: u32,
            feedback: Option<String>,
        },
        AgentContinued = "agent:continued" {
            task_id: TaskId,
            agent_id: AgentId,
            session: u32,
            /// How many criteria are not ticked.
            open: u32,
            /// How many sessions in a row there may be.
            limit: u32,
        },
        AgentStopping = "agent:stopping" {
            task_id: TaskId,
            agent_id: Option<AgentId>,
            reason: Option<String>,
            handover: Option<Handover>,
        },
        AgentStopped = "agent:stopped" {
            task_id: TaskId,
            agent_id: Option<AgentId>,
        },
        AgentStopFailed = "agent:stop:failed" {
            task_id: TaskId,
            agent_id: Option<AgentId>,
            error: Failure,
        },
        AgentRefused = "agent:refused" { task_id: TaskId, agent_id: AgentId, session: u32, what: String },
        AgentRefsMoved = "agent:refs_moved" {
            task_id: TaskId,
            agent_id: AgentId,
            session: u32,
            refs: Vec<MovedRef>,
            #[serde(default, skip_serializing_if = "is_zero")]
            more: u32,
        },
        CollisionsForecast = "collisions:forecast" {
            task_id: TaskId,
            #[serde(flatten)]
            forecast: Forecast,
        },
        /// What a session of a run added to the task's branch.
        TaskWorked = "task:worked" {
            task_id: TaskId,
            #[serde(flatten)]
            worked: Worked,
        },
        /// What an agent says to the comments with which its work was sent back.
        CommentsAnswered = "comments:answered" {
            task_id: TaskId,
            #[serde(flatten)]
            answers: CommentAnswers,
        },
        WorktreeSalvaged = "worktree:salvaged" {
            task_id: TaskId,
            salvage: Salvage,
            agent_id: Option<AgentId>,
            session: Option<u32>,
        },
        WorktreeRemoved = "worktree:removed" { task_id: TaskId, branch: String },
        WorktreeRemoveFailed = "worktree:remove:failed" { task_id: TaskId, branch: String, error: Failure },
        FileChanged = "file:changed" { task_id: TaskId, digest: String, splice: Splice, origin: Origin },
        FileWritten = "file:written" { task_id: TaskId, digest: String },
        FileWriteFailed = "file:write:failed" { task_id: TaskId, error: Failure },
        FileConflicted = "file:conflicted" { task_id: TaskId, section: String },
        FileCorrupt = "file:corrupt" { task_id: TaskId, kept: String, error: Failure },
        FileArchived = "file:archived" { task_id: TaskId, first: u32, last: u32, bytes: u64 },
        CriterionChecked = "criterion:checked" { task_id: TaskId, index: u32, text: String },
        CriterionUnchecked = "criterion:unchecked" { task_id: TaskId, index: u32, text: String },
        CriteriaSet = "criteria:set" { task_id: TaskId, criteria: Vec<CriterionNote> },
        CriteriaJudged = "criteria:judged" {
            task_id: TaskId,
            #[serde(flatten)]
            findings: Findings,
        },
        ProgressLogged = "progress:logged" { task_id: TaskId, entry: ProgressNote },
        OutputWritten = "output:written" { task_id: TaskId, digest: String, summary: String },
        OutputRemoved = "output:removed" { task_id: TaskId },
        RequirementsEdited = "requirements:edited" { task_id: TaskId, text: String },
        InputsEmbedded = "inputs:embedded" { task_id: TaskId, inputs: Vec<InputNote> },
        TaskCancelled = "task:cancelled" {
            task_id: TaskId,
            reason: Option<String>,
        },
        TaskHidden = "task:hidden" { task_id: TaskId },
        TaskUnhidden = "task:unhidden" { task_id: TaskId },
        TaskDeleted = "task:deleted" { task_id: TaskId },
    }
}

/// Early logs queued a task for this reason only, and did not say it.
fn limit_exceeded() -> Code {
    Code::ConcurrencyLimitExceeded
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Event {
    /// Tells whether it is a note about the work and nothing more, which can happen in every stage.
    pub fn is_note(&self) -> bool {
        matches!(
            self,
            Event::AgentRefused { .. }
                | Event::AgentRefsMoved { .. }
                | Event::CriteriaJudged { .. }
                | Event::CollisionsForecast { .. }
                | Event::TaskWorked { .. }
                | Event::CommentsAnswered { .. }
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
                | Event::TaskTakenUp { .. }
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
            {"type":"task:created","taskId":7,"title":"Title","description":"Text","criteria":["It works"],"dependencies":[1],"priority":"high","epicId":3,"prd":"user-auth","branch":"feature/one","base":"main"}
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
            {"type":"task:imported","taskId":7,"kind":"specflux","folder":".specflux","item":"101","digest":"00","status":"complete","done":true,"kept":".regatta/imports/00/task-states/task-101-state.md"}
            {"type":"task:taken_up","taskId":7,"runId":1}
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
            {"type":"collisions:forecast","taskId":7,"collisions":[{"kind":"conflict","task":null,"branch":"main","files":["c.txt"],"moreFiles":0},{"kind":"conflict","task":9,"branch":"task/9","files":["a.txt","b.txt"],"moreFiles":3}]}
            {"type":"task:worked","taskId":7,"session":2,"base":"0000001000000000000000000000000000000000","head":"0000002000000000000000000000000000000000","commits":[{"id":"0000002000000000000000000000000000000000","title":"Add the login","at":"1970-01-01T00:00:00Z"}],"files":[{"path":"src/login.rs","action":"added","added":12},{"path":"old.rs","action":"deleted","removed":3}],"moreFiles":1}
            {"type":"comments:answered","taskId":7,"agentId":"alpha","session":2,"answers":[{"comment":1,"text":"Done, with a test."}]}
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
