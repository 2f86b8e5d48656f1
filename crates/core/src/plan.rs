//! The plan: which tasks there are, and which depends on which.

use crate::{Event, Fact, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Every task with what it depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    edges: BTreeMap<TaskId, BTreeSet<TaskId>>,
    /// The highest number that was ever given; that of a deleted task is not used again.
    last: Option<TaskId>,
}

impl Plan {
    /// Returns the number that the next task gets.
    pub fn next_id(&self) -> TaskId {
        self.last.map_or(TaskId::FIRST, TaskId::next)
    }

    /// Returns every task.
    pub fn ids(&self) -> impl Iterator<Item = TaskId> {
        self.edges.keys().copied()
    }

    /// Tells whether there is such a task.
    pub fn contains(&self, task: TaskId) -> bool {
        self.edges.contains_key(&task)
    }

    /// Returns the tasks that depend on this one.
    pub fn dependents(&self, task: TaskId) -> Vec<TaskId> {
        self.edges.iter().filter(|(_, on)| on.contains(&task)).map(|(id, _)| *id).collect()
    }

    /// Returns the cycle that would close if `task` depended on `on`, beginning and ending with `task`.
    pub fn find_cycle(&self, task: TaskId, on: TaskId) -> Option<Vec<TaskId>> {
        let mut came_from: BTreeMap<TaskId, TaskId> = BTreeMap::new();
        let mut frontier = vec![on];
        let mut seen = BTreeSet::from([on]);
        while let Some(current) = frontier.pop() {
            if current == task {
                return Some(trace(task, on, &came_from));
            }
            for next in self.edges.get(&current).into_iter().flatten() {
                if seen.insert(*next) {
                    came_from.insert(*next, current);
                    frontier.push(*next);
                }
            }
        }
        None
    }

    /// Folds one fact into the plan.
    pub fn evolve(mut self, fact: &Fact) -> Self {
        match &fact.event {
            Event::TaskCreated { task_id, dependencies, .. }
            | Event::TaskDependenciesSet { task_id, dependencies } => {
                self.last = self.last.max(Some(*task_id));
                self.edges.insert(*task_id, dependencies.clone());
            }
            Event::TaskDeleted { task_id } => {
                self.edges.remove(task_id);
            }
            _ => {}
        }
        self
    }
}

fn trace(task: TaskId, on: TaskId, came_from: &BTreeMap<TaskId, TaskId>) -> Vec<TaskId> {
    let mut back = vec![task];
    let mut current = task;
    while current != on {
        let Some(previous) = came_from.get(&current) else { break };
        current = *previous;
        back.push(current);
    }
    back.push(task);
    back.reverse();
    back
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> TaskId {
        TaskId::new(number).unwrap()
    }

    fn plan(edges: &[(u32, &[u32])]) -> Plan {
        let edge = |(task, on): &(u32, &[u32])| (id(*task), on.iter().map(|number| id(*number)).collect());
        let last = edges.iter().map(|(task, _)| id(*task)).max();
        Plan { edges: edges.iter().map(edge).collect(), last }
    }

    #[test]
    fn the_cycle_is_shown_from_the_task_back_to_it() {
        let plan = plan(&[(1, &[]), (2, &[1]), (3, &[2])]);
        assert_eq!(plan.find_cycle(id(1), id(3)), Some(vec![id(1), id(3), id(2), id(1)]));
        assert_eq!(plan.find_cycle(id(2), id(2)), Some(vec![id(2), id(2)]));
        assert_eq!(plan.find_cycle(id(3), id(1)), None);
    }

    #[test]
    fn numbers_go_up() {
        assert_eq!(Plan::default().next_id(), TaskId::FIRST);
        assert_eq!(plan(&[(1, &[]), (7, &[])]).next_id(), id(8));
    }
}
