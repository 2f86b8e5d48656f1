//! Orders, with payloads that cannot be wrong.
//!
//! A payload is checked when it is made, and all bad fields are named at once. What was seen outside (a
//! commit, a dirty file) is part of the command, because rules do not look at the world.

use crate::comment::{Comment, check_comments, reason_for};
use crate::machine::CommandKind;
use crate::{
    AgentId, CheckoutNote, CommentAnswers, CommitId, Diff, Edit, EpicId, Evidence, Failure, FailureClass,
    Findings, Forecast, MovedRefs, PrdSlug, Priority, RunId, Salvage, TaskId, TaskSource, Worked, plain_text,
};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeSet;

const TITLE_CHARACTERS_MAX: usize = 200;
const DESCRIPTION_CHARACTERS_MAX: usize = 20_000;
const CRITERION_CHARACTERS_MAX: usize = 1_000;
const CRITERIA_MAX: usize = 100;
/// More are a sign of a task that should be split.
pub(crate) const DEPENDENCIES_MAX: usize = 100;
const REJECT_REASON_CHARACTERS_MAX: usize = 1_000;
const REJECT_FEEDBACK_CHARACTERS_MAX: usize = 5_000;
const APPROVE_FEEDBACK_CHARACTERS_MAX: usize = 1_000;
const CANCEL_REASON_CHARACTERS_MAX: usize = 500;
/// Shorter abbreviations of a commit name too many commits.
const HEAD_DIGITS_MIN: usize = 7;

/// An order to a task, or the report of something that happened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Make a task.
    Create(Create),
    /// Change what a task depends on.
    Depend(Depend),
    /// Give a task to an agent.
    Assign(Assign),
    /// Do a task oneself.
    Take(Take),
    /// Give a task to another agent, or to oneself.
    Reassign(Reassign),
    /// Take a task out of the queue.
    Dequeue,
    /// Record that a queued task cannot currently be assigned.
    NoteUnassignable(Failure),
    /// Put the work up for approval.
    Complete(Complete),
    /// Put up what is in the worktree, no matter who wrote it.
    Submit(Complete),
    /// Merge it.
    Approve(Approve),
    /// Send it back.
    Reject(Reject),
    /// Give up the work, but keep it as a salvage.
    Cancel(Cancel),
    /// Continue work whose session broke off.
    Resume(Feedback),
    /// Delete a task that was never assigned.
    Delete,
    /// Take a verified task out of the list, or put it back.
    Hide {
        /// Whether it is hidden from now on.
        hidden: bool,
    },
    /// Record a change of the task file.
    Edit(Edit),
    /// Record that an agent asked for something that it may not have.
    NoteRefused(Refused),
    /// Record that refs moved while an agent worked, and not by us.
    NoteMovedRefs(MovedRefs),
    /// Record what the task is going to collide with.
    NoteCollisions(Forecast),
    /// Record what a session added.
    NoteWorked(Worked),
    /// Record the outcome of an effect.
    Report(Outcome),
}

/// One bad field of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldFault {
    /// The field, as it is called in the payload.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: String,
}

/// Makes a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Create {
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) criteria: Vec<String>,
    pub(crate) dependencies: BTreeSet<TaskId>,
    pub(crate) priority: Priority,
    pub(crate) epic: Option<EpicId>,
    pub(crate) prd: Option<PrdSlug>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<TaskSource>,
}

/// Changes what a task says of itself; what is not named stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Revise {
    /// A new title.
    pub title: Option<String>,
    /// A new description.
    pub description: Option<String>,
    /// All criteria; those that are there already keep their ticks.
    pub criteria: Option<Vec<String>>,
    /// A new priority.
    pub priority: Option<Priority>,
    /// Another epic, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epic: Option<Option<EpicId>>,
    /// Another PRD, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prd: Option<Option<PrdSlug>>,
}

/// Changes what a task depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Depend {
    /// The tasks it shall depend on besides.
    pub add: BTreeSet<TaskId>,
    /// The tasks it shall no longer depend on.
    pub remove: BTreeSet<TaskId>,
}

/// Gives a task to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assign {
    /// Whom it is given to.
    pub to: Assignee,
    /// A new priority, if one was given.
    pub priority: Option<Priority>,
    /// Where its branch would start, as seen when the order was given.
    pub start: Start,
    /// The run that works on it, step by step, instead of one session.
    pub run: Option<RunId>,
    /// Whether that run is played from a recording: then no agent of the config is started.
    pub is_recorded: bool,
    /// Whether it waits in the queue when nobody is free; otherwise that is a refusal.
    pub may_queue: bool,
}

