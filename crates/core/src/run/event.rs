//! What happens to a run, in the words of the log.
//!
//! A step is one event: what the node returned, what was assigned, which edges were evaluated and what they
//! saw, and where the run goes next. Folding it needs neither the workflow nor an expression.

use super::{EditMark, Import, Mail, Member, MemberCame, Outcome};
use crate::message::Party;
use crate::{AgentId, CommitId, Failure, PrdSlug, RunId, TaskId};
use regatta_flow::{EdgeId, NodeName, Patch, Tried};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;
use std::collections::BTreeMap;

events! {
    /// Everything that can happen to a run, and to the workflows that runs play.
    pub enum Event {
        WorkflowKept = "workflow:kept" { digest: String, name: String, files: BTreeMap<String, String> },
        RunCreated = "run:created" { run_id: RunId, plan: Box<Begin> },
        RunPublished = "run:published" { run_id: RunId, step: u64, tasks: BTreeMap<String, TaskId> },
        RunStepped = "run:stepped" {
            run_id: RunId,
            step: u64,
            node: NodeName,
            output: Value,
            /// What the branch of the node's task stood at afterwards.
            head: Option<CommitId>,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            set: Vec<Patch>,
            choice: Choice,
            #[serde(default, skip_serializing_if = "Mail::is_empty")]
            messages: Mail,
            next: Next,
            /// What came of the node, or of the task that it submitted, if not a result.
            outcome: Option<Box<Outcome>>,
            /// The number of the last event of the log that the facts are as of, which an expression read.
            seen: Option<u64>,
        },
        /// A member of a `parallel` node returned something or failed; with the last one the step follows.
        RunMemberEnded = "run:member_ended" { run_id: RunId, step: u64, node: NodeName, came: MemberCame },
        RunOutputRefused = "run:output_refused" { run_id: RunId, step: u64, faults: Vec<String>, asks: u32 },
        RunAgentRefused = "run:agent_refused" { run_id: RunId, step: u64, agent_id: AgentId, what: String },
        RunChildrenStarted = "run:children_started" { run_id: RunId, step: u64, children: BTreeMap<String, RunId> },
        RunChildEnded = "run:child_ended" { run_id: RunId, step: u64, item: String, child: ChildEnd },
        RunLanded = "run:landed" {
            run_id: RunId,
            step: u64,
            task_id: TaskId,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            set: Vec<Patch>,
            #[serde(default, skip_serializing_if = "Mail::is_empty")]
            messages: Mail,
            next: Next,
            seen: Option<u64>,
        },
        RunSentBack = "run:sent_back" {
            run_id: RunId,
            step: u64,
            task_id: TaskId,
            feedback: String,
            fail: Option<String>,
            drop: Option<String>,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            set: Vec<Patch>,
            #[serde(default, skip_serializing_if = "Mail::is_empty")]
            messages: Mail,
            next: Next,
            seen: Option<u64>,
        },
        RunSignalled = "run:signalled" {
            run_id: RunId,
            step: u64,
            signal: String,
            input: Value,
            /// Who sent it.
            from: Party,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            set: Vec<Patch>,
            #[serde(default, skip_serializing_if = "Mail::is_empty")]
            messages: Mail,
            /// The items of a run that continues which get new tasks: a person merged or cancelled theirs.
            #[serde(default, alias = "anew", skip_serializing_if = "Vec::is_empty")]
            restarted: Vec<String>,
            /// Where a run continues that had ended.
            next: Option<Next>,
            seen: Option<u64>,
        },
        /// Somebody edited a file of the run; it may come in the middle of a step.
        RunEdited = "run:edited" {
            run_id: RunId,
            step: u64,
            #[serde(flatten)]
            mark: EditMark,
            set: Vec<Patch>,
        },
        /// An edit that could not be taken in is kept beside the file; or the run has replaced what it had changed.
        RunEditKept = "run:edit_kept" {
            run_id: RunId,
            step: u64,
            #[serde(flatten)]
            mark: EditMark,
            kept: String,
            error: Failure,
        },
        RunHeld = "run:held" { run_id: RunId, step: u64, error: Failure },
        /// A step was not begun, because the run was paused before somebody came to perform it.
        RunPutOff = "run:put_off" { run_id: RunId, step: u64 },
        RunPaused = "run:paused" { run_id: RunId },
        RunResumed = "run:resumed" { run_id: RunId },
        RunParentPaused = "run:parent_paused" { run_id: RunId },
        RunParentResumed = "run:parent_resumed" { run_id: RunId },
        RunStopping = "run:stopping" { run_id: RunId, reason: Option<String> },
        RunCompleted = "run:completed" {
            run_id: RunId,
            #[serde(default, skip_serializing_if = "Value::is_null")]
            result: Value,
        },
        RunFailed = "run:failed" {
            run_id: RunId,
            error: Failure,
            #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
            output: Option<Value>,
            /// What came of the node, or of the task that it submitted, when the failure came of an edge for that.
            outcome: Option<Box<Outcome>>,
            seen: Option<u64>,
        },
    }
}

