//! Where a fork leaves a run: the run as it came to a step, and what had been merged by then.
//!
//! What was merged later belongs to a future that the fork does not have, so the fork works on those items
//! again.

use crate::commands::orders::invalid;
use crate::core::run::{Event, Next, Phase, Run, Taken, find_first};
use crate::core::{Fact, FieldFault, RunId, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::worktree::git_names::from_git;
use regatta_flow::{Node, NodeKind, Workflow};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where a fork leaves a run.
pub(crate) struct ForkPoint {
    /// The run as it stood then.
    pub(crate) run: Run,
    /// Its items that were merged by then.
    pub(crate) merged: BTreeMap<String, TaskId>,
}

impl ForkPoint {
    /// Finds what the fork keeps of each item, as far as the repository still has it.
    pub(crate) async fn find_taken(&self, project: &Project) -> Result<Taken, Error> {
        let mut taken = Taken { merged: self.merged.clone(), ..Taken::default() };
        let known: BTreeSet<&String> = self.run.tasks.keys().chain(self.run.heads.keys()).collect();
        let is_open = |item: &&String| !self.merged.contains_key(*item) && self.run.has_begun(item);
        for item in known.into_iter().filter(is_open) {
            let head = match self.run.heads.get(item) {
                Some(head) => project.repository().resolve_commit(head.as_str()).await?,
                None => None,
            };
            match head {
                Some(head) => drop(taken.heads.insert(item.clone(), from_git(&head))),
                None => taken.restarted.push(item.clone()),
            }
        }
        Ok(taken)
    }

    /// Makes the fork play another definition, if that can continue from here.
    pub(crate) fn turn_to(&mut self, definition: Arc<Workflow>) -> Result<Arc<Workflow>, Error> {
        let Run { node, level, within, .. } = &self.run;
        let found = definition.find_node(node.as_str());
        let problem = if !within.is_empty() {
            Some("a child is forked as it is".to_owned())
        } else if found.is_none() {
            Some(format!("the workflow has no node `{node}` to start with"))
        } else if let Some(misfit) = found.and_then(|found| find_misfit(&find_first(&self.run), found)) {
            Some(misfit)
        } else if !definition.levels.contains_key(level) {
            Some(format!("the workflow has no level {level}"))
        } else {
            let faults = definition.schema.check_whole(&self.run.sheet.state()).err();
            faults
                .and_then(|faults| faults.first().map(|fault| format!("the state does not fit it: {fault}")))
        };
        match problem {
            Some(problem) => Err(invalid(vec![FieldFault { field: "with", problem }])),
            None => {
                let is_wanted = self.run.wants_board();
                self.run.board = is_wanted && definition.board.is_some();
                self.run.board_below = is_wanted && !self.run.board;
                self.run.digest = definition.digest();
                self.run.workflow = definition.name.clone();
                Ok(definition)
            }
        }
    }
}

/// Finds why a node cannot continue with the work of the run at this step, which the node of another
/// definition determined.
fn find_misfit(first: &Next, node: &Node) -> Option<String> {
    let (name, kind) = (&node.name, &node.kind);
    let came = match (first, kind) {
        (Next::Perform { .. }, NodeKind::Agent { .. } | NodeKind::Check { .. } | NodeKind::Pass)
        | (Next::Ask { .. }, NodeKind::Approval { .. }) => return None,
        (Next::Map { workflow, .. }, NodeKind::Map { workflow: now, .. }) if *workflow == now.name => {
            return None;
        }
        (Next::Map { workflow, .. }, NodeKind::Map { workflow: now, .. }) => {
            return Some(format!(
                "the node `{name}` plays `{}`, and the run came to play `{workflow}`",
                now.name
            ));
        }
        (Next::Parallel { members, .. }, NodeKind::Parallel { nodes }) => {
            let is_same = members.iter().map(|member| &member.node).eq(nodes.iter().map(|node| &node.name));
            if is_same {
                return None;
            }
            return Some(format!("the node `{name}` performs other nodes than when the run came there"));
        }
        (Next::Parallel { .. }, _) => "to have several nodes performed",
        (Next::Perform { .. } | Next::Pass { .. }, _) => "to have a node performed",
        (Next::Ask { .. }, _) => "to a question",
        (Next::Map { .. }, _) => "to start children",
        (Next::Land { .. } | Next::End { .. }, _) => "to an end",
    };
    Some(format!("the node `{name}` is of kind `{}`, and the run came {came} there", kind.word()))
}

/// Finds where a run came to a step; by default, where it last was before it ended.
pub(crate) fn find_fork_point(
    facts: &[Fact<Event>],
    id: RunId,
    step: Option<u64>,
) -> Result<ForkPoint, Error> {
    let step = match step {
        Some(step) => step,
        None => last_step(facts),
    };
    let mut run: Option<Run> = None;
    let mut landed: BTreeSet<TaskId> = BTreeSet::new();
    for fact in facts {
        match &fact.event {
            Event::RunCreated { plan, .. } => landed.extend(plan.tasks.values()),
            Event::RunLanded { task_id, .. } => {
                landed.insert(*task_id);
            }
            _ => {}
        }
        run = Run::evolve(run, fact);
        if let Some(found) = run.as_ref().filter(|run| run.step == step && is_open(run)) {
            let is_merged = |(_, task): &(&String, &TaskId)| landed.contains(task);
            let merged =
                found.tasks.iter().filter(is_merged).map(|(key, task)| (key.clone(), *task)).collect();
            return Ok(ForkPoint { run: found.clone(), merged });
        }
    }
    let steps = match (first_step(facts), last_step(facts)) {
        (first, last) if first == last => format!("step {first} alone"),
        (first, last) => format!("steps {first} to {last}"),
    };
    let problem = format!("run {id} has {steps}, and no step {step}");
    Err(invalid(vec![FieldFault { field: "at", problem }]))
}

/// Returns the first step of a run; a fork starts with the step at which it was forked.
fn first_step(facts: &[Fact<Event>]) -> u64 {
    let begun = facts.iter().find_map(|fact| match &fact.event {
        Event::RunCreated { plan, .. } => Some(plan.step),
        _ => None,
    });
    begun.unwrap_or(1)
}

/// Returns the last step in which something was done or is due.
fn last_step(facts: &[Fact<Event>]) -> u64 {
    let mut run: Option<Run> = None;
    let mut last = first_step(facts);
    for fact in facts {
        run = Run::evolve(run, fact);
        last = run.as_ref().filter(|run| is_open(run)).map_or(last, |run| run.step);
    }
    last
}

fn is_open(run: &Run) -> bool {
    run.phase().is_some_and(|phase| *phase != Phase::Ending)
}