/// Whom a task is given to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Assignee {
    /// The only agent of the project, or the one that the config names.
    Default,
    /// This agent.
    Agent(AgentId),
    /// The first agent that is free.
    Any,
}

impl From<AgentId> for Assignee {
    /// Takes an agent by its name; [`AgentId::any`] stands for any of them.
    fn from(agent: AgentId) -> Self {
        if agent.is_any() { Assignee::Any } else { Assignee::Agent(agent) }
    }
}

/// Does a task oneself: a worktree is made, and no session is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Take {
    /// A new priority, if one was given.
    pub priority: Option<Priority>,
    /// Where its branch would start, as seen when the order was given.
    pub start: Start,
}

/// Gives a task to another agent, or to oneself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reassign {
    pub(crate) to: Option<AgentId>,
    pub(crate) stop: bool,
    pub(crate) feedback: Option<String>,
    pub(crate) start: Start,
}

/// Where a task's branch starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The branch to merge into.
    pub target: String,
    /// That branch's head, or the commit at which the two part if the work begins elsewhere.
    pub base: CommitId,
    /// The commit to begin with, if work was begun before; otherwise the base.
    pub from: Option<CommitId>,
    /// The folder that holds all worktrees.
    pub folder: String,
}

/// Puts the work up for approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complete {
    pub(crate) diff: Diff,
    pub(crate) turn_count: u32,
    pub(crate) summary: Option<String>,
}

/// Merges the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approve {
    pub(crate) feedback: Option<String>,
    pub(crate) head: Option<String>,
    pub(crate) seen: Seen,
    pub(crate) anyway: bool,
}

/// What the worktree looked like when the order was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The head of the task's branch, if the branch is there.
    pub head: Option<CommitId>,
    /// The files that are not committed.
    pub dirty: Vec<String>,
    /// Whether the target no longer holds the commit that the diff starts from.
    pub is_base_gone: bool,
}

/// Sends the work back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    pub(crate) reason: String,
    pub(crate) feedback: Option<String>,
    pub(crate) comments: Vec<Comment>,
    pub(crate) agent: Option<AgentId>,
}

/// Gives up the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancel {
    pub(crate) reason: Option<String>,
}

/// What a person adds when work continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    pub(crate) text: Option<String>,
}

/// A session that broke off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFailure {
    /// What went wrong.
    pub failure: Failure,
    /// Its class, by which the answer is chosen.
    pub class: FailureClass,
    /// When to come back, if the provider named a time.
    pub until: Option<Timestamp>,
    /// When it broke off.
    pub at: Timestamp,
}

/// Something that an agent asked for and may not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The agent.
    pub agent: AgentId,
    /// Its session.
    pub session: u32,
    /// What it asked for.
    pub what: String,
}

/// The outcome of an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is the outcome of the effect of the same subject")]
pub enum Outcome {
    WorktreeCreated,
    WorktreeNotCreated(Failure),
    SessionStarted { session: u32 },
    SessionNotStarted { session: u32, failure: Failure },
    SessionEnded { session: u32, end: SessionEnd },
    RoleStarted { agent: AgentId, session: u32 },
    RoleEnded { session: u32 },
    RoleWrote { session: u32, salvage: Salvage },
    RoleBroke { session: u32, breakdown: SessionFailure },
    WaitOver { session: u32 },
    RunOver { run: RunId, end: RunEnd },
    DiffRecorded,
    DiffNotRecorded(Failure),
    AgentPaused,
    AgentNotPaused(Failure),
    ChecksRan { commit: CommitId, results: Vec<Evidence> },
    ChecksNotRun(Failure),
    PolicyRefused(Failure),
    Merged { commit: CommitId, checkouts: Vec<CheckoutNote> },
    NotMerged { files: Vec<String>, failure: Failure },
    AgentStopped,
    AgentNotStopped(Failure),
    WorktreeRemoved { salvage: Option<Salvage> },
    WorktreeNotRemoved(Failure),
    CriteriaJudged(Findings),
    CommentsAnswered(CommentAnswers),
    FileWritten { digest: String },
    FileNotWritten(Failure),
    FileCorrupt { kept: String, failure: Failure },
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEnd {
    /// Well: everything is committed, and this is the diff.
    Finished(Complete),
    /// It broke off, for a reason that has its own answer.
    Broken(SessionFailure),
    /// Badly, for another reason.
    Failed(Failure),
    /// Stopped by us.
    Stopped,
}

/// How the run ended that worked on a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// Well, but without submitting the task.
    Completed,
    /// Badly.
    Failed(Failure),
}

