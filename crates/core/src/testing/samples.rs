//! Small valid values, and one sample of every event.

use crate::session::Budget;
use crate::{
    Actor, AgentId, Approval, CheckoutNote, Code, Collision, CollisionKind, Comment, CommentAnswer,
    CommentAnswers, CommitId, Complete, CriterionNote, Diff, EpicId, Event, Evidence, Failure, FailureClass,
    Filed, Finding, Findings, Forecast, InputNote, Lacks, MovedRef, Origin, Part, Priority, Problem,
    ProgressNote, Retries, RunId, Salvage, SessionFailure, Settings, Side, Splice, TaskId, TaskSource,
    Worked, WorkedAction, WorkedCommit, WorkedFile,
};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn id(number: u32) -> TaskId {
    TaskId::new(number).unwrap()
}

pub(crate) fn agent(name: &str) -> AgentId {
    name.parse().unwrap()
}

pub(crate) fn user() -> Actor {
    Actor::User("local".to_owned())
}

/// A commit that differs from others by its number.
pub(crate) fn commit(number: u32) -> CommitId {
    format!("{number:07x}{:033x}", 0).parse().unwrap()
}

pub(crate) fn diff(files_changed: u64, head: CommitId) -> Diff {
    let digest = format!("sha256:{}", head.short());
    Diff {
        files_changed,
        lines_added: 10 * files_changed,
        lines_removed: 1,
        digest,
        base: commit(0),
        head,
        obeyed_files: Vec::new(),
    }
}

pub(crate) fn complete(files_changed: u64, head: CommitId) -> Complete {
    Complete::new(diff(files_changed, head), 3, None).unwrap()
}

pub(crate) fn failure(code: Code) -> Failure {
    Failure::from(Problem::new(code, "it did not work", "a reason", "try again"))
}

/// A session that broke off a minute into the year.
pub(crate) fn breakdown(class: FailureClass) -> SessionFailure {
    let at = Timestamp::from_second(1_767_225_660).unwrap();
    SessionFailure { failure: failure(Code::AgentSessionFailed), class, until: None, at }
}

/// What a check said; one that is called `broken` fails.
pub(crate) fn evidence(name: &str, passed: bool) -> Evidence {
    let (exit, tail) = if passed { (Some(0), "") } else { (Some(1), "it is broken") };
    Evidence { name: name.to_owned(), passed, exit, milliseconds: 1_500, tail: tail.to_owned() }
}

/// An entry of the progress log.
pub(crate) fn progress(number: u32) -> ProgressNote {
    ProgressNote {
        number,
        at: "2026-01-01 00:00".to_owned(),
        did: "something".to_owned(),
        issues: "None".to_owned(),
        next: "more".to_owned(),
        by_engine: false,
    }
}

fn settings() -> Settings {
    Settings {
        max_concurrent_agents: 1,
        approval: Approval::Person,
        members: Vec::new(),
        checks: vec!["test".to_owned()],
        retries: Retries::default(),
        sessions: 8,
        budget: Budget::default(),
        default_agent: None,
        agents: BTreeMap::new(),
    }
}

fn completed(task_id: TaskId) -> Event {
    let diff = Diff { obeyed_files: vec![".regatta/config.toml".to_owned()], ..diff(2, commit(1)) };
    Event::completed(task_id, &diff, 3, Some("Done".into()), &settings(), vec!["It is fast".into()])
}

