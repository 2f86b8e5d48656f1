//! Says of each assignment that its agent runs without a sandbox, where there should be one.

use crate::screen::{YELLOW, clean};
use regatta_engine::core::{AnyEvent, Event};
use regatta_engine::{Entry, Program, Project, find_missing_sandbox};

/// Whether agents of a project run without a sandbox, and why.
pub(crate) struct Walls<'a> {
    project: &'a Project,
    missing: Option<String>,
}

impl<'a> Walls<'a> {
    pub(crate) async fn find(project: &'a Project) -> Self {
        Walls { project, missing: find_missing_sandbox(project).await }
    }

    /// Returns the line that belongs to an assignment.
    pub(crate) fn warn(&self, entry: &Entry) -> Option<String> {
        let why = self.missing.as_ref()?;
        let AnyEvent::Task(Event::TaskAssigned { agent_id: Some(agent), .. }) = &entry.event else {
            return None;
        };
        let program = &self.project.config().agents.get(agent)?.program;
        if matches!(program, Program::Scripted { .. }) {
            return None;
        }
        let why = clean(why);
        Some(format!(
            "{YELLOW}no sandbox{YELLOW:#}: {agent} can read and change whatever you can ({why}; `regatta doctor` helps)"
        ))
    }
}
