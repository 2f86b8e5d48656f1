//! Whom an endpoint speaks for: one session of one agent, for a task, for a step of a run, or for both.

use crate::commands::orders::Caller;
use crate::core::message::{Address, Party};
use crate::core::{Actor, AgentId, RunId, TaskId};

/// The session behind an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    /// The agent.
    pub(crate) agent: AgentId,
    /// The number of its session.
    pub(crate) session: u32,
    /// The task, if it is for one.
    pub(crate) task: Option<TaskId>,
    /// The run, if it is a step of one.
    pub(crate) run: Option<OfRun>,
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfRun {
    /// The run.
    pub(crate) id: RunId,
    /// The step.
    pub(crate) step: u64,
    /// The same, with the member of a `parallel` node if it is one.
    pub(crate) step_name: String,
    /// The role that is played.
    pub(crate) role: String,
    /// Whose output schema its result must satisfy.
    pub(crate) prompt: String,
    /// The item that the node works on.
    pub(crate) item: Option<String>,
    /// Names the definition that the run plays.
    pub(crate) digest: String,
    /// The child within that definition.
    pub(crate) within: Vec<String>,
}

impl Subject {
    /// Returns who gives the commands.
    pub(crate) fn caller(&self) -> Caller {
        Caller::new(Actor::Agent(self.agent.clone()))
    }

    /// Returns the sender of its messages: the role that it plays, or the agent itself.
    pub(crate) fn sender(&self) -> Party {
        self.run
            .as_ref()
            .map_or_else(|| Party::Agent(self.agent.clone()), |run| Party::Role(run.role.clone()))
    }

    /// Returns whose messages it reads.
    pub(crate) fn readers(&self) -> Vec<Address> {
        let role = self.run.as_ref().map(|run| Party::Role(run.role.clone()));
        let in_run = self.run.as_ref().zip(role.clone());
        let in_run = in_run.map(|(run, party)| Address { party, run: Some(run.id) });
        let task = self.task.map(Party::Task);
        let parties = [Some(Party::Agent(self.agent.clone())), role, task].into_iter().flatten();
        parties.map(Address::from).chain(in_run).collect()
    }
}