/// One of each kind of event, in the order of [`Event::KINDS`].
pub(crate) fn samples(task_id: TaskId, session: u32) -> Vec<Event> {
    let (agent_id, error) = (agent("alpha"), failure(Code::Internal));
    let (branch, diff) = (format!("task/{task_id}"), "sha256:00".to_owned());
    let reason = "because".to_owned();
    let approver = "local".to_owned();
    vec![
        Event::TaskCreated {
            task_id,
            title: "Title".into(),
            description: "Text".into(),
            criteria: vec!["It works".into()],
            dependencies: BTreeSet::from([id(1)]),
            priority: Priority::High,
            epic_id: EpicId::new(3).ok(),
            prd: "user-auth".parse().ok(),
            branch: Some("feature/one".into()),
            base: Some("main".into()),
        },
        Event::TaskDependenciesSet { task_id, dependencies: BTreeSet::from([id(1), id(2)]) },
        Event::TaskEdited {
            task_id,
            title: Some("Another title".into()),
            description: Some("More text".into()),
            priority: Some(Priority::Low),
            filed: Some(Filed { epic_id: EpicId::new(3).ok(), prd: "user-auth".parse().ok() }),
        },
        Event::TaskQueued {
            task_id,
            agent_id: agent_id.clone(),
            priority: Priority::Low,
            working: 2,
            limit: 2,
            code: Code::AgentAlreadyRunning,
        },
        Event::TaskDequeued { task_id, agent_id: agent_id.clone() },
        Event::TaskAssignFailed { task_id, agent_id: agent_id.clone(), error: error.clone() },
        Event::TaskAssigned {
            task_id,
            agent_id: Some(agent_id.clone()),
            priority: Priority::Medium,
            branch: branch.clone(),
            target: "main".into(),
            base: commit(0),
            path: "trees/task-7".into(),
            attempt: 1,
            working: 0,
            limit: 2,
            run_id: None,
            from: Some(commit(2)),
            owner: None,
        },
        Event::TaskReassigned {
            task_id,
            agent_id: Some(agent("beta")),
            owner: None,
            from: Some(agent_id.clone()),
            session: Some(session),
            feedback: Some("Continue".into()),
        },
        Event::WorktreeCreated { task_id, branch: branch.clone(), path: "trees/task-7".into() },
        Event::WorktreeCreateFailed { task_id, error: error.clone() },
        Event::AgentAssigned { task_id, agent_id: agent_id.clone(), session },
        Event::AgentStartFailed { task_id, agent_id: agent_id.clone(), session, error: error.clone() },
        Event::AgentSessionFailed { task_id, agent_id: agent_id.clone(), session, error: error.clone() },
        completed(task_id),
        Event::TaskCompleteFailed { task_id, error: error.clone() },
        Event::submitted(task_id, &self::diff(2, commit(2)), &settings()),
        Event::TaskReleased { task_id, run_id: RunId::FIRST, error: Some(error.clone()) },
        Event::TaskImported { task_id, source: task_source(true) },
        Event::TaskTakenUp { task_id, run_id: RunId::FIRST },
        Event::ApprovalRequested { task_id, diff: diff.clone() },
        Event::ApprovalRequestFailed { task_id, error: error.clone() },
        Event::AgentPaused { task_id, agent_id: agent_id.clone(), reason: "awaiting_approval".into() },
        Event::AgentPauseFailed { task_id, agent_id: agent_id.clone(), error: error.clone() },
        Event::ChecksRan {
            task_id,
            commit: commit(1),
            results: vec![evidence("test", true), evidence("broken", false)],
        },
        Event::ChecksRunFailed { task_id, error: error.clone() },
        Event::ApprovalApproved {
            task_id,
            approver: approver.clone(),
            feedback: Some("Good".into()),
            diff,
            head: commit(1),
            overrode: Some(Lacks { open_criteria: vec!["It works".into()], ..Lacks::default() }),
        },
        Event::ApprovalApproveFailed { task_id, error: error.clone() },
        Event::WorktreeMerged {
            task_id,
            branch: branch.clone(),
            target: "main".into(),
            commit: commit(2),
            approver: approver.clone(),
            checkout: CheckoutNote::LeftAlone { path: "project".into(), why: "it is dirty".into() },
            checkouts: vec![CheckoutNote::FastForwarded { path: "project".into() }],
        },
        Event::WorktreeMergeFailed { task_id, files: vec!["a.txt".into()], error: error.clone() },
        Event::TaskApproved { task_id, approver },
        Event::ApprovalRejected { task_id, reason: reason.clone() },
        Event::TaskRejected {
            task_id,
            reason: reason.clone(),
            feedback: Some("More".into()),
            rejection_count: 1,
            agent_id: Some(agent("beta")),
            comments: vec![
                Comment {
                    path: Some("src/a.rs".into()),
                    side: Side::Old,
                    line: Some(12),
                    end_line: Some(14),
                    text: "Why?".into(),
                    quote: Some("let a = 1;".into()),
                    ..Comment::default()
                },
                Comment { part: Some(Part::Output), text: "Say more".into(), ..Comment::default() },
            ],
        },
        Event::AgentResumed { task_id, agent_id: agent_id.clone(), session, feedback: reason.clone() },
        Event::AgentResumeFailed {
            task_id,
            agent_id: agent_id.clone(),
            session,
            error: error.clone(),
            rejection_count: Some(0),
        },
        Event::AgentParked {
            task_id,
            agent_id: agent_id.clone(),
            session,
            class: FailureClass::RateLimit,
            attempt: 1,
            until: Timestamp::from_second(1_767_225_600).unwrap(),
            error: error.clone(),
        },
        Event::AgentWoken { task_id, agent_id: agent_id.clone(), session, feedback: Some("Continue".into()) },
        Event::AgentContinued { task_id, agent_id: agent_id.clone(), session, open: 1, limit: 8 },
        Event::AgentStopping {
            task_id,
            agent_id: Some(agent_id.clone()),
            reason: Some(reason.clone()),
            handover: None,
        },
        Event::AgentStopped { task_id, agent_id: Some(agent_id.clone()) },
        Event::AgentStopFailed { task_id, agent_id: Some(agent_id.clone()), error: error.clone() },
        Event::AgentRefused {
            task_id,
            agent_id: agent_id.clone(),
            session,
            what: "the tool approve_task".into(),
        },
        Event::AgentRefsMoved {
            task_id,
            agent_id,
            session,
            refs: vec![
                MovedRef { name: "refs/heads/main".into(), from: commit(1), to: Some(commit(2)) },
                MovedRef { name: "refs/tags/v1".into(), from: commit(1), to: None },
            ],
            more: 1,
        },
        Event::CollisionsForecast {
            task_id,
            forecast: Forecast::new(vec![
                Collision {
                    kind: CollisionKind::Conflict,
                    task: Some(id(9)),
                    branch: "task/9".into(),
                    files: vec!["a.txt".into(), "b.txt".into()],
                    more_files: 3,
                },
                Collision {
                    kind: CollisionKind::Conflict,
                    task: None,
                    branch: "main".into(),
                    files: vec!["c.txt".into()],
                    more_files: 0,
                },
            ]),
        },
        Event::TaskWorked {
            task_id,
            worked: Worked {
                session,
                base: commit(1),
                head: commit(2),
                commits: vec![WorkedCommit {
                    id: commit(2),
                    title: "Add the login".into(),
                    at: Timestamp::UNIX_EPOCH,
                }],
                more_commits: 0,
                files: vec![
                    WorkedFile {
                        path: "src/login.rs".into(),
                        action: WorkedAction::Added,
                        added: 12,
                        removed: 0,
                    },
                    WorkedFile { path: "old.rs".into(), action: WorkedAction::Deleted, added: 0, removed: 3 },
                ],
                more_files: 1,
            },
        },
        Event::CommentsAnswered {
            task_id,
            answers: CommentAnswers {
                agent_id: agent("alpha"),
                session,
                answers: vec![CommentAnswer { comment: 1, text: "Done, with a test.".into() }],
            },
        },
        Event::WorktreeSalvaged {
            task_id,
            salvage: Salvage { name: "refs/regatta/salvage/7/1".into(), commit: commit(3) },
            agent_id: Some(agent("judge")),
            session: Some(session),
        },
        Event::WorktreeRemoved { task_id, branch: branch.clone() },
        Event::WorktreeRemoveFailed { task_id, branch, error: error.clone() },
        Event::FileChanged {
            task_id,
            digest: "00".into(),
            splice: Splice { start: 3, end: 4, text: "x".into() },
            origin: Origin::Edit,
        },
        Event::FileWritten { task_id, digest: "00".into() },
        Event::FileWriteFailed { task_id, error: error.clone() },
        Event::FileConflicted { task_id, section: "Context".into() },
        Event::FileCorrupt { task_id, kept: "aside".into(), error: error.clone() },
        Event::FileArchived { task_id, first: 1, last: 3, bytes: 900 },
        Event::CriterionChecked { task_id, index: 0, text: "It works".into() },
        Event::CriterionUnchecked { task_id, index: 0, text: "It works".into() },
        Event::CriteriaSet {
            task_id,
            criteria: vec![CriterionNote {
                text: "It works".into(),
                checked: true,
                check: Some("test".into()),
            }],
        },
        Event::CriteriaJudged {
            task_id,
            findings: Findings {
                agent_id: agent("judge"),
                commit: commit(1),
                results: vec![Finding { criterion: "It works".into(), met: true }],
            },
        },
        Event::ProgressLogged { task_id, entry: progress(1) },
        Event::OutputWritten { task_id, digest: "01".into(), summary: "There is a file".into() },
        Event::OutputRemoved { task_id },
        Event::RequirementsEdited { task_id, text: "Text".into() },
        Event::InputsEmbedded {
            task_id,
            inputs: vec![InputNote {
                task_id: id(1),
                digest: "01".into(),
                summary: "There is a file".into(),
                stale: true,
            }],
        },
        Event::TaskCancelled { task_id, reason: Some(reason) },
        Event::TaskHidden { task_id },
        Event::TaskUnhidden { task_id },
        Event::TaskDeleted { task_id },
    ]
}

/// Where an imported task comes from.
pub(crate) fn task_source(done: bool) -> TaskSource {
    TaskSource {
        kind: "specflux".to_owned(),
        folder: ".specflux".to_owned(),
        item: "101".to_owned(),
        digest: "00".to_owned(),
        status: Some("complete".to_owned()),
        done,
        kept: Some(".regatta/imports/00/task-states/task-101-state.md".to_owned()),
    }
}
