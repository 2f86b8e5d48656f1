//! The children of a `map` node: who waits for whom, who is running, and how each ended.
//!
//! A map may have thousands of items, and the start and the end of each is an event of its own. What could be
//! found by looking at all of them is therefore kept in an index, which is built when the children are read
//! and updated with them, so that an end costs no more in a large map than in a small one.

use super::{ChildEnd, Item};
use crate::RunId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The children of a `map` node.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub struct Mapping {
    /// The workflow that they play.
    pub workflow: String,
    /// How many run at once.
    pub max_parallel: u32,
    children: Vec<Child>,
    #[serde(skip)]
    lookup: Box<Lookup>,
}

/// One child of a `map` node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    /// The item.
    pub item: Item,
    /// Its run, once it is started.
    pub run: Option<RunId>,
    /// How it ended.
    pub end: Option<ChildEnd>,
}

/// The children as a snapshot keeps them.
#[derive(Deserialize)]
struct Kept {
    workflow: String,
    max_parallel: u32,
    children: Vec<Child>,
}

/// What follows from the children. A place is the number of a child among them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Lookup {
    by_key: BTreeMap<String, usize>,
    by_run: BTreeMap<RunId, usize>,
    /// By place: those that depend on it, once for each time that they name it.
    dependents: Vec<Vec<usize>>,
    /// By place: how many of those that it depends on have not completed.
    missing: Vec<usize>,
    /// Those that are neither started nor ended, and miss nothing.
    ready: BTreeSet<usize>,
    under_way: BTreeSet<usize>,
    ended: usize,
}

/// The lookup says nothing that the children do not.
impl fmt::Debug for Mapping {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mapping { workflow, max_parallel, children, lookup: _ } = self;
        let mut out = out.debug_struct("Mapping");
        out.field("workflow", workflow)
            .field("max_parallel", max_parallel)
            .field("children", children)
            .finish()
    }
}

impl From<Kept> for Mapping {
    fn from(kept: Kept) -> Self {
        let Kept { workflow, max_parallel, children } = kept;
        let lookup = Box::new(Lookup::of(&children));
        Mapping { workflow, max_parallel, children, lookup }
    }
}

impl Mapping {
    /// Makes the children of these items, none of which is started.
    pub(super) fn new(workflow: String, max_parallel: u32, items: &[Item]) -> Self {
        let child = |item: &Item| Child { item: item.clone(), run: None, end: None };
        Mapping::from(Kept { workflow, max_parallel, children: items.iter().map(child).collect() })
    }

    /// Returns the children, in the order of their items.
    pub fn children(&self) -> &[Child] {
        &self.children
    }

    /// Returns the runs that have begun and not ended, in the order of their items.
    pub fn under_way(&self) -> impl Iterator<Item = RunId> {
        self.lookup.under_way.iter().filter_map(|place| self.children[*place].run)
    }

    /// Returns the items that can be started now.
    pub fn startable(&self) -> Vec<&Item> {
        let free = (self.max_parallel as usize).saturating_sub(self.lookup.under_way.len());
        self.lookup.ready.iter().take(free).map(|place| &self.children[*place].item).collect()
    }

    /// Returns the keys of the items that can never start if this one does not complete, those that depend on it first.
    pub(super) fn find_lost(&self, key: &str) -> Vec<&str> {
        let mut lost = Vec::new();
        let mut seen = BTreeSet::new();
        let mut last: BTreeSet<usize> = self.lookup.by_key.get(key).copied().into_iter().collect();
        while !last.is_empty() {
            let dependents = last.iter().flat_map(|place| &self.lookup.dependents[*place]);
            last = dependents.copied().filter(|place| self.children[*place].waits()).collect();
            last.retain(|place| seen.insert(*place));
            lost.extend(last.iter().map(|place| self.children[*place].item.key.as_str()));
        }
        lost
    }

    /// Tells whether an item waits to be started.
    pub(super) fn is_waiting(&self, key: &str) -> bool {
        self.find(key).is_some_and(Child::waits)
    }

    /// Tells whether a child is under way.
    pub fn is_under_way(&self) -> bool {
        !self.lookup.under_way.is_empty()
    }

    /// Tells whether every item has ended.
    pub fn is_over(&self) -> bool {
        self.count_open() == 0
    }

    /// Counts the items that have not ended.
    pub(super) fn count_open(&self) -> usize {
        self.children.len() - self.lookup.ended
    }

    /// Returns the child for an item.
    pub(super) fn find(&self, key: &str) -> Option<&Child> {
        self.lookup.by_key.get(key).map(|place| &self.children[*place])
    }

    /// Returns the child that a run plays.
    pub(super) fn find_run(&self, run: RunId) -> Option<&Child> {
        self.lookup.by_run.get(&run).map(|place| &self.children[*place])
    }

    /// Records that the run for an item was started.
    pub(super) fn start(&mut self, key: &str, run: RunId) {
        let Some(place) = self.lookup.by_key.get(key).copied() else { return };
        let is_first = self.children[place].waits();
        self.children[place].run = Some(run);
        match is_first {
            true => self.lookup.start(place, run),
            // No run is started twice, but facts are never refused.
            false => *self.lookup = Lookup::of(&self.children),
        }
    }

    /// Records how an item ended.
    pub(super) fn end(&mut self, key: &str, end: ChildEnd) {
        let Some(place) = self.lookup.by_key.get(key).copied() else { return };
        let is_first = self.children[place].end.is_none();
        self.children[place].end = Some(end);
        match is_first {
            true => self.lookup.end(place, &self.children),
            // No item ends twice, but facts are never refused.
            false => *self.lookup = Lookup::of(&self.children),
        }
    }
}

impl Child {
    fn waits(&self) -> bool {
        self.run.is_none() && self.end.is_none()
    }
}

impl Lookup {
    fn of(children: &[Child]) -> Self {
        let mut lookup = Lookup {
            dependents: vec![Vec::new(); children.len()],
            missing: children.iter().map(|child| child.item.depends.len()).collect(),
            ..Lookup::default()
        };
        for (place, child) in children.iter().enumerate() {
            lookup.by_key.entry(child.item.key.clone()).or_insert(place);
        }
        for (place, child) in children.iter().enumerate() {
            for key in &child.item.depends {
                if let Some(on) = lookup.by_key.get(key) {
                    lookup.dependents[*on].push(place);
                }
            }
        }
        lookup.ready = (0..children.len()).filter(|place| lookup.missing[*place] == 0).collect();
        for (place, child) in children.iter().enumerate() {
            if let Some(run) = child.run {
                lookup.start(place, run);
            }
        }
        for (place, child) in children.iter().enumerate() {
            if child.end.is_some() {
                lookup.end(place, children);
            }
        }
        lookup
    }

    fn start(&mut self, place: usize, run: RunId) {
        self.ready.remove(&place);
        self.by_run.insert(run, place);
        self.under_way.insert(place);
    }

    fn end(&mut self, place: usize, children: &[Child]) {
        self.ready.remove(&place);
        self.under_way.remove(&place);
        self.ended += 1;
        if !matches!(children[place].end, Some(ChildEnd::Completed { .. })) {
            return;
        }
        for dependent in &self.dependents[place] {
            self.missing[*dependent] -= 1;
            if self.missing[*dependent] == 0 && children[*dependent].waits() {
                self.ready.insert(*dependent);
            }
        }
    }
}
