//! The items of a run as tasks on the board.
//!
//! An item that cannot be a task is found when the step that brings it is decided, so that the role that
//! returned it is asked again. Found later, it would leave the run between two nodes with nobody to fix it.

use super::{Inputs, Next, Run};
use crate::{Create, FieldFault, Priority, TaskId};
use regatta_flow::{BoardItem, StepFault, board_items};
use std::collections::BTreeSet;

/// Evaluates the items that a run has for the board.
pub fn find_board_items(inputs: Inputs<'_>, run: &Run) -> Result<Vec<BoardItem>, StepFault> {
    run.sheet.look(inputs.workflow, inputs.variables, inputs.now_millis, board_items)
}

/// Returns the order for the task of an item, or what no task may be like.
pub fn task_of(item: &BoardItem, dependencies: BTreeSet<TaskId>) -> Result<Create, Vec<FieldFault>> {
    let priority = match item.priority.as_deref() {
        Some("high") => Priority::High,
        Some("low") => Priority::Low,
        _ => Priority::Medium,
    };
    let criteria = item.criteria.iter().map(|text| join_lines(text)).collect();
    let create =
        Create::new(join_lines(&item.title), item.description.clone(), criteria, dependencies, priority)?;
    Ok(create.starting_from(item.branch.clone(), item.base.clone()))
}

/// Says what is wrong with items, a line each: two with one key, and on the board what keeps them from being tasks.
pub(super) fn find_item_faults(items: &[BoardItem], board: bool) -> Vec<String> {
    let mut keys = BTreeSet::new();
    let mut faults = Vec::new();
    for item in items {
        let key = &item.key;
        if !keys.insert(key) {
            faults.push(format!("two items have the key `{key}`"));
        }
        let as_task = if board { task_of(item, BTreeSet::new()).err() } else { None };
        for FieldFault { field, problem } in as_task.unwrap_or_default() {
            faults.push(format!("item `{key}`: `{field}` {problem}"));
        }
    }
    faults
}

/// Tells whether what is next is done for an item that was not there before. Without a board it holds for the first item
/// only, so that a long queue is looked through once.
pub(super) fn brings_items(run: &Run, next: &Next) -> bool {
    let item = match next {
        Next::Perform { item: Some(item), .. } => item,
        Next::Map { publishes: true, items, .. } => {
            return run.board && items.iter().any(|item| !run.tasks.contains_key(&item.key));
        }
        _ => return false,
    };
    let is_known = if run.board {
        run.tasks.contains_key(item)
    } else {
        run.visits.values().any(|items| items.keys().any(|key| !key.is_empty()))
    };
    !is_known
}

/// A task's title and criteria are one line each, whatever an agent wrote.
fn join_lines(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