impl Command {
    /// Returns which of the five commands of the machine it is.
    pub fn kind(&self) -> Option<CommandKind> {
        Some(match self {
            Command::Assign(_) | Command::Take(_) => CommandKind::Assign,
            Command::Complete(_) => CommandKind::Complete,
            Command::Approve(_) => CommandKind::Approve,
            Command::Reject(_) => CommandKind::Reject,
            Command::Cancel(_) => CommandKind::Cancel,
            Command::Create(_)
            | Command::Depend(_)
            | Command::Reassign(_)
            | Command::Submit(_)
            | Command::Delete
            | Command::Hide { .. }
            | Command::Dequeue
            | Command::NoteUnassignable(_)
            | Command::Resume(_)
            | Command::Edit(_)
            | Command::NoteRefused(_)
            | Command::NoteMovedRefs(_)
            | Command::NoteCollisions(_)
            | Command::NoteWorked(_)
            | Command::Report(_) => return None,
        })
    }
}

impl Create {
    /// Checks and makes the payload.
    pub fn new(
        title: String,
        description: String,
        criteria: Vec<String>,
        dependencies: BTreeSet<TaskId>,
        priority: Priority,
    ) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Faults::default();
        faults.title(&title);
        faults.description(&description);
        faults.criteria(&criteria);
        faults.require("dependencies", dependencies.len() <= DEPENDENCIES_MAX, "are too many; at most 100");
        let title = title.trim().to_owned();
        let description = plain_text(&description);
        let criteria = criteria.iter().map(|criterion| plain_text(criterion)).collect();
        let (epic, prd, source, branch, base) = (None, None, None, None, None);
        faults.or(Create {
            title,
            description,
            criteria,
            dependencies,
            priority,
            epic,
            prd,
            source,
            branch,
            base,
        })
    }

    /// Names the branch of the task, and the commit or branch that its work starts from.
    #[must_use]
    pub fn starting_from(self, branch: Option<String>, base: Option<String>) -> Self {
        Create { branch, base, ..self }
    }

    /// Files the task under an epic and a PRD; without a PRD of its own it gets that of its epic.
    #[must_use]
    pub fn filed_under(self, epic: Option<EpicId>, prd: Option<PrdSlug>) -> Self {
        Create { epic, prd, ..self }
    }

    /// Says which files of another tool the task is made of.
    #[must_use]
    pub fn imported(self, source: TaskSource) -> Self {
        Create { source: Some(source), ..self }
    }

    /// Tells whether it names an epic or a PRD.
    pub fn is_filed(&self) -> bool {
        self.epic.is_some() || self.prd.is_some()
    }
}

impl Revise {
    /// Checks the payload; one that names nothing is refused too.
    pub fn checked(self) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Faults::default();
        faults.require("title", self != Revise::default(), "or another field must be given");
        if let Some(title) = &self.title {
            faults.title(title);
        }
        if let Some(description) = &self.description {
            faults.description(description);
        }
        if let Some(criteria) = &self.criteria {
            faults.criteria(criteria);
        }
        let title = self.title.as_deref().map(|title| title.trim().to_owned());
        let description = self.description.as_deref().map(plain_text);
        let criteria = self.criteria.as_ref().map(|all| all.iter().map(|one| plain_text(one)).collect());
        faults.or(Revise { title, description, criteria, ..self })
    }
}

impl Complete {
    /// Returns the diff.
    pub fn diff(&self) -> &Diff {
        &self.diff
    }

    /// Checks and makes the payload.
    pub fn new(diff: Diff, turn_count: u32, summary: Option<String>) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Faults::default();
        faults.require("turnCount", turn_count >= 1, "must be at least 1");
        faults.or(Complete { diff, turn_count, summary })
    }
}

impl Feedback {
    /// Checks and makes the payload.
    pub fn new(text: Option<String>) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Faults::default();
        if let Some(text) = &text {
            faults.length("feedback", text, 1, REJECT_FEEDBACK_CHARACTERS_MAX);
        }
        faults.or(Feedback { text })
    }
}

