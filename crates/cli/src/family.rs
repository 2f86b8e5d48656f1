//! What belongs to a run that somebody watches: its children, its tasks, and what each of them is at.
//!
//! Fed with events in their order, it tells which of them are to be shown, and which item a step was about: that is in
//! the event before it.

use regatta_engine::core::run::{Event, Next, Run};
use regatta_engine::core::{AnyEvent, Problem, RunId, TaskId};
use regatta_engine::{Entry, Project, runs};
use std::collections::{BTreeMap, BTreeSet};

/// A run with all that works for it.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    head: RunId,
    is_over: bool,
    items: BTreeMap<RunId, Option<String>>,
    tasks: BTreeSet<TaskId>,
}

/// How an event is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// What the step of the event was about.
    pub(crate) item: Option<String>,
}

impl Family {
    /// Starts with a run as it stands, and with what is under way below it.
    pub(crate) async fn of(project: &Project, run: &Run) -> Result<Self, Problem> {
        let mut family =
            Family { head: run.id, is_over: false, items: BTreeMap::new(), tasks: BTreeSet::new() };
        let mut below = family.join(run);
        while let Some(next) = below.pop() {
            let child = runs::get_run(project, next).await?;
            below.extend(family.join(&child));
        }
        Ok(family)
    }

    /// Takes a run in as it stands, and returns its children.
    fn join(&mut self, run: &Run) -> Vec<RunId> {
        self.items.insert(run.id, run.item.clone());
        self.tasks.extend(run.tasks.values());
        run.children_under_way()
    }

    /// Takes an event in, and says how to show it if it is of the family. The end of the run is the last that is shown:
    /// what it leaves behind is cleared away sooner or later.
    pub(crate) fn take_in(&mut self, entry: &Entry) -> Option<Shown> {
        if self.is_over {
            return None;
        }
        match &entry.event {
            AnyEvent::Run(event) => self.take_in_run(event),
            AnyEvent::Session(event) => {
                let run = event.subject().run_id.filter(|run| self.items.contains_key(run));
                run.map(|_| Shown { item: None })
            }
            other => other.find_task().filter(|task| self.tasks.contains(task)).map(|_| Shown { item: None }),
        }
    }

    fn take_in_run(&mut self, event: &Event) -> Option<Shown> {
        let run = event.find_run()?;
        if let Event::RunCreated { plan, .. } = event {
            let is_child = plan.parent.as_ref().is_some_and(|parent| self.items.contains_key(&parent.run_id));
            if is_child || self.items.contains_key(&run) {
                self.items.insert(run, item_of(&plan.next, None));
                self.tasks.extend(plan.tasks.values());
            }
        }
        let item = self.items.get_mut(&run)?;
        let before = item.clone();
        match event {
            Event::RunStepped { next, .. }
            | Event::RunLanded { next, .. }
            | Event::RunSentBack { next, .. } => {
                *item = item_of(next, before.clone());
            }
            Event::RunSignalled { next: Some(next), .. } => {
                *item = item_of(next, None);
                self.is_over &= run != self.head;
            }
            Event::RunPublished { tasks, .. } => self.tasks.extend(tasks.values()),
            Event::RunCompleted { .. } | Event::RunFailed { .. } => self.is_over |= run == self.head,
            _ => {}
        }
        Some(Shown { item: before })
    }
}

fn item_of(next: &Next, before: Option<String>) -> Option<String> {
    match next {
        Next::Perform { item, .. } => item.clone(),
        Next::Land { item, .. } => Some(item.clone()),
        // A question is about what the node before it worked on.
        Next::Ask { .. } | Next::Pass { .. } => before,
        Next::Parallel { .. } | Next::Map { .. } | Next::End { .. } => None,
    }
}
