//! The path to a run within its family: from the run that a person started, through `map` nodes, to one
//! child.
//!
//! Run numbers are given out in order of start, so they differ from one play to the next. The path does not:
//! it says which visit of which node, for which item. Recordings name their files by it.

use crate::commands::run_orders::{get_run, load_facts};
use crate::core::RunId;
use crate::core::run::{Event, Run};
use crate::error::Error;
use crate::project::Project;
use serde::{Deserialize, Serialize};

/// How deep nested children are followed; a workflow that is nested deeper cannot be loaded.
const DEPTH_MAX: usize = 64;

/// One `map` node on the path to a child.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stage {
    /// The step of the run that waits.
    pub step: u64,
    /// The node.
    pub node: String,
    /// The visit of that node, from 1.
    pub visit: u32,
    /// The key of the item that the child is for.
    pub item: String,
}

impl Stage {
    /// Tells whether it is the same place, whatever the step.
    pub(crate) fn is_at(&self, other: &Stage) -> bool {
        (&self.node, self.visit, &self.item) == (&other.node, other.visit, &other.item)
    }
}

/// Tells whether two paths lead to the same place, whatever their steps.
pub(crate) fn is_same_path(one: &[Stage], other: &[Stage]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_at(other))
}

/// Finds the path to a run that has not ended; empty if it is not a child.
///
/// A run stays at the step of its children as long as one of them works.
pub(crate) async fn find_path(project: &Project, run: &Run) -> Result<Vec<Stage>, Error> {
    let mut path = Vec::new();
    let mut parent = run.parent.clone();
    for _ in 0..DEPTH_MAX {
        let Some(above) = parent else { break };
        let found = get_run(project, above.run_id).await?;
        path.insert(0, stage_of(&found, found.step, above.item));
        parent = found.parent;
    }
    Ok(path)
}

/// Finds the outermost run above a run, the one that a person started; it may be the run itself.
pub(crate) async fn find_root(project: &Project, run: &Run) -> Result<Run, Error> {
    let mut found = run.clone();
    for _ in 0..DEPTH_MAX {
        let Some(above) = &found.parent else { break };
        found = get_run(project, above.run_id).await?;
    }
    Ok(found)
}

/// Finds the children that a run has started, each with the last stage of the path to it.
pub(crate) async fn find_children(project: &Project, run: RunId) -> Result<Vec<(Stage, RunId)>, Error> {
    let mut found = Vec::new();
    let mut state: Option<Run> = None;
    for fact in load_facts(project, run).await? {
        if let (Some(run), Event::RunChildrenStarted { step, children, .. }) = (&state, &fact.event) {
            let child = |(item, id): (&String, &RunId)| (stage_of(run, *step, item.clone()), *id);
            found.extend(children.iter().map(child));
        }
        state = Run::evolve(state, &fact);
    }
    Ok(found)
}

/// Returns the stage at which a run has a child for an item.
pub(crate) fn stage_of(parent: &Run, step: u64, item: String) -> Stage {
    Stage { step, node: parent.node.to_string(), visit: parent.count_visits() + 1, item }
}
