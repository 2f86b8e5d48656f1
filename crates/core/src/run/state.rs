//! A run: its position, its state, and its counters.

use super::{Counts, Edits, Fork, ImportNote, Mapping, Member, MemberState, Next, Parent, RecordingMode};
use crate::{CommitId, Failure, PrdSlug, RunId, TaskId};
use jiff::Timestamp;
use regatta_flow::{EdgeId, NodeName, Sheet};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One play of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its number.
    pub id: RunId,
    /// The workflow's name.
    pub workflow: String,
    /// Names the definition that it plays.
    pub digest: String,
    /// The child within that definition, for a run of a `map` node.
    pub within: Vec<String>,
    /// The level of the workflow.
    pub level: u32,
    /// Whether its items are tasks on the board.
    pub board: bool,
    /// Whether those of its children are, though it has none itself.
    #[serde(default)]
    pub board_below: bool,
    /// The recording that it is recorded on, or played from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<RecordingMode>,
    /// The PRD that it began with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prd: Option<PrdSlug>,
    /// What its expressions read: the state, what it was given, and what a person said last or null.
    pub sheet: Sheet,
    /// How often each edge was taken, by scope.
    pub taken: Counts,
    /// How often each node was performed, by item.
    pub visits: Counts,
    /// Its items that are on the board.
    pub tasks: BTreeMap<String, TaskId>,
    /// Those of them that it has taken up, and has neither landed nor given up.
    #[serde(default)]
    pub driven: BTreeSet<String>,
    /// Those whose work was cancelled, as the run knows, and that no node has worked on since.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub withdrawn: BTreeSet<String>,
    /// What the branch of each stood at after the last node that worked on it.
    #[serde(default)]
    pub heads: BTreeMap<String, CommitId>,
    /// Those that a fork begins again, though work on them had begun.
    #[serde(default, alias = "anew")]
    pub restarted: Vec<String>,
    /// How often a person sent each of them back.
    pub sent_back: BTreeMap<String, u32>,
    /// The step that it is at, from 1.
    pub step: u64,
    /// The node that it is at.
    pub node: NodeName,
    /// The item that the node works on.
    pub item: Option<String>,
    /// The member that this is the view of, if it is one: the run itself is at a `parallel` node.
    #[serde(skip)]
    pub member: Option<Member>,
    /// What it does, or how it ended.
    pub situation: Situation,
    /// The run that waits for it.
    pub parent: Option<Parent>,
    /// Where it was forked from.
    pub forked: Option<Fork>,
    /// The files that it was made of, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportNote>,
    /// Where the files are that follow it, by their names: folder and path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Whether it begins with a node that performs nothing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub passes: bool,
    /// What somebody edited in its files.
    #[serde(default, skip_serializing_if = "Edits::is_empty")]
    pub edits: Edits,
    /// When it was created.
    pub created_at: Timestamp,
    /// When something last happened to it.
    pub updated_at: Timestamp,
}

/// What a run does, or how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Situation {
    /// It is at a step.
    Working(Working),
    /// It ended well.
    Completed {
        /// What it leaves to the run that waits for it.
        result: Value,
    },
    /// It ended badly.
    Failed {
        /// Why.
        error: Failure,
    },
}

/// A run that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Working {
    /// How far it is with its step.
    pub phase: Phase,
    /// Whether what the phase needs has been asked for and has not been answered.
    pub is_asked: bool,
    /// Why nothing more is asked for, if so.
    pub hold: Option<Hold>,
    /// Whether the run that waits for it is paused, or one above that: then nothing more is asked for either.
    pub is_parent_paused: bool,
}

/// How far a run is with its step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// Its items are being put on the board; then the node is performed.
    Publishing {
        /// What a fork does instead, once it has taken up the items that had been begun.
        then: Option<Next>,
        /// What is done instead, if the node is not simply performed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<Box<Next>>,
    },
    /// The node is being performed.
    Performing {
        /// How often the role was asked again.
        asks: u32,
        /// What was wrong with its last output.
        faults: Vec<String>,
    },
    /// Several nodes are being performed at the same time.
    Parallel {
        /// Those nodes.
        members: Vec<MemberState>,
    },
    /// The node performs nothing; the next event is its step.
    Passing,
    /// A person is asked.
    Asking {
        /// What.
        question: String,
    },
    /// Runs of another workflow do the work.
    Mapping(Mapping),
    /// A task is up for approval.
    Landing {
        /// The edge that the run then follows.
        edge: EdgeId,
        /// The key of the task.
        item: String,
        /// The task.
        task: TaskId,
        /// What the node returned that the edge leaves; its `set` sees it when the task has landed.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        output: Value,
    },
    /// The end was reached; the next event says how.
    Ending,
}

/// Why nothing more is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "hold", rename_all = "snake_case")]
pub enum Hold {
    /// A person paused it.
    Paused,
    /// A person stops it.
    Stopping {
        /// Why.
        reason: Option<String>,
    },
    /// Something outside went wrong; resuming tries again.
    Error {
        /// What.
        error: Failure,
    },
}

