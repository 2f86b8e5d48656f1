//! What is kept of one run of a family.

use super::super::Run;
use crate::{RunId, TaskId};
use jiff::Timestamp;
use regatta_flow::{FactName, NodeName, Remembered, Sheet};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// A run, and what followed from its events and those of the runs below it.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) run: Run,
    pub(super) parent: Option<RunId>,
    /// The key of the item that it was started for.
    pub(super) key: Option<String>,
    pub(super) started_at: Option<Timestamp>,
    pub(super) ended_at: Option<Timestamp>,
    /// When it had ended that it was imported from.
    pub(super) imported_end: Option<Timestamp>,
    /// When something last happened to it or below it.
    pub(super) updated_at: Timestamp,
    /// The steps and sessions, with those below it.
    pub(super) steps: u64,
    pub(super) sessions: u64,
    pub(super) roles: BTreeMap<String, RoleState>,
    /// The roles that the current node asks for: several, if it is a `parallel` node.
    pub(super) visiting: Vec<Visit>,
    pub(super) children: Vec<ChildState>,
    pub(super) places: BTreeMap<String, usize>,
    /// The tasks that it sees, by key.
    pub(super) work: BTreeMap<String, TaskId>,
    pub(super) log: Log,
    pub(super) letters: Log,
    pub(super) stamps: Stamps,
    /// The counter of the last change of anything.
    pub(super) changed: u64,
    pub(super) made: BTreeMap<FactName, (u64, Arc<Value>)>,
    /// The keys of the work that changed since its value was made.
    pub(super) stale_work: BTreeSet<String>,
    pub(super) views: Remembered,
    /// The counter as of which each view was evaluated.
    pub(super) views_at: BTreeMap<String, u64>,
}

/// The counters of the last changes.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    pub(super) fields: BTreeMap<String, u64>,
    /// Of what changed in a way that names no field.
    pub(super) any_field: u64,
    pub(super) facts: BTreeMap<FactName, u64>,
}

/// The last session of a role.
#[derive(Debug, Clone, Default)]
pub(super) struct RoleState {
    pub(super) status: RoleStatus,
    pub(super) visits: u64,
    pub(super) started_at: Option<Timestamp>,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) said: Option<String>,
    /// Its code and its message.
    pub(super) error: Option<Value>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum RoleStatus {
    #[default]
    Idle,
    Waiting,
    Running,
    Completed,
    Failed,
}

impl RoleStatus {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            RoleStatus::Idle => "idle",
            RoleStatus::Waiting => "waiting",
            RoleStatus::Running => "running",
            RoleStatus::Completed => "completed",
            RoleStatus::Failed => "failed",
        }
    }
}

/// A node that is performed by a role.
#[derive(Debug)]
pub(super) struct Visit {
    pub(super) node: NodeName,
    pub(super) role: String,
    pub(super) since: Timestamp,
    /// Whether a session of it has begun.
    pub(super) has_begun: bool,
}

/// A child of a `map` node, or an item that waits to become one.
#[derive(Debug)]
pub(super) struct ChildState {
    pub(super) key: String,
    pub(super) input: Arc<Value>,
    pub(super) workflow: String,
    pub(super) run: Option<RunId>,
    /// What its run would begin with.
    pub(super) waiting: Option<Box<Sheet>>,
    /// The counter as of which it was put into the list of the run above.
    pub(super) made_at: u64,
}

/// A list of which the oldest entries are only counted.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) entries: VecDeque<Value>,
    pub(super) more: u64,
}

impl Member {
    pub(super) fn new(run: Run, key: Option<String>) -> Self {
        let (parent, at) = (run.parent.as_ref().map(|parent| parent.run_id), run.created_at);
        Member {
            run,
            parent,
            key,
            started_at: None,
            ended_at: None,
            imported_end: None,
            updated_at: at,
            steps: 0,
            sessions: 0,
            roles: BTreeMap::new(),
            visiting: Vec::new(),
            children: Vec::new(),
            places: BTreeMap::new(),
            work: BTreeMap::new(),
            log: Log::default(),
            letters: Log::default(),
            stamps: Stamps::default(),
            changed: 0,
            made: BTreeMap::new(),
            stale_work: BTreeSet::new(),
            views: Remembered::default(),
            views_at: BTreeMap::new(),
        }
    }

    /// Takes over what a run that this one was forked from had.
    pub(super) fn inherit(&mut self, from: Member) {
        self.children = from.children;
        self.places = from.places;
        self.children.iter_mut().for_each(|child| child.made_at = 0);
        self.stale_work = from.work.keys().cloned().collect();
        self.work = from.work;
        (self.log, self.letters) = (from.log, from.letters);
        (self.steps, self.sessions, self.roles) = (from.steps, from.sessions, from.roles);
    }

    /// Returns the place of the child for a key.
    pub(super) fn find_child(&mut self, key: &str) -> Option<&mut ChildState> {
        self.places.get(key).map(|place| &mut self.children[*place])
    }
}

impl Log {
    pub(super) fn push(&mut self, entry: Value, most: usize, may_go: impl Fn(&Value) -> bool) {
        self.entries.push_back(entry);
        if self.entries.len() > most
            && let Some(oldest) = self.entries.iter().position(may_go)
        {
            self.entries.remove(oldest);
            self.more += 1;
        }
    }
}
