//! What is known of a run and of everything below it, as of an event of the log: the facts that expressions read.
//!
//! [`Known::fold`] takes in one event after the other and keeps what follows from it, so a fact costs what has changed
//! and not what has happened. The same events always give the same facts: a replay folds the log up to the number that a
//! step recorded (`seen`). Nothing here reads a log or a repository. Start reading at `fold`, then at `facts`, which
//! makes the values; `member` holds what is kept of one run, and `work` what is kept of one task.
//!
//! Every change raises a counter, and each fact and each field of a state remembers the counter of its last change. What
//! was derived from them is out of date if one of them has a higher counter than the derived value.

mod facts;
mod fold;
mod member;
mod shown;
#[cfg(test)]
mod tests;
mod told;
mod work;

use super::Run;
use crate::{MessageId, RunId, TaskId};
use member::Member;
use regatta_flow::{FactName, Workflow};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use work::TaskWork;

pub use facts::first_facts;
pub(super) use facts::{first_fact, time};
pub use shown::{Shown, ShownFault};

/// As many steps, messages that were read, and commits are kept; the rest is counted.
const KEPT_MAX: usize = 1_000;

/// What is known of a family of runs.
#[derive(Debug)]
pub struct Known {
    /// What the runs play: the outermost workflow, with its children in it.
    definition: Arc<Workflow>,
    root: RunId,
    /// The number of the last event that was folded.
    seen: u64,
    /// Raised by every change.
    counter: u64,
    members: BTreeMap<RunId, Member>,
    tasks: BTreeMap<TaskId, TaskWork>,
    /// The run on whose board a task is.
    owners: BTreeMap<TaskId, RunId>,
    /// The run that a message belongs to.
    messages: BTreeMap<MessageId, RunId>,
    /// What the run that this one was forked from had by then.
    inherited: Option<Box<Member>>,
    /// The views of each workflow that the run above reads, by the names that lead to it.
    read_above: BTreeMap<Vec<String>, BTreeSet<String>>,
}

impl Known {
    /// Knows nothing yet of the run and the runs below it.
    pub fn new(definition: Arc<Workflow>, root: RunId) -> Self {
        let mut read_above = BTreeMap::new();
        find_read_above(&definition, &[], &mut read_above);
        Known {
            definition,
            root,
            seen: 0,
            counter: 0,
            members: BTreeMap::new(),
            tasks: BTreeMap::new(),
            owners: BTreeMap::new(),
            messages: BTreeMap::new(),
            inherited: None,
            read_above,
        }
    }

    /// Begins with what was known of another run, which this one was forked from: its children, its work, its messages
    /// and its steps are this run's too.
    #[must_use]
    pub fn forked(definition: Arc<Workflow>, root: RunId, mut from: Known, run: RunId) -> Self {
        let inherited = from.members.remove(&run).map(Box::new);
        let Known { seen, counter, members, tasks, owners, messages, .. } = from;
        let known = Known::new(definition, root);
        Known { seen, counter, members, tasks, owners, messages, inherited, ..known }
    }

    /// Returns the number of the last event that was folded.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Records that there is nothing more up to an event.
    pub fn see(&mut self, seq: u64) {
        self.seen = self.seen.max(seq);
    }

    /// Returns the outermost run.
    pub fn root(&self) -> RunId {
        self.root
    }

    /// Returns the definition that the family plays, which is that of the outermost run.
    pub fn definition(&self) -> &Arc<Workflow> {
        &self.definition
    }

    /// Returns a run of the family as it is.
    pub fn find_run(&self, run: RunId) -> Option<&Run> {
        self.members.get(&run).map(|member| &member.run)
    }

    /// Lists the runs of the family, the outermost first.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.members.values().map(|member| &member.run)
    }

    /// Returns the workflow that a run of the family plays.
    pub fn workflow_of(&self, run: RunId) -> Option<&Workflow> {
        let member = self.members.get(&run)?;
        Some(find_within(&self.definition, &member.run.within))
    }

    /// Returns the runs above one, the nearest first.
    fn above(&self, run: RunId) -> Vec<RunId> {
        let mut above = Vec::new();
        let mut next = self.members.get(&run).and_then(|member| member.parent);
        while let Some(run) = next.filter(|run| !above.contains(run)) {
            above.push(run);
            next = self.members.get(&run).and_then(|member| member.parent);
        }
        above
    }

    /// Records that a fact of a run changed. The runs above know the run itself by their children.
    fn touch(&mut self, run: RunId, facts: &[FactName]) {
        self.counter += 1;
        let counter = self.counter;
        if let Some(member) = self.members.get_mut(&run) {
            for fact in facts {
                member.stamps.facts.insert(*fact, counter);
            }
            member.changed = counter;
        }
        for run in self.above(run) {
            if let Some(member) = self.members.get_mut(&run) {
                member.stamps.facts.insert(FactName::Children, counter);
                member.changed = counter;
            }
        }
    }
}

/// Returns the child at the end of a path of names.
fn find_within<'w>(definition: &'w Workflow, within: &[String]) -> &'w Workflow {
    within.iter().fold(definition, |workflow, name| workflow.children.get(name).unwrap_or(workflow))
}

fn find_read_above(
    workflow: &Workflow,
    within: &[String],
    found: &mut BTreeMap<Vec<String>, BTreeSet<String>>,
) {
    for (name, child) in &workflow.children {
        let within: Vec<String> = within.iter().chain([name]).cloned().collect();
        find_read_above(child, &within, found);
        found.insert(within, workflow.views_read_of(child));
    }
}
