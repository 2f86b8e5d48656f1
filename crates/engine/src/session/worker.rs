//! Who works in a worktree: enough to end its processes, and to report on it after its engine was killed.

use crate::commands::orders::{self, Order};
use crate::commands::round::Envelope;
use crate::core::run::Command as RunCommand;
use crate::core::{Actor, AgentId, Command, Refused, RunId, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::runs::driver;
use crate::session::endpoint::Subject;
use crate::session::leftovers;
use regatta_agents::{Limits, StillAlive};
use serde::{Deserialize, Serialize};

/// A session of an agent, or the checks of its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Worker {
    /// The agent; nothing if a person's work is checked.
    pub(crate) agent_id: Option<AgentId>,
    /// The number of its session.
    pub(crate) session: u32,
    /// The task, if it is for one.
    pub(crate) task_id: Option<TaskId>,
    /// The run and its step, if it is for one.
    pub(crate) step: Option<(RunId, u64)>,
    /// The step with the member of a `parallel` node, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step_name: Option<String>,
}

impl Worker {
    /// Returns the worker that an endpoint speaks for.
    pub(crate) fn of(subject: &Subject) -> Worker {
        Worker {
            agent_id: Some(subject.agent.clone()),
            session: subject.session,
            task_id: subject.task,
            step: subject.run.as_ref().map(|run| (run.id, run.step)),
            step_name: subject.run.as_ref().map(|run| run.step_name.clone()),
        }
    }

    /// Records in the log that something was refused to it; tells whether there is a place for that.
    pub(crate) async fn note_refused(&self, project: &Project, what: String) -> Result<bool, Error> {
        let Some(agent) = self.agent_id.clone() else { return Ok(false) };
        let actor = Actor::Agent(agent.clone());
        match (self.task_id, self.step) {
            (Some(task), _) => {
                let refused = Refused { agent, session: self.session, what };
                let order = Order::new(Some(task), &actor);
                orders::give(project, order, Command::NoteRefused(refused)).await?;
            }
            (None, Some((run, step))) => {
                let command = RunCommand::AgentRefused { step, agent, what };
                driver::tell(project, &Envelope::by(&actor), run, command).await?;
            }
            (None, None) => return Ok(false),
        }
        Ok(true)
    }

    /// Ends the processes that a killed engine left of it.
    pub(crate) async fn end_processes(&self, project: &Project) -> Result<(), StillAlive> {
        let marks = match (self.task_id, self.step) {
            (Some(task), _) => vec![project.session_mark(task, self.session), project.check_mark(task)],
            (None, Some((run, step))) => {
                let step = self.step_name.clone().unwrap_or_else(|| step.to_string());
                vec![project.run_mark(run, &step)]
            }
            (None, None) => Vec::new(),
        };
        for mark in marks {
            leftovers::end(&mark, Limits::default().grace).await?;
        }
        Ok(())
    }
}