impl Approve {
    /// Checks and makes the payload; `head` is the commit that the approver looked at, perhaps abbreviated.
    pub fn new(feedback: Option<String>, head: Option<String>, seen: Seen) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Faults::default();
        faults.optional("feedback", feedback.as_deref(), APPROVE_FEEDBACK_CHARACTERS_MAX);
        if let Some(head) = &head {
            let good = (HEAD_DIGITS_MIN..=64).contains(&head.len())
                && head.bytes().all(|byte| byte.is_ascii_hexdigit());
            faults.require("head", good, "must be 7 to 64 hexadecimal digits of a commit id");
        }
        let head = head.map(|head| head.to_ascii_lowercase());
        faults.or(Approve { feedback, head, seen, anyway: false })
    }

    /// Approves the diff even if it is not whole.
    #[must_use]
    pub fn anyway(self, anyway: bool) -> Self {
        Approve { anyway, ..self }
    }
}

impl Reassign {
    /// Checks and makes the payload. Without an agent the caller takes the task; `stop` ends a session first, and
    /// `start` is where its branch would start if it is still queued.
    pub fn new(
        to: Option<AgentId>,
        stop: bool,
        feedback: Option<String>,
        start: Start,
    ) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Faults::default();
        faults.optional("feedback", feedback.as_deref(), REJECT_FEEDBACK_CHARACTERS_MAX);
        faults.or(Reassign { to, stop, feedback, start })
    }
}

impl Reject {
    /// Checks and makes the payload.
    pub fn new(reason: String, feedback: Option<String>) -> Result<Self, Vec<FieldFault>> {
        Reject::with_comments(Some(reason), feedback, Vec::new())
    }

    /// Checks and makes the payload of a rejection with comments, which need no other reason.
    pub fn with_comments(
        reason: Option<String>,
        feedback: Option<String>,
        comments: Vec<Comment>,
    ) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Faults::default();
        let by_comments = Some(reason_for(&comments)).filter(|_| !comments.is_empty());
        let reason = reason.or(by_comments).unwrap_or_default();
        faults.length("reason", &reason, 1, REJECT_REASON_CHARACTERS_MAX);
        faults.optional("feedback", feedback.as_deref(), REJECT_FEEDBACK_CHARACTERS_MAX);
        let comments = check_comments(comments, &mut faults);
        faults.or(Reject { reason, feedback, comments, agent: None })
    }

    /// Repeats a rejection from its text, which was checked when it was given.
    pub fn as_recorded(reason: String, feedback: Option<String>) -> Self {
        Reject { reason, feedback, comments: Vec::new(), agent: None }
    }

    /// Returns the comments.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// Replaces the comments by themselves with the lines that they are about.
    #[must_use]
    pub fn quoting(self, comments: Vec<Comment>) -> Self {
        Reject { comments, ..self }
    }

    /// Sends the work to this agent and not to the one that did it.
    #[must_use]
    pub fn handed_to(self, agent: Option<AgentId>) -> Self {
        Reject { agent, ..self }
    }
}

impl Cancel {
    /// Checks and makes the payload.
    pub fn new(reason: Option<String>) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Faults::default();
        faults.optional("reason", reason.as_deref(), CANCEL_REASON_CHARACTERS_MAX);
        faults.or(Cancel { reason })
    }
}

/// Tells whether something may be called so.
pub fn is_title(text: &str) -> bool {
    let mut faults = Faults::default();
    faults.title(text);
    faults.0.is_empty()
}

/// The bad fields that were found so far.
#[derive(Default)]
pub(crate) struct Faults(Vec<FieldFault>);

impl Faults {
    /// Checks what something is called.
    pub(crate) fn title(&mut self, title: &str) {
        self.length("title", title.trim(), 1, TITLE_CHARACTERS_MAX);
        let is_plain = !title.chars().any(char::is_control);
        self.require("title", is_plain, "must be one line without control characters");
    }

    /// Checks what something is about.
    pub(crate) fn description(&mut self, description: &str) {
        self.length("description", description, 0, DESCRIPTION_CHARACTERS_MAX);
    }

    fn criteria(&mut self, criteria: &[String]) {
        self.require("criteria", criteria.len() <= CRITERIA_MAX, "are too many; at most 100");
        for criterion in criteria {
            self.length("criteria", criterion.trim(), 1, CRITERION_CHARACTERS_MAX);
            self.require("criteria", !criterion.contains(['\n', '\r']), "must be one line each");
        }
    }

    pub(crate) fn push(&mut self, field: &'static str, problem: String) {
        self.0.push(FieldFault { field, problem });
    }

    /// Returns the bad fields, with one more as the last.
    pub(crate) fn and(mut self, field: &'static str, problem: String) -> Vec<FieldFault> {
        self.push(field, problem);
        self.0
    }