/// What a run has to do with a recording, by its folder.
///
/// It belongs to the run and not to an engine, so that any engine that continues the run continues the recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordingMode {
    /// What its roles do is kept there.
    Record(String),
    /// What its roles do is there, and no agent works.
    Replay(String),
}

/// What a run begins with.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Begin {
    /// The workflow's name.
    pub workflow: String,
    /// Names the definition that is kept in the log.
    pub digest: String,
    /// The child within that definition, for a run of a `map` node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
    /// The level of the workflow.
    pub level: u32,
    /// Whether its items are tasks on the board.
    pub board: bool,
    /// Whether those of its children are, though it has none itself.
    #[serde(default, skip_serializing_if = "is_false")]
    pub board_below: bool,
    /// The recording that it is recorded on, or played from.
    #[serde(rename = "tape")]
    pub recording: Option<RecordingMode>,
    /// The PRD that it began with; its tasks are linked to it.
    pub prd: Option<PrdSlug>,
    /// What it is given.
    pub input: Value,
    /// The state.
    pub state: Value,
    /// What a person said last, when it was forked.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub feedback: Value,
    /// How often each edge was taken, by scope; not empty when it was forked.
    #[serde(default, skip_serializing_if = "Counts::is_empty")]
    pub taken: Counts,
    /// How often each node was performed, by item; not empty when it was forked.
    #[serde(default, skip_serializing_if = "Counts::is_empty")]
    pub visits: Counts,
    /// Its items that are on the board already.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tasks: BTreeMap<String, TaskId>,
    /// The commits that its other items stood at, when it was forked in the middle of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub heads: BTreeMap<String, CommitId>,
    /// Those of them for which no commit is known, so that they begin again.
    #[serde(default, alias = "anew", skip_serializing_if = "Vec::is_empty")]
    pub restarted: Vec<String>,
    /// The step that it begins with.
    pub step: u64,
    /// What it does first.
    pub next: Next,
    /// Whether the node of that performs nothing: until it is left, nothing has begun.
    #[serde(default, skip_serializing_if = "is_false")]
    pub passes: bool,
    /// The item that a question is about, when it was forked at one.
    pub item: Option<String>,
    /// Whether the items that had been begun are taken up before that, when it was forked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub takes_up: bool,
    /// The run that waits for it, if it is a child.
    pub parent: Option<Parent>,
    /// Whether that run was paused already, or one above it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_parent_paused: bool,
    /// The run and the step that it was forked from.
    pub forked: Option<Fork>,
    /// The files that it was made of, if it was.
    pub imported: Option<Box<Import>>,
    /// Where the files are that follow it, by their names: folder and path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// Counts by name and key.
pub type Counts = BTreeMap<String, BTreeMap<String, u32>>;

/// Which run waits for a child, and as what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parent {
    /// The run.
    pub run_id: RunId,
    /// The key of the item.
    pub item: String,
    /// The item's task on the board of that run. A child that has no board of its own works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

/// Where a run was forked from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fork {
    /// The run.
    pub run_id: RunId,
    /// The step before which it leaves the other.
    pub step: u64,
}

/// Which edge was taken after a node, and what was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The edge.
    pub edge: EdgeId,
    /// The scope that its counter belongs to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// The route that it took because it was used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exhausted: Option<usize>,
    /// The task that is left to a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail: Option<String>,
    /// The task that is cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop: Option<String>,
    /// Each edge that was looked at, with whether it held and what it saw.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
}