/// What a run is, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are those of the contract")]
pub enum Status {
    Created,
    Running,
    Paused,
    Completed,
    Failed,
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Status::Created => "created",
            Status::Running => "running",
            Status::Paused => "paused",
            Status::Completed => "completed",
            Status::Failed => "failed",
        })
    }
}

impl Run {
    /// Returns what it is in one word: a run that waits for a person is paused.
    pub fn status(&self) -> Status {
        let working = match &self.situation {
            Situation::Working(working) => working,
            Situation::Completed { .. } => return Status::Completed,
            Situation::Failed { .. } => return Status::Failed,
        };
        match &working.phase {
            Phase::Asking { .. } | Phase::Landing { .. } => Status::Paused,
            _ if working.pauses_children() && !working.is_asked => Status::Paused,
            // Nothing is asked for while its children run.
            Phase::Mapping(_) => Status::Running,
            _ if self.step == 1 && (!working.is_asked || self.passes) => Status::Created,
            _ => Status::Running,
        }
    }

    /// Returns what it does, unless it has ended.
    pub fn working(&self) -> Option<&Working> {
        if let Situation::Working(working) = &self.situation { Some(working) } else { None }
    }

    /// Returns how far it is with its step, unless it has ended.
    pub fn phase(&self) -> Option<&Phase> {
        self.working().map(|working| &working.phase)
    }

    /// Returns why nothing more is asked for, because of itself.
    pub fn hold(&self) -> Option<&Hold> {
        self.working().and_then(|working| working.hold.as_ref())
    }

    /// Tells whether something has been asked for and not been answered.
    pub fn is_asked(&self) -> bool {
        self.working().is_some_and(|working| working.is_asked)
    }

    /// Tells whether the run that waits for it is paused, or one above that.
    pub fn is_parent_paused(&self) -> bool {
        self.working().is_some_and(|working| working.is_parent_paused)
    }

    /// Tells whether the items of its family become tasks, wherever a workflow has a board.
    pub fn wants_board(&self) -> bool {
        self.board || self.board_below
    }

    /// Tells whether nothing more is asked for, because of itself or of a run above it.
    pub fn is_held(&self) -> bool {
        self.working().is_some_and(Working::is_held)
    }

    /// Tells whether its children are to ask for nothing more either.
    pub fn pauses_children(&self) -> bool {
        self.working().is_some_and(Working::pauses_children)
    }

    /// Tells whether its node is not to be performed now, if nobody has begun to.
    pub fn may_be_put_off(&self) -> bool {
        let is_put_off = |working: &Working| {
            let is_performing = matches!(working.phase, Phase::Performing { .. } | Phase::Parallel { .. });
            is_performing && working.is_asked && working.pauses_children()
        };
        self.working().is_some_and(is_put_off)
    }

    /// Tells whether it has ended.
    pub fn is_over(&self) -> bool {
        !matches!(self.situation, Situation::Working(_))
    }

    /// Returns how often an edge was taken in a scope.
    pub fn count_taken(&self, edge: &EdgeId, scope: &str) -> u32 {
        count(&self.taken, edge.as_str(), scope)
    }

    /// Returns how often the current node was performed for its item before.
    pub fn count_visits(&self) -> u32 {
        count(&self.visits, self.node.as_str(), self.item.as_deref().unwrap_or_default())
    }

    /// Tells whether a node has worked on an item.
    pub fn has_begun(&self, item: &str) -> bool {
        self.visits.values().any(|items| items.contains_key(item))
    }

    /// Tells whether the current node works on an item that should be on the board and is not.
    pub(super) fn lacks_task(&self) -> bool {
        let of_members = self.members().iter().filter_map(|state| state.member.item.as_ref());
        let mut items = self.item.iter().chain(of_members);
        self.board && items.any(|item| !self.tasks.contains_key(item))
    }

    /// Returns the task that the current node works on, if it is on the board.
    pub fn find_task(&self) -> Option<TaskId> {
        self.tasks.get(self.item.as_deref()?).copied()
    }
}

impl Working {
    /// Begins with a phase for which nothing is asked yet.
    pub(super) fn new(phase: Phase, is_parent_paused: bool) -> Self {
        Working { phase, is_asked: false, hold: None, is_parent_paused }
    }

    /// Tells whether nothing more is asked for, because of itself or of a run above it.
    pub(super) fn is_held(&self) -> bool {
        self.hold.is_some() || self.is_parent_paused
    }

    fn pauses_children(&self) -> bool {
        self.is_held() && !self.is_stopping()
    }

    /// Tells whether a person stops it.
    pub(super) fn is_stopping(&self) -> bool {
        matches!(self.hold, Some(Hold::Stopping { .. }))
    }

    /// Tells whether something is under way that must be stopped before the run can end.
    pub(super) fn is_at_work(&self) -> bool {
        match &self.phase {
            Phase::Performing { .. } | Phase::Parallel { .. } => self.is_asked,
            Phase::Mapping(mapping) => mapping.is_under_way(),
            _ => false,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

fn count(counts: &Counts, name: &str, key: &str) -> u32 {
    counts.get(name).and_then(|keys| keys.get(key)).copied().unwrap_or_default()
}