    pub(crate) fn require(&mut self, field: &'static str, holds: bool, problem: &str) {
        if !holds {
            self.0.push(FieldFault { field, problem: problem.to_owned() });
        }
    }

    pub(crate) fn length(&mut self, field: &'static str, text: &str, min: usize, max: usize) {
        let count = text.chars().count();
        if !(min..=max).contains(&count) {
            let problem = format!("must have {min} to {max} characters, not {count}");
            self.0.push(FieldFault { field, problem });
        }
    }

    fn optional(&mut self, field: &'static str, text: Option<&str>, max: usize) {
        if let Some(text) = text {
            self.length(field, text, 0, max);
        }
    }

    pub(crate) fn or<T>(self, value: T) -> Result<T, Vec<FieldFault>> {
        if self.0.is_empty() { Ok(value) } else { Err(self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{commit, diff};
    use crate::{Code, Refusal};

    fn seen() -> Seen {
        Seen { head: None, dirty: Vec::new(), is_base_gone: false }
    }

    fn fields(faults: Vec<FieldFault>) -> Vec<&'static str> {
        faults.into_iter().map(|fault| fault.field).collect()
    }

    #[test]
    fn limits_count_characters_at_both_ends() {
        let text = |count: usize| "é".repeat(count);
        assert!(Reject::new(text(1), Some(text(5_000))).is_ok());
        assert!(Reject::new(text(1_000), None).is_ok());
        assert_eq!(Reject::new(text(0), Some(text(5_001))).map_err(fields), Err(vec!["reason", "feedback"]));
        assert_eq!(Reject::new(text(1_001), None).map_err(fields), Err(vec!["reason"]));
        assert!(Approve::new(Some(text(1_000)), None, seen()).is_ok());
        assert_eq!(Approve::new(Some(text(1_001)), None, seen()).map_err(fields), Err(vec!["feedback"]));
        assert!(Cancel::new(Some(text(500))).is_ok());
        assert_eq!(Cancel::new(Some(text(501))).map_err(fields), Err(vec!["reason"]));
    }

    #[test]
    fn an_approved_head_is_hexadecimal() {
        assert!(Approve::new(None, Some("ABCDEF0".into()), seen()).is_ok());
        for bad in ["abcdef", "", "HEAD", "--help", &"a".repeat(65)] {
            assert_eq!(
                Approve::new(None, Some(bad.into()), seen()).map_err(fields),
                Err(vec!["head"]),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_session_has_at_least_one_turn() {
        let complete = |turns| Complete::new(diff(1, commit(1)), turns, None).map(|_| ()).map_err(fields);
        assert_eq!((complete(0), complete(1)), (Err(vec!["turnCount"]), Ok(())));
    }

    #[test]
    fn criteria_are_one_line_each_and_bounded_in_number() {
        let create = |criteria: Vec<String>| {
            Create::new("Title".into(), String::new(), criteria, BTreeSet::new(), Priority::Medium)
                .map(|_| ())
                .map_err(fields)
        };
        assert_eq!(create(vec!["It works".into(); 100]), Ok(()));
        assert_eq!(create(vec!["It works".into(); 101]), Err(vec!["criteria"]));
        assert_eq!(create(vec![" ".into(), "a\nb".into()]), Err(vec!["criteria", "criteria"]));
    }

    #[test]
    fn all_bad_fields_are_named_at_once() {
        let faults = Reject::new(String::new(), Some("x".repeat(5_001))).unwrap_err();
        let problem = Refusal::Invalid { faults }.explain();
        assert_eq!(problem.code, Code::ValidationError);
        assert_eq!(
            problem.why,
            [
                "`reason` must have 1 to 1000 characters, not 0; `feedback` must have 0 to 5000 characters, not 5001"
            ]
        );
        assert_eq!(problem.details["fields"][1]["field"], "feedback");
    }

    #[test]
    fn a_title_is_one_line() {
        let create = |title: &str| {
            Create::new(title.into(), String::new(), vec![], BTreeSet::new(), Priority::Medium)
                .map_err(fields)
        };
        assert!(create("x").is_ok());
        assert_eq!(create("  "), Err(vec!["title"]));
        assert_eq!(create("a\nb"), Err(vec!["title"]));
        assert_eq!(create("a\x1b[31m"), Err(vec!["title"]));
        assert_eq!(create(&"x".repeat(201)), Err(vec!["title"]));
    }
}