/// What a run does next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Next {
    /// Performs a node: a role, or the project's checks.
    Perform {
        /// The node.
        node: NodeName,
        /// The item that it works on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<String>,
    },
    /// Performs several nodes at the same time.
    Parallel {
        /// The node.
        node: NodeName,
        /// Those that it performs.
        members: Vec<Member>,
    },
    /// Performs nothing; the step of the node is the next event.
    Pass {
        /// The node.
        node: NodeName,
    },
    /// Asks a person.
    Ask {
        /// The node.
        node: NodeName,
        /// What is asked.
        question: String,
    },
    /// Runs a workflow for each of several items.
    Map {
        /// The node.
        node: NodeName,
        /// The child workflow.
        workflow: String,
        /// The items.
        items: Vec<Item>,
        /// How many run at once.
        max_parallel: u32,
        /// Whether the items are put on the board first, because their runs have no board of their own.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        publishes: bool,
    },
    /// Puts a task up for approval and waits until it is merged or sent back.
    Land {
        /// The node it comes from.
        node: NodeName,
        /// The edge that it then follows.
        edge: EdgeId,
        /// The key of the task.
        item: String,
        /// The task.
        task_id: TaskId,
    },
    /// Ends; how is said by the next event.
    End {
        /// The node.
        node: NodeName,
    },
}

/// One item of a `map` node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its key.
    pub key: String,
    /// The keys of the items that must have completed before it starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends: Vec<String>,
    /// What its run is given.
    pub input: Value,
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ChildEnd {
    /// Well.
    Completed {
        /// What it leaves.
        result: Value,
    },
    /// Badly.
    Failed {
        /// Why.
        error: Failure,
    },
    /// Not started, because an item that it depends on did not complete.
    Skipped,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// An output that is null was given all the same.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Event {
    /// Returns the number of the last event that the facts are as of, if the decision read a fact.
    pub fn seen(&self) -> Option<u64> {
        match self {
            Event::RunStepped { seen, .. }
            | Event::RunLanded { seen, .. }
            | Event::RunSentBack { seen, .. }
            | Event::RunSignalled { seen, .. }
            | Event::RunFailed { seen, .. } => *seen,
            _ => None,
        }
    }

    /// Returns the messages that go out with it.
    pub fn mail(&self) -> Option<&Mail> {
        match self {
            Event::RunStepped { messages, .. }
            | Event::RunLanded { messages, .. }
            | Event::RunSentBack { messages, .. }
            | Event::RunSignalled { messages, .. } => Some(messages),
            _ => None,
        }
    }

    pub(super) fn mail_mut(&mut self) -> Option<&mut Mail> {
        match self {
            Event::RunStepped { messages, .. }
            | Event::RunLanded { messages, .. }
            | Event::RunSentBack { messages, .. }
            | Event::RunSignalled { messages, .. } => Some(messages),
            _ => None,
        }
    }

    /// What the kinds of this family begin with.
    pub const SUBJECTS: &'static [&'static str] = &["workflow", "run"];

    /// Returns the run it happened to, if it was one.
    pub fn find_run(&self) -> Option<RunId> {
        match self {
            Event::WorkflowKept { .. } => None,
            Event::RunCreated { run_id, .. }
            | Event::RunPublished { run_id, .. }
            | Event::RunStepped { run_id, .. }
            | Event::RunMemberEnded { run_id, .. }
            | Event::RunOutputRefused { run_id, .. }
            | Event::RunAgentRefused { run_id, .. }
            | Event::RunChildrenStarted { run_id, .. }
            | Event::RunChildEnded { run_id, .. }
            | Event::RunLanded { run_id, .. }
            | Event::RunSentBack { run_id, .. }
            | Event::RunSignalled { run_id, .. }
            | Event::RunEdited { run_id, .. }
            | Event::RunEditKept { run_id, .. }
            | Event::RunHeld { run_id, .. }
            | Event::RunPutOff { run_id, .. }
            | Event::RunPaused { run_id }
            | Event::RunResumed { run_id }
            | Event::RunParentPaused { run_id }
            | Event::RunParentResumed { run_id }
            | Event::RunStopping { run_id, .. }
            | Event::RunCompleted { run_id, .. }
            | Event::RunFailed { run_id, .. } => Some(*run_id),
        }
    }
}
